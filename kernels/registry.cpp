#include "kernels/registry.hpp"

#include <array>

#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

struct Entry {
  std::string_view algorithm;  // without parameter
  Kernel kernel;
};

constexpr std::array kAllReduce{Entry{"ring", Kernel::ring_all_reduce},
                                Entry{"one_shot", Kernel::one_shot_all_reduce},
                                Entry{"two_shot", Kernel::direct_all_reduce},
                                Entry{"parameter_server", Kernel::direct_all_reduce},
                                Entry{"parameter_server_dedicated", Kernel::direct_all_reduce},
                                Entry{"sharded_parameter_server", Kernel::direct_all_reduce}};

Combine combine_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod:
      return Combine::prod;
    case ReduceOp::min:
      return Combine::min;
    case ReduceOp::max:
      return Combine::max;
    case ReduceOp::sum:
    case ReduceOp::avg:
      break;
  }
  return Combine::sum;
}

}  // namespace

std::string_view name(Kernel kernel) {
#define COLLMARK_NAME(name) #name,
  constexpr std::string_view kNames[] = {COLLMARK_KERNELS(COLLMARK_NAME)};
#undef COLLMARK_NAME
  return kNames[static_cast<std::size_t>(kernel)];
}

Kernel kernel_of(const Work& work) {
  if (work.schedule.collective != Collective::all_reduce)
    throw Unsupported("no kernel for " + std::string(name(work.schedule.collective)) +
                      " yet, all_reduce alone");
  const std::string_view asked =
      std::string_view(work.algorithm).substr(0, work.algorithm.find(':'));
  std::string names;
  for (const Entry& entry : kAllReduce) {
    if (entry.algorithm == asked)  // a ring of one rank would wait for itself
      return work.schedule.ranks == 1 ? Kernel::direct_all_reduce : entry.kernel;
    names += (names.empty() ? "" : ", ") + std::string(entry.algorithm);
  }
  throw Unsupported("no kernel for " + work.algorithm + " yet; there are " + names);
}

std::string kernel_symbol(const Work& work) {
  return std::string(name(kernel_of(work))) + "_" + std::string(name(work.payload.dtype));
}

std::int64_t staged_elements(const Work& work) {
  const bool copies = kernel_of(work) == Kernel::one_shot_all_reduce;
  return copies && work.placement == Placement::in_place ? work.payload.count.value : 0;
}

Job job_of(const Work& work) {
  const Schedule& s = work.schedule;
  const bool divides = work.payload.op == ReduceOp::avg;
  return {
      .ranks = s.ranks,
      .chunks = s.chunks,
      .servers = s.servers,
      .count = work.payload.count.value,
      .in_place = work.placement == Placement::in_place,
      .what = {.op = combine_of(work.payload.op), .divisor = divides ? s.ranks - s.servers : 1}};
}

}  // namespace collmark
