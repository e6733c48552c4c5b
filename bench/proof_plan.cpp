#include "bench/proof_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "bench/cuda_names.hpp"
#include "bench/pick.hpp"
#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

constexpr int kSlots = 2, kChannels = 2, kMostChannels = 4;  // that trees make of them
constexpr std::int64_t kSlot = 64;                           // [bytes]
constexpr int kPiecesOfShare = 3 * kSlots + 1;
constexpr int kAnyRanks = 4;  // every algorithm runs on a power of two

/// The kernel that runs it; empty if there is none of this name.
std::optional<Kernel> kernel_of(Collective collective, const KernelName& name) {
  try {
    const KernelTask task{.name = name,
                          .collective = collective,
                          .ranks = kAnyRanks,
                          .payload = {.count = {kAnyRanks}}};
    return KernelJob(task, {}).kernel();
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

bool is_hand_written(Collective collective, const KernelName& name) {
  return kernel_of(collective, name).value_or(Kernel::interpreted) != Kernel::interpreted;
}

/// A name without a protocol stands for two kernels where there are two: which of them runs depends on the size.
std::vector<KernelName> kernels_behind(Collective collective, const KernelName& name) {
  if (name.way != Way::standard) return {name};
  std::vector<KernelName> protocols;
  for (const Way way : {Way::simple, Way::low_latency})
    if (const KernelName one{name.algorithm, way}; kernel_of(collective, one))
      protocols.push_back(one);
  return protocols.size() == 2 ? protocols : std::vector{name};
}

std::vector<KernelPick> all_kernels(std::optional<Collective> only) {
  std::vector<KernelPick> all;
  for (const Algorithm& a : catalogue()) {
    if (only && a.collective != *only) continue;
    bool by_hand = false;
    for (const Way way : {Way::simple, Way::links, Way::low_latency})
      if (const KernelName name{std::string(a.name), way}; kernel_of(a.collective, name)) {
        all.push_back({a.collective, name, true});
        by_hand = true;
      }
    const Way interpreter = by_hand ? Way::interpreted : Way::standard;
    all.push_back({a.collective, {std::string(a.name), interpreter}, false});
  }
  return all;
}

std::int64_t elements(Bytes size, Dtype dtype) {
  return size.value / static_cast<std::int64_t>(size_of(dtype));
}

class Planner {
 public:
  explicit Planner(const ProofWish& wish) : wish_(wish) {
    std::set<std::pair<std::optional<Kernel>, Collective>> known;
    for (const KernelPick& pick : wish.kernels)
      thorough_.push_back(
          known.insert({kernel_of(pick.collective, pick.name), pick.collective}).second);
    std::sort(wish_.ranks.rbegin(), wish_.ranks.rend());
  }

  std::vector<ProofCase> plan() && {
    for (const int ranks : wish_.ranks) pieces(ranks);
    large(wish_.ranks[wish_.ranks.size() / 2]);
    for (const int ranks : wish_.ranks) small(ranks);
    return std::move(plan_);
  }

 private:
  template <class Visit>
  void for_each_kernel_and_dtype(Visit visit) {
    for (std::size_t k = 0; k < wish_.kernels.size(); ++k)
      for (std::size_t d = 0; d < wish_.dtypes.size(); ++d) visit(k, d);
  }
  /// The operators that mean something, and the placements that can be.
  [[nodiscard]] std::size_t operators_of(std::size_t kernel) const {
    return reduces(wish_.kernels[kernel].collective) ? wish_.operators.size() : 1;
  }

  void pieces(int ranks) {
    for (std::size_t o = 0; o < wish_.operators.size(); ++o)
      for (std::size_t p = 0; p < wish_.placements.size(); ++p)
        for_each_kernel_and_dtype([&](std::size_t k, std::size_t d) {
          const std::size_t combinations = operators_of(k) * wish_.placements.size();
          const std::size_t turn = k + d + static_cast<std::size_t>(ranks);
          if (o >= operators_of(k)) return;
          if (!thorough_[k] && turn % combinations != o * wish_.placements.size() + p) return;
          const Bytes share{kPiecesOfShare * kSlot * kMostChannels * ranks};
          add(k, ranks,
              {{elements(share, wish_.dtypes[d]) + 1}, wish_.dtypes[d], wish_.operators[o]},
              wish_.placements[p]);
          plan_.back().tuning = {.channels = kChannels, .slots = kSlots, .slot = Bytes{kSlot}};
        });
  }
  void large(int ranks) {
    for_each_kernel_and_dtype([&](std::size_t k, std::size_t d) {
      const std::size_t turn = turns_++;
      add(k, ranks,
          {{elements(wish_.large, wish_.dtypes[d]) + 3}, wish_.dtypes[d], operator_of(k, turn)},
          wish_.placements[turn % wish_.placements.size()]);
    });
  }
  void small(int ranks) {
    const std::int64_t counts[] = {0, 1, ranks + 1, 53};
    for_each_kernel_and_dtype([&](std::size_t k, std::size_t d) {
      const std::size_t turn = turns_++;
      const std::int64_t count = counts[turn / wish_.placements.size() % std::size(counts)];
      add(k, ranks, {{count}, wish_.dtypes[d], operator_of(k, turn)},
          wish_.placements[turn % wish_.placements.size()]);
    });
  }
  [[nodiscard]] ReduceOp operator_of(std::size_t kernel, std::size_t turn) const {
    return wish_.operators[turn % operators_of(kernel)];
  }

  void add(std::size_t kernel, int ranks, const Payload& payload, Placement placement) {
    const KernelPick& pick = wish_.kernels[kernel];
    const bool has_root =
        pick.collective == Collective::broadcast || pick.collective == Collective::reduce;
    if (pick.collective == Collective::all_to_all) placement = Placement::out_of_place;
    plan_.push_back({kernel,
                     {.name = pick.name,
                      .collective = pick.collective,
                      .ranks = ranks,
                      .root = has_root ? static_cast<int>(plan_.size()) % ranks : 0,
                      .payload = payload,
                      .placement = placement},
                     {}});
  }

  ProofWish wish_;
  std::vector<bool> thorough_;  // [kernel]
  std::vector<ProofCase> plan_;
  std::size_t turns_ = 0;
};

}  // namespace

std::vector<KernelPick> kernel_picks(const std::vector<std::string>& names,
                                     std::optional<Collective> only) {
  if (names.empty()) return all_kernels(only);
  std::vector<KernelPick> all;
  for (const std::string& asked : names) {
    const KernelName name = kernel_name(asked);
    for (const Pick& pick : picks(name.algorithm, only))
      for (const KernelName& one : kernels_behind(pick.collective, name))
        all.push_back({pick.collective, one, is_hand_written(pick.collective, one)});
  }
  return all;
}

std::vector<ProofCase> proof_plan(const ProofWish& wish) { return Planner(wish).plan(); }

std::string words(const ProofCase& c) {
  const Payload& p = c.task.payload;
  return fmt::format("{} {}, {} ranks, {} {} {}, {} bytes", name(c.task.collective),
                     to_string(c.task.name), c.task.ranks, name(p.dtype), name(p.op),
                     name(c.task.placement),
                     p.count.value * static_cast<std::int64_t>(size_of(p.dtype)));
}

}  // namespace collmark
