/// What the stub driver is told to do wrong, by the environment:
///
///   COLLMARK_STUB_DEVICES=N          devices that there are; 1 if it is not set
///   COLLMARK_STUB_VISIBLE=I,...      those of them that this process sees, in this order, as CUDA_VISIBLE_DEVICES says
///                                    it to a real driver; all if it is not set
///   COLLMARK_STUB_STEP_NS=T          device d, from 0, plays that it works: by its clock a launch takes (d + 1) T, a copy
///                                    half as long, and nothing else any time; if it is not set, the clock is the host's
///   COLLMARK_STUB_SHAPE=MxB          a device has M multiprocessors, each holds B blocks of 32 threads at once, and of
///                                    fewer threads as many as make no more threads; if it is not set, 4 that hold 8
///                                    blocks. A block has 32 threads at most, which stand for the 512 of a kernel: 132x1
///                                    is an H200 whose kernels leave registers for no second block
///   COLLMARK_STUB_FAULT=NAME[@K],... each every time, or only the K-th time (from 1) that it could happen
///
///     no_device         none is found
///     old_driver        it is one for CUDA 11.4
///     no_code           the kernels are for other GPUs
///     device_in_use     another process holds a device alone
///     out_of_memory     an allocation fails
///     no_peer_access    devices do not reach each other's memory
///     no_ipc            memory cannot be exported to other processes
///     ipc_refused       what another process has exported cannot be opened
///     small_device      one multiprocessor that holds one block
///     launch_error      a launch is refused
///     blocking_launch   a launch returns when it is done, as with CUDA_LAUNCH_BLOCKING
///     crash             a kernel reads memory that it does not own; nothing works after that
///     other_order       whoever reads all inputs in one pass (direct_all_reduce) adds them from the last rank to the first
///     hang              a launch never ends
///     no_capture        a launch is refused because its stream is captured
///     no_graph          a graph cannot be made
///     no_graph_launch   one that was made cannot be launched
///     blocking_graph    the launch of a graph returns when it is done
///     slow              by a clock that is played, a launch takes a thousand times as long
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace collmark::stub {

class Faults {
 public:
  /// What the environment says now, in this variable.
  explicit Faults(const char* variable = "COLLMARK_STUB_FAULT");

  /// Asked each time that it could happen.
  [[nodiscard]] bool happens(const std::string& fault);

 private:
  struct Count {
    int when = 0;  // 0: always
    int asked = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Count> counts_;
};

// Small enough that every lane may be a fiber of its own.
inline constexpr int kMostThreads = 32;  // of a block

struct DeviceShape {
  int multiprocessors = 4;
  int whole_blocks = 8;         // of kMostThreads, that one holds at once
  bool counts_threads = false;  // or as many blocks however small
  [[nodiscard]] int blocks(int threads) const {
    return counts_threads ? whole_blocks * (kMostThreads / threads) : whole_blocks;
  }
};
[[nodiscard]] DeviceShape shape_from_environment();

/// 0: it is not set.
[[nodiscard]] std::chrono::nanoseconds step_from_environment();
/// The number of each visible device: the same device has the same number in every process.
[[nodiscard]] std::vector<int> devices_from_environment();

}  // namespace collmark::stub
