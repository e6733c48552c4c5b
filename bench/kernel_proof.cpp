#include "bench/kernel_proof.hpp"

#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "bench/element.hpp"
#include "bench/hard_values.hpp"
#include "bench/leave_behind.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/index.hpp"
#include "collectives/partition.hpp"
#include "collectives/promise.hpp"
#include "kernels/gpu_clock.hpp"
#include "kernels/launch.hpp"

namespace collmark {
namespace {

constexpr int kOperations = 2;

/// What may be under way on the devices.
class Run {
 public:
  Run(Gpus& gpus, const ProofCase& c, HardInputs& inputs, std::chrono::milliseconds timeout)
      : case_(c), patience_{.timeout = timeout}, collective_(gpus, c.task, c.tuning) {
    collective_.set_longest_wait(patience_.longest_wait());
    std::vector<GpuStream*> streams;
    for (int d = 0; d < collective_.devices(); ++d) streams.push_back(&collective_.stream(d));
    clock_ = std::make_unique<GpuClock>(streams, patience_.longer());
    for (int i = 0; i < kOperations; ++i) {
      inputs_.push_back(inputs.of(c.task.ranks, c.task.payload, i));
      outputs_.emplace_back(at(c.task.ranks), ByteBuffer(size()));
    }
  }

  [[nodiscard]] const GpuCollective& collective() const { return collective_; }

  void run() {
    const Bytes all{static_cast<std::int64_t>(size())};
    clock_->finish();  // what ranks share is zero everywhere before a peer writes there
    for (int i = 0; i < kOperations; ++i) {
      for (int r = 0; r < case_.task.ranks && all.value > 0; ++r)
        stream(r).copy_to_device(collective_.input(r), (*inputs_[at(i)])[at(r)].data(), all);
      collective_.run();
      clock_->finish();  // copies into pageable memory would wait for it without patience
      for (int r = 0; r < case_.task.ranks && all.value > 0; ++r)
        stream(r).copy_to_host(outputs_[at(i)][at(r)].data(), collective_.output(r), all);
    }
    settle(collective_, *clock_);
  }

  [[nodiscard]] std::string difference() const {
    const Schedule& s = collective_.shape();
    for (int i = 0; i < kOperations && s.collective != Collective::barrier; ++i) {
      const auto expected = reference(s, case_.task.payload, *inputs_[at(i)]);
      for (int r = 0; r < s.ranks; ++r)
        if (const std::int64_t e = first_difference(r, outputs_[at(i)][at(r)], expected[at(r)]);
            e >= 0)
          return fmt::format("operation {}, rank {}, element {}: {}, the reference has {}", i, r, e,
                             text(outputs_[at(i)][at(r)], e), text(expected[at(r)], e));
    }
    return "";
  }

 private:
  [[nodiscard]] std::size_t element() const { return size_of(case_.task.payload.dtype); }
  [[nodiscard]] std::size_t size() const { return at(case_.task.payload.count.value) * element(); }
  [[nodiscard]] GpuStream& stream(int rank) const {
    return collective_.stream(collective_.device_of(rank));
  }

  /// Of what the rank is owed, an element; negative if there is none.
  [[nodiscard]] std::int64_t first_difference(int rank, const ByteBuffer& got,
                                              const ByteBuffer& expected) const {
    const Schedule& s = collective_.shape();
    const Partition part(s, case_.task.payload.count);
    for (int c = 0; c < s.chunks; ++c) {
      if (owed_after(s, rank, c).what == Owed::What::nothing) continue;
      const auto [offset, count] = part.chunk(c);
      for (std::int64_t e = offset.value; e < offset.value + count.value; ++e)
        if (std::memcmp(&got[at(e) * element()], &expected[at(e) * element()], element()) != 0)
          return e;
    }
    return -1;
  }
  /// "0x3f800000 (1)"
  [[nodiscard]] std::string text(const ByteBuffer& buffer, std::int64_t e) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &buffer[at(e) * element()], element());
    return fmt::format("0x{:0{}x} ({})", bits, 2 * element(),
                       load(&buffer[at(e) * element()], case_.task.payload.dtype));
  }

  ProofCase case_;
  HostPatience patience_;
  std::vector<std::shared_ptr<const std::vector<ByteBuffer>>> inputs_;  // [operation] -> [rank]
  std::vector<std::vector<ByteBuffer>> outputs_;                        // [operation][rank]
  GpuCollective collective_;  // goes before them: giving back its memory waits for its copies
  std::unique_ptr<GpuClock> clock_;
};

}  // namespace

std::shared_ptr<const std::vector<ByteBuffer>> HardInputs::of(int ranks, const Payload& payload,
                                                              int operation) {
  if (ranks != ranks_) kept_.clear();
  ranks_ = ranks;
  auto& kept = kept_[{payload.dtype, payload.count.value, operation}];
  if (!kept)
    kept = std::make_shared<const std::vector<ByteBuffer>>(
        hard_inputs(ranks, payload, at(operation) + 1));
  return kept;
}

ProofResult prove(Gpus& gpus, const ProofCase& c, HardInputs& inputs,
                  std::chrono::milliseconds timeout) {
  auto one = std::make_unique<Run>(gpus, c, inputs, timeout);
  try {
    one->run();
  } catch (...) {
    leave_behind(std::move(one));
    throw;
  }
  return {one->collective().job().symbol(), one->collective().tuning(), one->difference()};
}

}  // namespace collmark
