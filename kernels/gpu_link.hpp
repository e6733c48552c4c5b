/// What lies between two GPUs, or between two blocks of one: how long 8 bytes take, how fast one reads what the other has.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "kernels/data.hpp"
#include "kernels/gpu_clock.hpp"
#include "kernels/gpu_packing.hpp"
#include "kernels/hop.hpp"

namespace collmark {

/// Measures one way, `from` to `to`, which reach each other's memory or are one device. All times are by the devices' own
/// clocks, and everything that arrives is compared with what was sent.
///   Throws   Error{timed_out} with who waited for whom, Error{wrong_result} with what came wrong, else as
///            GpuClock::finish
class GpuLink {
 public:
  struct Options {
    Bytes size{1 << 20};  // that is copied, at least 1
    HostPatience patience = {};
    bool spoils = false;  // for tests: a byte of every copy becomes wrong
  };
  /// Queues the first of its work; nobody waits before something is measured. Whoever has to give up then leaves it
  /// behind, or the end of a link would wait for what never ends.
  ///   Throws   Unsupported if memory runs out
  GpuLink(Gpu& from, Gpu& to, const Options& options);

  /// One way, half of a round trip: data and then their flag; data that carry their flags in a line, or in a word.
  [[nodiscard]] Seconds flag() { return hop("flag_hops", 0); }
  [[nodiscard]] Seconds low_latency() { return hop("low_latency_hops", 1); }
  [[nodiscard]] Seconds word() { return hop("word_hops", 2); }
  /// Of one copy: a kernel of `to` reads the memory of `from`; what the driver takes, a copy engine.
  [[nodiscard]] Seconds copy_by_kernel();
  [[nodiscard]] Seconds copy_by_engine();
  /// Of one of many empty kernels in a stream of `to`, all of them queued before the first begins.
  [[nodiscard]] Seconds launch();

  /// Kernels copy over several links at once, none of which has a device of another. Of one copy, for each link. The
  /// clock is the first link's.
  [[nodiscard]] static std::vector<Seconds> copy_together(const std::vector<GpuLink*>& links);

 private:
  /// What the launches of a device say.
  struct Told {
    std::uint32_t given_up = 0;
    std::uint32_t wrong[2] = {0, 0};  // [end]
    Stuck stuck[2] = {};              // [block]
  };
  [[nodiscard]] std::string words() const;
  void make_ready();
  [[nodiscard]] Seconds hop(const std::string& kernel, std::size_t way);
  [[nodiscard]] Seconds round_trips(const std::string& kernel, std::size_t way, int trips);
  void require_arrival();
  void clear_copy();
  void require_copied(const std::string& how);
  template <class Queue>
  [[nodiscard]] Seconds time_of_one(Queue queue);

  Gpu& from_;
  Gpu& to_;
  Options options_;
  // The host's ends of copies come first: they go last, when giving back the devices' memory has waited for the streams.
  std::vector<std::byte> pattern_;
  std::array<Told, 2> host_told_;
  std::vector<WrongCount> found_;
  GpuStream from_stream_, to_stream_;
  GpuMemory boxes_[2], told_[2];     // [end], each on its own device
  GpuMemory from_pattern_, source_;  // on `from`
  GpuMemory to_pattern_, copy_, verdicts_;
  std::array<std::uint32_t, 3> trips_{};  // so far, [way]
  GpuPacking reading_;
  GpuClock both_, reader_;
  std::unique_ptr<GpuClock> together_;  // with other links
  bool ready_ = false;
};

}  // namespace collmark
