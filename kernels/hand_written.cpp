#include "kernels/hand_written.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>

namespace collmark {
namespace {

using C = Collective;
using K = Kernel;

// Where nobody asks for a protocol: what goes by lines. Guesses, not tuned on a GPU.

// MSCCL++, whose packets are such lines, has one_shot up to 16 KiB and two_shot up to 1 MiB
// (github.com/microsoft/mscclpp, apps/nccl/src/allreduce.cu, 2025). Ours stops at a quarter of that, since what comes after it
// is a two_shot too, whose stores need no flags.
constexpr Small kOneShot{.buffer = 16 << 10}, kTwoShot{.buffer = 256 << 10};
// Over links, what one step carries: a rank's share in a ring, all in a tree. NCCL reckons with 0.6 us a step by lines and
// 3.4 us without, over NVLink, at half the speed (github.com/NVIDIA/nccl, src/graph/tuning.cc, hwLat): at 400 GB/s
// lines have lost those 2.8 us again in a step of 1 MiB. A step of ours may take less than NCCL's, so a sixteenth.
constexpr Small kRing{.share = 64 << 10}, kTree{.buffer = 64 << 10};

constexpr std::array kHandWritten{
    HandWritten{C::all_reduce, "ring", Way::simple, K::ring_all_reduce},
    HandWritten{C::all_reduce, "ring", Way::low_latency, K::ring_ll_all_reduce, kRing},
    HandWritten{C::all_reduce, "binomial_tree", Way::simple, K::tree_all_reduce},
    HandWritten{C::all_reduce, "binomial_tree", Way::low_latency, K::tree_ll_all_reduce, kTree},
    HandWritten{C::all_reduce, "pipelined_tree", Way::simple, K::tree_all_reduce},
    HandWritten{C::all_reduce, "pipelined_tree", Way::low_latency, K::tree_ll_all_reduce, kTree},
    HandWritten{C::all_reduce, "double_binary_tree", Way::simple, K::tree_all_reduce},
    HandWritten{C::all_reduce, "double_binary_tree", Way::low_latency, K::tree_ll_all_reduce,
                kTree},
    HandWritten{C::all_reduce, "parameter_server", Way::simple, K::direct_all_reduce},
    HandWritten{C::all_reduce, "parameter_server", Way::links, K::tree_all_reduce},
    HandWritten{C::all_reduce, "parameter_server", Way::low_latency, K::tree_ll_all_reduce},
    HandWritten{C::all_reduce, "parameter_server_dedicated", Way::simple, K::direct_all_reduce},
    HandWritten{C::all_reduce, "sharded_parameter_server", Way::simple, K::direct_all_reduce},
    HandWritten{C::all_reduce, "one_shot", Way::simple, K::one_shot_all_reduce},
    HandWritten{C::all_reduce, "one_shot", Way::low_latency, K::one_shot_ll_all_reduce, kOneShot},
    HandWritten{C::all_reduce, "two_shot", Way::simple, K::direct_all_reduce},
    HandWritten{C::all_reduce, "two_shot", Way::low_latency, K::two_shot_ll_all_reduce, kTwoShot},
    HandWritten{C::reduce_scatter, "ring", Way::simple, K::ring_reduce_scatter},
    HandWritten{C::reduce_scatter, "ring", Way::low_latency, K::ring_ll_reduce_scatter, kRing},
    HandWritten{C::all_gather, "ring", Way::simple, K::ring_all_gather},
    HandWritten{C::all_gather, "ring", Way::low_latency, K::ring_ll_all_gather, kRing},
    HandWritten{C::reduce, "binomial", Way::simple, K::tree_reduce},
    HandWritten{C::reduce, "binomial", Way::low_latency, K::tree_ll_reduce, kTree},
    HandWritten{C::reduce, "chain", Way::simple, K::tree_reduce},
    HandWritten{C::reduce, "chain", Way::low_latency, K::tree_ll_reduce, kTree},
    HandWritten{C::reduce, "star", Way::simple, K::tree_reduce},
    HandWritten{C::reduce, "star", Way::low_latency, K::tree_ll_reduce, kTree},
    HandWritten{C::broadcast, "binomial", Way::simple, K::tree_broadcast},
    HandWritten{C::broadcast, "binomial", Way::low_latency, K::tree_ll_broadcast, kTree},
    HandWritten{C::broadcast, "chain", Way::simple, K::tree_broadcast},
    HandWritten{C::broadcast, "chain", Way::low_latency, K::tree_ll_broadcast, kTree},
    HandWritten{C::broadcast, "star", Way::simple, K::tree_broadcast},
    HandWritten{C::broadcast, "star", Way::low_latency, K::tree_ll_broadcast, kTree},
};

bool is_one_of(Kernel kernel, std::initializer_list<Kernel> list) {
  return std::find(list.begin(), list.end(), kernel) != list.end();
}

}  // namespace

std::span<const HandWritten> hand_written() { return kHandWritten; }

const HandWritten* hand_written(Collective collective, std::string_view algorithm, Way way) {
  const auto found = std::find_if(std::begin(kHandWritten), std::end(kHandWritten), [=](auto& k) {
    return k.collective == collective && k.algorithm == algorithm && k.way == way;
  });
  return found == std::end(kHandWritten) ? nullptr : &*found;
}

bool suits(const HandWritten& kernel, Bytes buffer, int ranks) {
  return ranks > 1 && std::max<std::int64_t>(buffer.value, 1) <=
                          kernel.small.buffer + kernel.small.share * ranks;
}

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
