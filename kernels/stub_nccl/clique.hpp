/// What the stub of NCCL has instead of NCCL: ranks that meet in their streams, and the arithmetic done by the last to come.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/nccl/nccl_abi.hpp"
#include "kernels/stub_driver/faults.hpp"

namespace collmark::stub {

/// One call of one rank.
struct Call {
  enum class What { all_reduce, reduce_scatter, all_gather, broadcast, reduce, send, receive };
  What what = What::all_reduce;
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  nccl::DataType type = nccl::DataType::u8;
  nccl::Op op = nccl::Op::sum;
  int root_or_peer = 0;
};
/// All calls of one rank in one group.
using Work = std::vector<Call>;

[[nodiscard]] std::size_t size_of(nccl::DataType type);
/// What the ranks have asked for together: works[rank].
void perform(const std::vector<const Work*>& works);

/// Ranks of one communicator. They come from any thread.
class Clique {
 public:
  explicit Clique(int ranks) : executed_(static_cast<std::size_t>(ranks)), ranks_(ranks) {}

  [[nodiscard]] int ranks() const { return ranks_; }
  void join();
  [[nodiscard]] bool complete();
  /// In the rank's stream: waits for the others, as a kernel does. Returns without them after an abort.
  void meet(int rank, const Work& work);
  /// What never ends otherwise.
  void wait_for_abort();
  void abort();

 private:
  struct Round {
    std::vector<const Work*> works;
    int arrived = 0, left = 0;
    bool done = false;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Round> rounds_;
  std::vector<std::uint64_t> executed_;  // [rank]
  int ranks_, joined_ = 0;
  bool aborted_ = false;
};

}  // namespace collmark::stub
