#include "bench/cuda_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>

#include "bench/cuda_operation.hpp"
#include "bench/library_name.hpp"
#include "bench/proof.hpp"
#include "bench/solo_team.hpp"
#include "bench/table.hpp"
#include "bench/variant.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/partition.hpp"
#include "kernels/image.hpp"

namespace collmark {
namespace {

constexpr std::string_view kStub =
    "collmark stub";  // what the name of a device that is none begins with

/// Whose collective it is. A device that is none takes the credit itself, so that no row of it passes for a GPU's.
std::string implementation(const Gpu& gpu) {
  return gpu.facts().name.starts_with(kStub) ? gpu.facts().name : "collmark";
}

KernelName kernel_name(const std::string& asked) {
  const auto [algorithm, variant] = split_variant(asked);
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

std::string description(const Gpu& gpu) {
  const GpuFacts& f = gpu.facts();
  return fmt::format("{} ({}, {}, sm_{}{}, {} multiprocessors, {}; driver for CUDA {})", f.name,
                     f.uuid, f.pci, f.major, f.minor, f.multiprocessors, readable(f.memory),
                     cuda_version(gpu.driver().version()));
}

/// What may still be in use by a device that does not come to an end: giving it back would wait for that.
void leave_behind(std::unique_ptr<Gpus> gpus, std::unique_ptr<CudaOperation> operation) {
  static auto* const left = new std::vector<std::pair<Gpus*, CudaOperation*>>;
  left->emplace_back(gpus.release(), operation.release());
}

bool is_idle(const CudaOperation& operation) {
  try {
    return operation.idle();
  } catch (const Error&) {  // it is lost
    return false;
  }
}

}  // namespace

CudaBackend::CudaBackend(const BackendOptions& options) : options_(options) {
  try {
    gpus_ = std::make_unique<Gpus>();
  } catch (const Error& e) {
    availability_ = {.here = false, .reason = e.what()};
  }
}

CudaBackend::~CudaBackend() = default;

/// Buffers, and as much again for what a kernel may copy aside; what links need is small.
Bytes CudaBackend::memory_needed(const Case& c) const {
  if (!gpus_) return {};
  const std::int64_t on_one = (c.ranks + gpus_->size() - 1) / gpus_->size();
  const std::int64_t copies = on_one * (c.placement == Placement::in_place ? 2 : 3);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return c.size().value > kMost / copies ? Bytes{kMost} : c.size() * copies;
}

Bytes CudaBackend::memory_available() const {
  if (!gpus_) return {};
  Bytes least = (*gpus_)[0].free_memory();
  for (int d = 1; d < gpus_->size(); ++d) least = std::min(least, (*gpus_)[d].free_memory());
  return least;
}

std::vector<std::string> CudaBackend::devices() const {
  std::vector<std::string> all;
  for (int d = 0; gpus_ && d < gpus_->size(); ++d) all.push_back(description((*gpus_)[d]));
  return all;
}

CaseResult CudaBackend::run(const Case& c) {
  if (!gpus_)
    return {.status = Status::skipped, .reason = availability_.reason, .algorithm = c.algorithm};
  CaseResult result{.implementation = implementation((*gpus_)[0]), .algorithm = c.algorithm};
  try {
    if (is_library(c.algorithm)) throw Unsupported("the cuda backend has no library of its own");
    measure_into(result, c);
  } catch (const Unsupported& e) {
    result.status = Status::skipped;
    result.reason = e.what();
  } catch (const std::bad_alloc&) {
    result.status = Status::skipped;
    result.reason = "out of memory";
  }
  return result;
}

void CudaBackend::measure_into(CaseResult& result, const Case& c) {
  const CudaOperation::What what{
      .task = {.name = kernel_name(c.algorithm),
               .collective = c.collective,
               .ranks = c.ranks,
               .root = c.root,
               .payload = {c.count, c.dtype, c.op},
               .placement = c.placement},
      .tuning = options_.gpu,
      .patience = {.timeout = options_.timeout, .interrupted = &interrupted_},
      .evicts = c.measure.cache == CacheState::cold,
      .hooks = test_hooks_from_environment()};
  auto operation = std::make_unique<CudaOperation>(*gpus_, what);
  try {
    measure_with(*operation, result, c);
  } catch (...) {
    if (!is_idle(*operation)) leave_behind(std::move(gpus_), std::move(operation));
    throw;
  }
}

void CudaBackend::measure_with(CudaOperation& operation, CaseResult& result, const Case& c) {
  const GpuCollective& collective = operation.collective();
  const Schedule& schedule = collective.job().schedule();
  result.rounds = schedule.steps;
  result.chunk = Bytes{Partition(schedule, c.count).largest().value *
                       static_cast<std::int64_t>(size_of(c.dtype))};
  result.device = (*gpus_)[0].facts().name;
  result.devices = collective.devices();
  result.tuning = collective.tuning();
  if (result.reason = disproof(c.algorithm, schedule); !result.reason.empty()) {
    result.status = Status::failed;
    return;
  }
  SoloTeam all_ranks;
  result.measurement = measure(all_ranks, operation, c.measure);
  result.wire_busiest = operation.count_busiest();
  if (!result.measurement.correct()) {
    result.status = Status::failed;
    result.reason = describe(result.measurement.check, c.dtype);
  }
}

}  // namespace collmark
