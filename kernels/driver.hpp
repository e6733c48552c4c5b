/// The CUDA driver, found when the program runs: nothing links against it, so one program runs with and without a GPU.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kernels/driver_abi.hpp"

namespace collmark {

class Driver {
 public:
  /// Opens libcuda.so.1, or what the environment variable COLLMARK_CUDA_DRIVER names, and initialises it.
  ///   Throws   Error{absent}, one line: no driver, no device, a driver that lacks a function or is broken.
  Driver();
  /// From a path.  Throws likewise.
  explicit Driver(const std::string& path);

  const cu::Functions* operator->() const { return &functions_; }

  /// Of CUDA, as 13010 for 13.1: the newest that it supports.
  [[nodiscard]] int version() const { return version_; }
  [[nodiscard]] int devices() const { return devices_; }

  /// "invalid argument (CUDA_ERROR_INVALID_VALUE)", with what to do about it where that is known.
  [[nodiscard]] std::string words(cu::Status status) const;

  /// Does nothing if `status` is success. `doing` completes "collmark: ", as "GPU 0: allocating 1 GiB".
  ///   Throws   Unsupported      the case is too large for the device: out of memory, too many blocks; or it does not do
  ///                             such a thing: no graph of it
  ///            Error{absent}    nothing can run here: no device, no code for it
  ///            Error{lost}      the device is gone, or what ran there crashed: nothing more can be done with it
  ///            Error{broken}    the call made no sense: a bug of ours
  void check(cu::Status status, std::string_view doing) const;

 private:
  struct Library {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Library> library_;
  cu::Functions functions_;
  int version_ = 0;
  int devices_ = 0;
};

/// "13.1" of 13010.
[[nodiscard]] std::string cuda_version(int number);

}  // namespace collmark
