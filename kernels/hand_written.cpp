#include "kernels/hand_written.hpp"

#include <algorithm>
#include <array>

namespace collmark {
namespace {

using C = Collective;
using K = Kernel;

constexpr std::array kHandWritten{
    HandWritten{C::all_reduce, "ring", Way::standard, K::ring_all_reduce},
    HandWritten{C::all_reduce, "ring", Way::low_latency, K::ring_ll_all_reduce},
    HandWritten{C::all_reduce, "binomial_tree", Way::standard, K::tree_all_reduce},
    HandWritten{C::all_reduce, "binomial_tree", Way::low_latency, K::tree_ll_all_reduce},
    HandWritten{C::all_reduce, "pipelined_tree", Way::standard, K::tree_all_reduce},
    HandWritten{C::all_reduce, "pipelined_tree", Way::low_latency, K::tree_ll_all_reduce},
    HandWritten{C::all_reduce, "double_binary_tree", Way::standard, K::tree_all_reduce},
    HandWritten{C::all_reduce, "double_binary_tree", Way::low_latency, K::tree_ll_all_reduce},
    HandWritten{C::all_reduce, "parameter_server", Way::standard, K::direct_all_reduce},
    HandWritten{C::all_reduce, "parameter_server", Way::links, K::tree_all_reduce},
    HandWritten{C::all_reduce, "parameter_server", Way::low_latency, K::tree_ll_all_reduce},
    HandWritten{C::all_reduce, "parameter_server_dedicated", Way::standard, K::direct_all_reduce},
    HandWritten{C::all_reduce, "sharded_parameter_server", Way::standard, K::direct_all_reduce},
    HandWritten{C::all_reduce, "one_shot", Way::standard, K::one_shot_all_reduce},
    HandWritten{C::all_reduce, "one_shot", Way::low_latency, K::one_shot_ll_all_reduce},
    HandWritten{C::all_reduce, "two_shot", Way::standard, K::direct_all_reduce},
    HandWritten{C::all_reduce, "two_shot", Way::low_latency, K::two_shot_ll_all_reduce},
    HandWritten{C::reduce_scatter, "ring", Way::standard, K::ring_reduce_scatter},
    HandWritten{C::reduce_scatter, "ring", Way::low_latency, K::ring_ll_reduce_scatter},
    HandWritten{C::all_gather, "ring", Way::standard, K::ring_all_gather},
    HandWritten{C::all_gather, "ring", Way::low_latency, K::ring_ll_all_gather},
    HandWritten{C::reduce, "binomial", Way::standard, K::tree_reduce},
    HandWritten{C::reduce, "binomial", Way::low_latency, K::tree_ll_reduce},
    HandWritten{C::reduce, "chain", Way::standard, K::tree_reduce},
    HandWritten{C::reduce, "chain", Way::low_latency, K::tree_ll_reduce},
    HandWritten{C::reduce, "star", Way::standard, K::tree_reduce},
    HandWritten{C::reduce, "star", Way::low_latency, K::tree_ll_reduce},
    HandWritten{C::broadcast, "binomial", Way::standard, K::tree_broadcast},
    HandWritten{C::broadcast, "binomial", Way::low_latency, K::tree_ll_broadcast},
    HandWritten{C::broadcast, "chain", Way::standard, K::tree_broadcast},
    HandWritten{C::broadcast, "chain", Way::low_latency, K::tree_ll_broadcast},
    HandWritten{C::broadcast, "star", Way::standard, K::tree_broadcast},
    HandWritten{C::broadcast, "star", Way::low_latency, K::tree_ll_broadcast},
};

bool is_one_of(Kernel kernel, std::initializer_list<Kernel> list) {
  return std::find(list.begin(), list.end(), kernel) != list.end();
}

}  // namespace

std::span<const HandWritten> hand_written() { return kHandWritten; }

bool is_ring(Kernel k) {
  return is_one_of(k, {K::ring_all_reduce, K::ring_reduce_scatter, K::ring_all_gather,
                       K::ring_ll_all_reduce, K::ring_ll_reduce_scatter, K::ring_ll_all_gather});
}
bool is_tree(Kernel k) {
  return is_one_of(k, {K::tree_all_reduce, K::tree_reduce, K::tree_broadcast, K::tree_ll_all_reduce,
                       K::tree_ll_reduce, K::tree_ll_broadcast});
}

std::string_view name(Kernel kernel) {
#define COLLMARK_NAME(name) #name,
  constexpr std::string_view kNames[] = {COLLMARK_KERNELS(COLLMARK_NAME)};
#undef COLLMARK_NAME
  return kNames[static_cast<std::size_t>(kernel)];
}

}  // namespace collmark
