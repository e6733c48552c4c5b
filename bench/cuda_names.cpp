#include "bench/cuda_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/table.hpp"
#include "bench/variant.hpp"
#include "collectives/catalogue.hpp"
#include "kernels/launch.hpp"

namespace collmark {
namespace {

constexpr std::string_view kStub =
    "collmark stub";  // what the name of a device that is none begins with

}  // namespace

std::string implementation(const Gpu& gpu) {
  return gpu.facts().name.starts_with(kStub) ? gpu.facts().name : "collmark";
}

KernelName kernel_name(const std::string& asked) {
  const auto [algorithm, variant, launching] = split_variant(asked);
  switch (variant) {
    case Variant::plain:
      return {algorithm, Way::standard};
    case Variant::interpreted:
      return {algorithm, Way::interpreted};
    case Variant::links:
      return {algorithm, Way::links};
    case Variant::low_latency:
      return {algorithm, Way::low_latency};
    case Variant::simple:
      return {algorithm, Way::simple};
    case Variant::window:
      break;
  }
  throw Unsupported("GPUs reach each other's memory: a window is for processes, --backend mpi");
}

std::string describe(const Gpu& gpu) {
  const GpuFacts& f = gpu.facts();
  return fmt::format("{} ({}, {}, sm_{}{}, {} multiprocessors, {}; driver for CUDA {})", f.name,
                     f.uuid, f.pci, f.major, f.minor, f.multiprocessors, readable(f.memory),
                     cuda_version(gpu.driver().version()));
}

std::vector<std::string> describe(const Gpus& gpus, const std::set<int>& ranks) {
  std::vector<std::string> lines;
  for (int d = 0; d < gpus.size(); ++d) {
    std::vector<std::string> had;
    for (const int n : ranks) {
      const RankSpread spread{.ranks = n, .gpus = gpus.size()};
      const int first = d * spread.each(), last = std::min(first + spread.each(), n) - 1;
      if (first == last) had.push_back(fmt::format("{} of {}", first, n));
      if (first < last) had.push_back(fmt::format("{}-{} of {}", first, last, n));
    }
    lines.push_back(describe(gpus[d]));
    if (!had.empty()) lines.back() += fmt::format(", had ranks {}", fmt::join(had, ", "));
  }
  for (const std::string& line : gpus.left_out())
    lines.push_back(fmt::format("not used: {}", line));
  return lines;
}

}  // namespace collmark
