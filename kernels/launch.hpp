/// The ranks of a collective on the GPUs of this process: one launch per device, which holds the ranks that live there.
///
///   in one process       all ranks, shared out over its GPUs
///   one process per GPU  one rank; the others' memory is reached through CUDA IPC
///
///   2 GPUs, 5 ranks      GPU 0   ranks 0 1 2        one cooperative launch of 3 x channels blocks
///                        GPU 1   ranks 3 4          one of 2 x channels
///
/// Blocks of all launches wait for each other, so all must be on the devices at once: a grid that does not fit is
/// refused.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device_collective.hpp"
#include "kernels/gpu.hpp"
#include "kernels/gpu_peers.hpp"
#include "kernels/gpu_tuning.hpp"
#include "kernels/ipc_memory.hpp"
#include "kernels/kernel_job.hpp"
#include "kernels/moved_part.hpp"

namespace collmark {

/// Which device a rank lives on: the first ranks on the first, on each as many as must be.
struct RankSpread {
  int ranks = 1, gpus = 1;
  [[nodiscard]] int each() const { return (ranks + gpus - 1) / gpus; }  // the last may have fewer
  [[nodiscard]] int devices() const { return (ranks + each() - 1) / each(); }
  [[nodiscard]] int device_of(int rank) const { return rank / each(); }
};

/// For GpuPlace::given_up: that nobody has written yet, once the stream is done. Once a launch on the device has given up, so do
/// all others that have this word, each at its first flag that does not come at once: in a row of them a rank that is missing is
/// waited for once.
[[nodiscard]] GpuMemory word_of_giving_up(GpuStream& stream);

class GpuCollective final : public DeviceCollective {
 public:
  /// What the ranks share is zeroed in the streams: all of these must have come to an end before the first run(), or a peer's
  /// first flag may be wiped out.
  ///   Throws   Unsupported     no such kernel; too many ranks or channels; out of memory; devices that do not reach
  ///                            each other
  ///            Error{usage}    tuning that makes no sense
  ///            Error{broken}   buffers of others for a collective out of place
  GpuCollective(Gpus& gpus, const KernelTask& task, const GpuTuning& asked, GpuPlace place = {});
  /// This process holds one of the peers' ranks, on the first of `gpus`. Called by all of them, as is the destructor,
  /// once no kernel is under way.
  ///   Throws   at all peers: Unsupported as above, or if two of them are on one GPU; Error{usage}
  GpuCollective(Gpus& gpus, GpuPeers& peers, const KernelTask& task, const GpuTuning& asked);

  [[nodiscard]] const KernelJob& job() const { return *job_; }
  /// "channels=8 threads=512 slots=4 slot_bytes=131072 protocol=simple"
  [[nodiscard]] std::string tuning() const;

  [[nodiscard]] const Schedule& shape() const override { return job_->schedule(); }
  [[nodiscard]] RankRange ranks() const override { return here_; }
  [[nodiscard]] int devices() const override { return static_cast<int>(parts_.size()); }
  [[nodiscard]] GpuStream& stream(int device) const override { return *parts_[at(device)]->stream; }
  [[nodiscard]] int device_of(int rank) const override {
    return spread_.device_of(rank - here_.first);
  }
  [[nodiscard]] std::byte* input(int rank) const override { return reach_.inputs[at(rank)]; }
  [[nodiscard]] std::byte* output(int rank) const override { return reach_.outputs[at(rank)]; }

  /// After so long ranks give up waiting for a flag.
  void set_longest_wait(std::chrono::nanoseconds longest);
  /// For tests: this rank, the first or the last, never takes part.
  void leave_out(int rank);

  // These queue work; whoever owns the streams waits for it.

  /// The first time, everything queued before has come to its end at all peers.
  void run() override;
  /// The same, and counts what ranks give each other. Nothing else may be under way.
  /// False, and nothing is queued, if the driver does not let kernels be told to count.
  [[nodiscard]] bool run_counted();
  /// What the busiest rank sent or received in run_counted(), the larger of both, once the streams are done. Called by
  /// all peers.
  [[nodiscard]] Bytes busiest() const;
  /// What all ranks together sent in it.
  [[nodiscard]] Bytes sent() const;
  void queue_report() override;
  [[nodiscard]] bool gave_up() const override;
  void queue_complaint() override;
  [[nodiscard]] std::string complaint() const override;

 private:
  /// Of one device.
  struct Part {
    KernelJob::Ranks ranks;
    Job job;
    TransferCounts count_there{nullptr, 0};
    // The host's ends of copies come first: they go last, when giving back the device's memory has waited for the stream.
    std::vector<std::byte> host_tables;
    std::unique_ptr<PinnedMemory> counts;  // [src x ranks + dst], elements; a copy ...
    [[nodiscard]] const unsigned long long* transfers() const {
      return reinterpret_cast<const unsigned long long*>(counts->data());
    }
    std::unique_ptr<PinnedMemory> report;  // of given_up
    std::unique_ptr<GpuStream> own_stream;
    GpuStream* stream = nullptr;
    GpuMemory tables, own_given_up, stuck;
    std::byte* given_up = nullptr;
    GpuMemory counted;  // ... of this
  };
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  void place_ranks();
  void place_own_rank();
  void add_part(KernelJob::Ranks ranks, Gpu& gpu);
  void tune(const GpuTuning& asked);
  [[nodiscard]] int smallest(int mine) const;
  [[nodiscard]] int resident_blocks() const;
  void allocate(Bytes buffer);
  void allocate_own();
  void lay_out(Part& part);
  void begin_to_count(Part& part);
  [[nodiscard]] Grid grid(const Part& part) const;

  Gpus& gpus_;
  GpuPeers* peers_ = nullptr;  // null: all ranks are in this process
  KernelTask task_;
  RankRange here_;
  Tuning tuning_;
  int threads_ = 0;
  int misaligned_ = 0;  // elements
  RankSpread spread_;
  GpuPlace place_;
  std::string symbol_;
  std::unique_ptr<KernelJob> job_;
  std::vector<GpuMemory> memory_;
  std::unique_ptr<IpcMemory> shared_;
  Reach reach_;
  std::vector<Stuck> stuck_;  // [block of all launches]: what it waited for, as copied
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace collmark
