#include "bench/page_report.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "bench/read_file.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr std::size_t kHuge = std::size_t{2} << 20;  // [bytes]
// Of memory of our own, and of a shared window in a tmpfs.
constexpr std::array<std::string_view, 2> kHugeKeys{"AnonHugePages:", "ShmemPmdMapped:"};

/// Addresses [begin, end).
struct Extent {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] bool meets(std::span<const std::byte> buffer) const {
    const auto at = reinterpret_cast<std::uintptr_t>(buffer.data());
    return !buffer.empty() && at < end && begin < at + buffer.size();
  }
};

/// The extent of a mapping from the line that it begins with, "7f0000000000-7f0000200000 rw-p ...".
std::optional<Extent> mapping_in(std::string_view line) {
  Extent e;
  const char* const end = line.data() + line.size();
  const auto [dash, no_begin] = std::from_chars(line.data(), end, e.begin, 16);
  if (no_begin != std::errc{} || dash == end || *dash != '-') return std::nullopt;
  const auto [space, no_end] = std::from_chars(dash + 1, end, e.end, 16);
  if (no_end != std::errc{} || space == end || *space != ' ') return std::nullopt;
  return e;
}

/// "AnonHugePages:      2048 kB" in bytes.
std::optional<std::size_t> huge_in(std::string_view line) {
  if (std::none_of(kHugeKeys.begin(), kHugeKeys.end(),
                   [line](std::string_view key) { return line.starts_with(key); }))
    return std::nullopt;
  line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
  std::size_t kib = 0;
  if (std::from_chars(line.data(), line.data() + line.size(), kib).ec != std::errc{})
    return std::nullopt;
  return kib * 1024;
}

/// Bytes on huge pages in all mappings that some buffer lies in; empty if none is told of.
std::optional<std::size_t> huge_bytes(const Buffers& buffers, std::string_view smaps) {
  std::optional<std::size_t> sum;
  bool ours = false;
  while (!smaps.empty()) {
    const std::string_view line = smaps.substr(0, smaps.find('\n'));
    smaps.remove_prefix(std::min(line.size() + 1, smaps.size()));
    if (const auto mapping = mapping_in(line))
      ours = std::any_of(buffers.begin(), buffers.end(),
                         [&](std::span<const std::byte> b) { return mapping->meets(b); });
    if (const auto huge = huge_in(line); huge && ours) sum = sum.value_or(0) + *huge;
  }
  return sum;
}

}  // namespace

std::string pages_under(const Buffers& buffers) {
  try {
    return pages_under(buffers, read_file("/proc/self/smaps"));
  } catch (const Error&) {
    return "";
  }
}

std::string pages_under(const Buffers& buffers, std::string_view smaps) {
  std::size_t room = 0;
  for (const std::span<const std::byte> b : buffers) room += b.size() / kHuge * kHuge;
  const std::optional<std::size_t> got = huge_bytes(buffers, smaps);
  if (!got) return "";
  if (*got == 0) return "small";
  return *got >= room ? "huge" : "mixed";
}

}  // namespace collmark
