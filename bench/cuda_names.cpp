#include "bench/cuda_names.hpp"

#include <fmt/format.h>

#include "bench/table.hpp"
#include "bench/variant.hpp"
#include "collectives/catalogue.hpp"

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

}  // namespace collmark
