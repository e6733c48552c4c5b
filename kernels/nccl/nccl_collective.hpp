/// A collective of NCCL's, on buffers of ours or of somebody else.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collectives/reference.hpp"
#include "kernels/device_collective.hpp"
#include "kernels/nccl/nccl_group.hpp"

namespace collmark {

struct NcclTask {
  Collective collective = Collective::all_reduce;
  int root = 0;
  Payload payload = {};
  Placement placement = Placement::out_of_place;
};

/// Memory as cuMemAlloc gives it, or NCCL's own, made known to the communicators.
enum class NcclBuffers { plain, registered };

/// Why NCCL cannot do it on `ranks` ranks, or why nobody could check that it did; one line, empty if it can.
[[nodiscard]] std::string nccl_obstacle(const NcclTask& task, int ranks);

class NcclCollective final : public DeviceCollective {
 public:
  /// The group must outlive it.
  ///   Throws   Unsupported   nccl_obstacle(); out of memory; no registration in this NCCL
  NcclCollective(NcclGroup& group, const NcclTask& task, NcclBuffers buffers);
  /// In place, in the streams and buffers of somebody else: one of each for every rank that lives here.
  ///   Throws   Unsupported     nccl_obstacle()
  ///            Error{broken}   out of place; more or fewer streams or buffers
  NcclCollective(NcclGroup& group, const NcclTask& task, const GpuPlace& place);
  ~NcclCollective() override;

  [[nodiscard]] const Schedule& shape() const override { return shape_; }
  [[nodiscard]] RankRange ranks() const override { return group_.here(); }
  [[nodiscard]] int devices() const override { return group_.here().count; }
  [[nodiscard]] GpuStream& stream(int device) const override { return *parts_[at(device)].stream; }
  [[nodiscard]] int device_of(int rank) const override { return rank - group_.here().first; }
  [[nodiscard]] std::byte* input(int rank) const override {
    return parts_[at(device_of(rank))].input;
  }
  [[nodiscard]] std::byte* output(int rank) const override {
    return parts_[at(device_of(rank))].output;
  }
  void run() override;
  void watch() override { group_.check_errors(doing_); }

 private:
  class Buffer;
  /// Of one device, which has one rank.
  struct Part {
    std::vector<std::unique_ptr<Buffer>> memory;
    std::byte* input = nullptr;
    std::byte* output = nullptr;
    std::unique_ptr<GpuStream> own_stream;
    GpuStream* stream = nullptr;
  };
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  NcclCollective(NcclGroup& group, const NcclTask& task);  // nowhere yet
  [[nodiscard]] nccl::Result call(int device) const;
  [[nodiscard]] nccl::Result exchange(int device) const;

  NcclGroup& group_;
  NcclTask task_;
  Schedule shape_;
  std::string doing_;        // of messages
  std::size_t element_;      // [bytes]
  std::size_t each_ = 0;     // elements of a rank's chunk
  std::vector<Part> parts_;  // [device]
};

}  // namespace collmark
