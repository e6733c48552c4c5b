#include "bench/library_rules.hpp"

#include <algorithm>
#include <array>

namespace collmark {
namespace {

int power_of_two_up_to(int ranks) {
  int power = 1;
  while (power <= ranks / 2) power *= 2;
  return power;
}

/// COLL_BASE_COMPUTED_SEGCOUNT of coll_base_functions.h, for elements whose size divides the segment or does not.
std::int64_t elements_in_segment(const LibraryCall& call) {
  const auto element = static_cast<std::int64_t>(call.element);
  if (call.segment.value < element || call.segment.value >= element * call.count.value)
    return call.count.value;
  const std::int64_t whole = call.segment.value / element;
  return call.segment.value % element > element / 2 ? whole + 1 : whole;
}

/// coll_base_allreduce.c: ring, line 371; segmented ring, 656; Rabenseifner, 988.
std::string_view all_reduce(const LibraryCall& call) {
  const std::int64_t count = call.count.value;
  std::string_view runs = call.algorithm;
  if (runs == "segmented_ring" && count < call.ranks * elements_in_segment(call)) runs = "ring";
  if (runs == "ring" && count < call.ranks) runs = "recursive_doubling";
  if (runs == "rabenseifner" && count < power_of_two_up_to(call.ranks)) runs = "linear";
  return runs;
}

/// coll_base_reduce.c, line 812.
std::string_view reduce(const LibraryCall& call) {
  return call.algorithm == "rabenseifner" && call.count.value < power_of_two_up_to(call.ranks)
             ? "linear"
             : call.algorithm;
}

/// coll_base_allgather.c, lines 275 and 501; coll_base_allgatherv.c, 367.
std::string_view all_gather(const LibraryCall& call) {
  if (call.algorithm == "recursive_doubling" && power_of_two_up_to(call.ranks) != call.ranks)
    return "bruck";
  if (call.algorithm == "neighbor_exchange" && call.ranks % 2 != 0) return "ring";
  return call.algorithm;
}

/// coll_base_bcast.c: split binary tree, line 418; scatter and allgather, 794 and 971.
std::string_view broadcast(const LibraryCall& call) {
  const std::int64_t half = call.count.value / 2;
  if (call.algorithm == "split_binary_tree" &&
      (half == 0 || call.segment.value > half * static_cast<std::int64_t>(call.element)))
    return "chain";
  if (call.algorithm.starts_with("scatter_allgather") && call.count.value < call.ranks)
    return "linear";
  return call.algorithm;
}

}  // namespace

std::string open_mpi_runs(const LibraryCall& call) {
  if (call.collective == Collective::barrier) return std::string(call.algorithm);
  const bool blocks = call.collective == Collective::all_to_all;  // one for each rank
  if (call.count.value < (blocks ? call.ranks : 1)) return "none";
  switch (call.collective) {
    case Collective::all_reduce:
      return std::string(all_reduce(call));
    case Collective::reduce:
      return std::string(reduce(call));
    case Collective::all_gather:
      return std::string(all_gather(call));
    case Collective::broadcast:
      return std::string(broadcast(call));
    case Collective::reduce_scatter:
    case Collective::all_to_all:
    case Collective::barrier:
      break;
  }
  return std::string(call.algorithm);
}

/// From the calls in coll_tuned_*_decision.c that pass the segment on.
bool open_mpi_cuts(Collective collective, std::string_view algorithm) {
  constexpr std::array<std::string_view, 6> kBroadcast{
      "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial"};
  constexpr std::array<std::string_view, 5> kReduce{"chain", "pipeline", "binary", "binomial",
                                                    "in_order_binary"};
  const auto is_in = [&](const auto& list) {
    return std::find(list.begin(), list.end(), algorithm) != list.end();
  };
  if (collective == Collective::all_reduce) return algorithm == "segmented_ring";
  if (collective == Collective::broadcast) return is_in(kBroadcast);
  return collective == Collective::reduce && is_in(kReduce);
}

}  // namespace collmark
