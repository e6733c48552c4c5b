/// NCCL, found when the program runs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kernels/nccl/nccl_abi.hpp"

namespace collmark {

class Nccl {
 public:
  /// Opens libnccl.so.2, or what the environment variable COLLMARK_NCCL names. It stays open until the process ends: its
  /// threads may.
  ///   Throws   Error{absent}, one line: there is none, it is too old, or it is something else.
  Nccl();
  /// From a path.  Throws likewise.
  explicit Nccl(const std::string& path);

  const nccl::Functions* operator->() const { return &functions_; }

  /// 22809 for 2.28.9.
  [[nodiscard]] int version() const { return version_; }
  /// "NCCL 2.28.9"; of a library that is none, what it says it is.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Can it register buffers?
  [[nodiscard]] bool registers() const;

  /// Does nothing if `result` is success. `comm` may be null; `doing` completes "NCCL, ", as "making a communicator".
  ///   Throws   Error{lost} with NCCL's own words, one line: what went wrong may have left anything behind.
  void check(nccl::Result result, nccl::Comm comm, std::string_view doing) const;

 private:
  nccl::Functions functions_;
  int version_ = 0;
  std::string name_;
};

/// Why two ranks are not put on one GPU: "NCCL 2.28.9 refuses two ranks on one GPU".
[[nodiscard]] std::string one_rank_per_gpu(const Nccl& nccl);

/// "2.28.9" of 22809.
[[nodiscard]] std::string nccl_version(int number);

}  // namespace collmark
