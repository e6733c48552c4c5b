#include "bench/kernel_flags.hpp"

#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "bench/in_range.hpp"
#include "bench/size_grammar.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr int kMostChannels = 4'096, kMostSlots = 1'024, kMostMisaligned = 63;
constexpr std::int64_t kLeastSlot = 16, kMostSlot = 256 << 20;  // [bytes]

}  // namespace

GpuTuning KernelFlags::tuning() const {
  GpuTuning asked{
      .channels = channels, .threads = threads, .slots = slots, .misaligned = misaligned};
  if (slots && !std::has_single_bit(static_cast<unsigned>(*slots)))
    throw Error(ErrorKind::usage, fmt::format("--slots {}: a link has 2, 4, 8, ... slots", *slots));
  if (slot_bytes.empty()) return asked;
  asked.slot = parse_size(slot_bytes);
  if (asked.slot->value < kLeastSlot || asked.slot->value > kMostSlot)
    throw Error(ErrorKind::usage,
                fmt::format("--slot-bytes {}: a slot has 16 B to 256 MiB", slot_bytes));
  return asked;
}

void declare_kernels(CLI::App& command, KernelFlags& f) {
  command
      .add_option("--channels", f.channels, "cuda: blocks of a rank (default: by size and device)")
      ->check(whole_in_range(1, kMostChannels));
  command.add_option("--threads", f.threads, "cuda: of a block (default: 512)")
      ->check(whole_in_range(1, kKernelThreads));
  command.add_option("--slots", f.slots, "cuda: of a link between two ranks: 2, 4, 8 (default: 4)")
      ->check(whole_in_range(2, kMostSlots));
  command.add_option("--slot-bytes", f.slot_bytes,
                     "cuda: of a slot, 16 to 256M (default: by size)");
}

void declare_misalignment(CLI::App& command, KernelFlags& f) {
  command
      .add_option("--misaligned", f.misaligned,
                  "cuda: elements by which inputs miss a multiple of 16 bytes; outputs one more")
      ->check(whole_in_range(0, kMostMisaligned));
}

void add_tuning(nlohmann::json& json, const GpuTuning& tuning) {
  if (tuning.channels) json["channels"] = *tuning.channels;
  if (tuning.threads) json["threads"] = *tuning.threads;
  if (tuning.slots) json["slots"] = *tuning.slots;
  if (tuning.slot) json["slot_bytes"] = tuning.slot->value;
  if (tuning.misaligned) json["misaligned"] = *tuning.misaligned;
}

}  // namespace collmark
