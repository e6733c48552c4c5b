#include "bench/backend.hpp"

#include <fmt/format.h>

#include <limits>
#include <new>

#include "bench/choice.hpp"
#include "bench/cuda_backend.hpp"
#include "bench/gpu_processes_backend.hpp"
#include "bench/mpi_backend.hpp"
#include "bench/nccl_backend.hpp"
#include "bench/table.hpp"
#include "bench/threads_backend.hpp"
#include "collectives/catalogue.hpp"

namespace collmark {
std::string_view name(Placement placement) {
  return placement == Placement::in_place ? "in_place" : "out_of_place";
}

std::string_view name(Status status) {
  constexpr std::array<std::string_view, 3> kNames{"ok", "skipped", "failed"};
  return kNames[static_cast<std::size_t>(status)];
}

void measure_or_skip(CaseResult& result, const std::function<void()>& measure) {
  try {
    measure();
  } catch (const Unsupported& e) {
    result.status = Status::skipped;
    result.reason = e.what();
  } catch (const std::bad_alloc&) {
    result.status = Status::skipped;
    result.reason = "out of memory";
  }
}

Bytes copies_of(Bytes size, std::int64_t copies) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return size.value > kMost / copies ? Bytes{kMost} : size * copies;
}

std::string memory_obstacle(Bytes needed, Bytes available) {
  constexpr double kUsable = 0.9;  // of what is available: the rest of the host lives too
  if (static_cast<double>(needed.value) <= kUsable * static_cast<double>(available.value))
    return "";
  return fmt::format("needs {} of memory, {} are available", readable(needed), readable(available));
}

std::string describe(const Check& check, Dtype dtype) {
  const WrongElement& e = check.first;
  return fmt::format("wrong result: rank {}, element {}: got {}, expected {} ({}; {} wrong in all)",
                     e.rank, e.index, e.got, e.expected, name(dtype), check.wrong);
}

const std::vector<std::string>& backend_names() {
  static const std::vector<std::string> names{"threads", "mpi", "cuda", "nccl"};
  return names;
}

std::unique_ptr<Backend> make_backend(std::string_view name, const BackendOptions& options) {
  const std::string& known = backend_names()[choose_index("--backend", name, backend_names())];
  if (known == "threads") return std::make_unique<ThreadsBackend>(options);
  if (known == "mpi") return std::make_unique<MpiBackend>(options);
  if (gpu_ranks_are_processes(options))
    return std::make_unique<GpuProcessesBackend>(
        known == "cuda" ? GpuKernels::ours : GpuKernels::nccl, options);
  if (known == "cuda") return std::make_unique<CudaBackend>(options);
  return std::make_unique<NcclBackend>(options);
}

}  // namespace collmark
