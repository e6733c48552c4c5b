#include "bench/kernel_flags.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

#include "bench/in_range.hpp"
#include "bench/size_grammar.hpp"
#include "bench/sweep_config.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr int kMostMisaligned = 63;
constexpr ListKind kChannels{.noun = "--channels", .least = 1, .most = 4'096};
constexpr ListKind kThreads{.noun = "--threads", .least = 1, .most = kKernelThreads};
constexpr ListKind kSlots{.noun = "--slots", .least = 2, .most = 1'024};
constexpr ListKind kSlotBytes{.noun = "--slot-bytes",
                              .least = 16,
                              .most = 256 << 20,
                              .step_wanted = "a range of sizes needs a step such as ':x2'"};

std::optional<int> as_int(std::optional<std::int64_t> value) {
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}
std::optional<Bytes> as_bytes(std::optional<std::int64_t> value) {
  return value ? std::optional(Bytes{*value}) : std::nullopt;
}

}  // namespace

std::vector<GpuTuning> KernelFlags::tunings() const {
  const auto all_channels = parse_numbers_or_auto(channels, kChannels);
  const auto all_threads = parse_numbers_or_auto(threads, kThreads);
  const auto all_slots = parse_numbers_or_auto(slots, kSlots);
  const auto all_slot_bytes = parse_numbers_or_auto(slot_bytes, kSlotBytes);
  for (const auto count : all_slots)
    if (count && !std::has_single_bit(static_cast<std::uint64_t>(*count)))
      throw Error(
          ErrorKind::usage,
          fmt::format("--slots '{}': a link has 2, 4, 8, ... slots, not {}", slots, *count));
  double combinations = 1;
  for (const std::size_t choices :
       {all_channels.size(), all_threads.size(), all_slots.size(), all_slot_bytes.size()})
    combinations *= static_cast<double>(choices);
  require_plannable(combinations);
  std::vector<GpuTuning> all;
  for (const auto blocks : all_channels)
    for (const auto of_block : all_threads)
      for (const auto of_link : all_slots)
        for (const auto of_slot : all_slot_bytes)
          all.push_back({.channels = as_int(blocks),
                         .threads = as_int(of_block),
                         .slots = as_int(of_link),
                         .slot = as_bytes(of_slot),
                         .misaligned = misaligned});
  return all;
}

void declare_kernels(CLI::App& command, KernelFlags& f) {
  command.add_option("--channels", f.channels,
                     "cuda: blocks of a rank: 8 or 4,8,16 or auto,8 (default: by size and device)");
  command.add_option("--threads", f.threads, "cuda: of a block, a list too (default: 512)");
  command.add_option("--slots", f.slots,
                     "cuda: of a link between two ranks: 2, 4, 8; a list too (default: 4)");
  command.add_option("--slot-bytes", f.slot_bytes,
                     "cuda: of a slot, 16 to 256M; a list too: 16K:128K:x2 (default: by size)");
}

void declare_misalignment(CLI::App& command, KernelFlags& f) {
  command
      .add_option("--misaligned", f.misaligned,
                  "cuda: elements by which inputs miss a multiple of 16 bytes; outputs one more")
      ->check(whole_in_range(0, kMostMisaligned));
}

}  // namespace collmark
