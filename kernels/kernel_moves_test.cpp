/// What the kernels say they move is what the schedule lists and what the formulas promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "collectives/catalogue.hpp"
#include "collectives/partition.hpp"
#include "kernels/kernel_case.hpp"
#include "kernels/kernel_job.hpp"
#include "kernels/kernel_trees.hpp"

namespace collmark {
namespace {

constexpr int kCount =
    120;  // elements: divisible by all ranks and chunks here, so that bytes are exact

KernelCase case_of(const NamedKernel& kernel, int ranks) {
  return {.kernel = kernel, .ranks = ranks, .payload = {.count = {kCount}}, .lanes = 4};
}

Schedule schedule_of(const NamedKernel& kernel, int ranks) {
  return build(kernel.collective, parse_kernel_name(kernel.algorithm).algorithm, ranks);
}

/// How often each element has gone from one rank to another: [src, dst] -> [element].
using Journeys = std::map<std::pair<int, int>, std::vector<int>>;

void add(Journeys& journeys, const MovedPart& part) {
  std::vector<int>& times = journeys[{part.src, part.dst}];
  times.resize(kCount);
  for (std::int64_t i = part.offset; i < part.offset + part.count; ++i)
    ++times[static_cast<std::size_t>(i)];
}

Journeys listed(const Schedule& s) {
  Journeys journeys;
  const Partition partition(s, {kCount});
  for (int t = 0; t < s.steps; ++t)
    s.step(t, [&](const Transfer& x) {
      for (int i = 0; i < x.count && x.src != x.dst; ++i) {
        const Span span = partition.chunk(x.src_chunk + i);
        add(journeys, {x.src, x.dst, span.offset.value, span.size.value});
      }
    });
  return journeys;
}

Journeys made(const LaunchTraffic& watched) {
  Journeys journeys;
  for (const MovedPart& part : watched.transfers) add(journeys, part);
  return journeys;
}

TEST(KernelMoves, EveryElementTakesTheJourneysThatTheScheduleLists) {
  for (const NamedKernel& kernel : hand_written_kernels())
    for (int n = 2; n <= 7; ++n) {
      if (!supports(kernel, n)) continue;
      LaunchTraffic watched;
      const KernelCase c = case_of(kernel, n);
      ASSERT_EQ(differs(c, watched), "") << words(c);
      EXPECT_EQ(made(watched), listed(schedule_of(kernel, n))) << words(c);
    }
}

TEST(KernelMoves, TheInterpreterSendsBetweenEachPairWhatTheScheduleLists) {
  for (const NamedKernel& kernel : interpreted_kernels()) {
    constexpr int kRanks = 4;
    LaunchTraffic watched;
    const KernelCase c = case_of(kernel, kRanks);
    ASSERT_EQ(differs(c, watched), "") << words(c);
    std::map<std::pair<int, int>, std::int64_t> sent, planned;
    for (const MovedPart& part : watched.transfers) sent[{part.src, part.dst}] += part.count;
    for (const auto& [pair, times] : listed(schedule_of(kernel, kRanks)))
      for (const int n : times) planned[pair] += n;
    if (kernel.collective == Collective::barrier) planned = sent;  // signals are no elements
    EXPECT_EQ(sent, planned) << words(c);
  }
}

/// Loads and stores of all ranks together, over the bytes of a buffer: what ranks load of inputs and store to outputs, and
/// what crosses from rank to rank through memory between them.
struct Formula {
  Collective collective;
  std::string algorithm;
  int (*times)(int ranks);
};

std::vector<Formula> formulas() {
  using C = Collective;
  // Over links n-1 buffers go up to where they are complete and n-1 go down again, and what crosses a link is stored and
  // loaded; as a line it is twice as long. Every input is loaded once, every output stored once.
  const auto both_ways = [](int n) { return 2 * n + 2 * (2 * (n - 1)); };
  const auto both_ways_ll = [](int n) { return 2 * n + 4 * (2 * (n - 1)); };
  // One way, n inputs and the result, or one input and n outputs.
  const auto one_way = [](int n) { return n + 1 + 2 * (n - 1); };
  const auto one_way_ll = [](int n) { return n + 1 + 4 * (n - 1); };
  const auto direct = [](int n) { return 2 * n; };  // each input and each output once
  return {
      {C::all_reduce, "ring/simple", both_ways},
      {C::all_reduce, "ring/LL", both_ways_ll},
      {C::all_reduce, "binomial_tree/simple", both_ways},
      {C::all_reduce, "binomial_tree/LL", both_ways_ll},
      {C::all_reduce, "pipelined_tree/simple", both_ways},
      {C::all_reduce, "pipelined_tree/LL", both_ways_ll},
      {C::all_reduce, "double_binary_tree:3/simple", both_ways},
      {C::all_reduce, "double_binary_tree:3/LL", both_ways_ll},
      {C::all_reduce, "parameter_server/simple", direct},
      {C::all_reduce, "parameter_server/links", both_ways},
      {C::all_reduce, "parameter_server/LL", both_ways_ll},
      // Servers have neither an input nor an output.
      {C::all_reduce, "parameter_server_dedicated/simple", [](int n) { return 2 * (n - 1); }},
      {C::all_reduce, "sharded_parameter_server:2/simple", [](int n) { return 2 * (n - 2); }},
      {C::all_reduce, "one_shot/simple", [](int n) { return n * (n + 1); }},
      // Each rank loads its input for each of n inboxes, fills n, reads n, and stores the result.
      {C::all_reduce, "one_shot/LL", [](int n) { return n * (n + 2 * n + 2 * n + 1); }},
      {C::all_reduce, "two_shot/simple", direct},
      // Each rank loads S, fills lines of S, reads n lines of S/n, fills as many, reads lines of S, stores S.
      {C::all_reduce, "two_shot/LL", [](int n) { return n * (1 + 2 + 2 + 2 + 2 + 1); }},
      {C::reduce_scatter, "ring/simple", one_way},
      {C::reduce_scatter, "ring/LL", one_way_ll},
      {C::all_gather, "ring/simple", one_way},
      {C::all_gather, "ring/LL", one_way_ll},
      {C::reduce, "binomial/simple", one_way},
      {C::reduce, "binomial/LL", one_way_ll},
      {C::reduce, "chain:3/simple", one_way},
      {C::reduce, "chain:3/LL", one_way_ll},
      {C::reduce, "star/simple", one_way},
      {C::reduce, "star/LL", one_way_ll},
      {C::broadcast, "binomial/simple", one_way},
      {C::broadcast, "binomial/LL", one_way_ll},
      {C::broadcast, "chain:3/simple", one_way},
      {C::broadcast, "chain:3/LL", one_way_ll},
      {C::broadcast, "star/simple", one_way},
      {C::broadcast, "star/LL", one_way_ll}};
}

TEST(KernelMoves, LoadsAndStoresAreThoseOfTheFormulas) {
  const std::vector<Formula> all = formulas();
  for (const NamedKernel& kernel : hand_written_kernels()) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Formula& f) {
      return f.collective == kernel.collective && f.algorithm == kernel.algorithm;
    });
    ASSERT_NE(found, all.end()) << "no formula of " << name(kernel.collective) << " "
                                << kernel.algorithm;
    for (const int n : {2, 3, 4, 5, 6}) {
      if (!supports(kernel, n)) continue;
      LaunchTraffic watched;
      const KernelCase c = case_of(kernel, n);
      ASSERT_EQ(differs(c, watched), "") << words(c);
      EXPECT_EQ(watched.loads + watched.stores, found->times(n) * kCount * 4) << words(c);
    }
  }
}

TEST(KernelMoves, AllBlocksOfAGpuStoreAnEqualShareOfWhatItsRanksOwn) {
  for (const char* algorithm :
       {"parameter_server", "sharded_parameter_server:2", "two_shot/simple"}) {
    constexpr int kRanks = 3;
    LaunchTraffic watched;
    KernelCase c = case_of({Collective::all_reduce, algorithm}, kRanks);
    c.channels = 2;
    ASSERT_EQ(differs(c, watched), "") << words(c);
    EXPECT_EQ(watched.stored_by.size(), 6U) << algorithm;
    for (const auto& [block, stored] : watched.stored_by)
      EXPECT_EQ(stored, watched.stores / 6) << algorithm << ", block " << block;
  }
}

TEST(KernelTrees, AreThoseOfTheSchedule) {
  const std::vector<RankTree> star = trees_of(build(Collective::all_reduce, "parameter_server", 4));
  ASSERT_EQ(star.size(), 1U);
  EXPECT_EQ(star[0].parent, (std::vector<int>{-1, 0, 0, 0}));
  EXPECT_EQ(star[0].children[0], (std::vector<int>{1, 2, 3}));

  const std::vector<RankTree> two =
      trees_of(build(Collective::all_reduce, "double_binary_tree", 4));
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].parent,
            (std::vector<int>{1, 3, 1, -1}));  // places 1 2 3 4: 4 over 2 over 1 and 3
  EXPECT_EQ(two[1].parent, (std::vector<int>{-1, 2, 0, 2}));  // mirrored
  EXPECT_EQ(two[0].height(), 2);

  EXPECT_THROW((void)trees_of(build(Collective::all_reduce, "ring", 4)), Unsupported);
  EXPECT_THROW((void)trees_of(build(Collective::all_reduce, "one_shot", 4)), Unsupported);
}

TEST(KernelNames, TellTheWayFromTheAlgorithm) {
  for (const char* text : {"ring", "ring_interpreted", "double_binary_tree_interpreted:16",
                           "parameter_server/links", "two_shot/LL", "ring/simple"})
    EXPECT_EQ(to_string(parse_kernel_name(text)), text);
  EXPECT_EQ(parse_kernel_name("double_binary_tree_interpreted:16").algorithm,
            "double_binary_tree:16");
  EXPECT_THROW((void)parse_kernel_name("ring/LL128"), Error);
  EXPECT_THROW((void)differs({.kernel = {Collective::all_reduce, "swing/LL"}}), Unsupported);
  EXPECT_THROW((void)differs({.kernel = {Collective::all_reduce, "swing/simple"}}), Unsupported);
}

/// What runs on 8 ranks under this name, for a buffer of so many bytes.
std::string_view ran(const NamedKernel& kernel, std::int64_t size, int ranks = 8) {
  const KernelJob job({.name = parse_kernel_name(kernel.algorithm),
                       .collective = kernel.collective,
                       .ranks = ranks,
                       .payload = {.count = {size / 4}}},
                      {});
  EXPECT_EQ(job.protocol() == Protocol::low_latency,
            name(job.kernel()).find("_ll_") != std::string_view::npos);
  return name(job.kernel());
}

TEST(KernelNames, WithoutAProtocolMeanLinesForWhatIsSmall) {
  using C = Collective;
  constexpr std::int64_t kKi = 1024;
  EXPECT_EQ(ran({C::all_reduce, "one_shot"}, 16 * kKi), "one_shot_ll_all_reduce");
  EXPECT_EQ(ran({C::all_reduce, "one_shot"}, 16 * kKi + 4), "one_shot_all_reduce");
  EXPECT_EQ(ran({C::all_reduce, "two_shot"}, 256 * kKi), "two_shot_ll_all_reduce");
  EXPECT_EQ(ran({C::all_reduce, "two_shot"}, 256 * kKi + 4), "direct_all_reduce");
  for (const int ranks : {2, 8}) {  // so much for each
    const std::int64_t size = 64 * kKi * ranks;
    EXPECT_EQ(ran({C::all_reduce, "ring"}, size, ranks), "ring_ll_all_reduce");
    EXPECT_EQ(ran({C::all_reduce, "ring"}, size + 4, ranks), "ring_all_reduce");
    EXPECT_EQ(ran({C::reduce_scatter, "ring"}, size, ranks), "ring_ll_reduce_scatter");
    EXPECT_EQ(ran({C::all_gather, "ring"}, size + 4, ranks), "ring_all_gather");
  }
  EXPECT_EQ(ran({C::all_reduce, "double_binary_tree"}, 64 * kKi), "tree_ll_all_reduce");
  EXPECT_EQ(ran({C::all_reduce, "double_binary_tree"}, 64 * kKi + 4), "tree_all_reduce");
  EXPECT_EQ(ran({C::broadcast, "chain"}, 4), "tree_ll_broadcast");
  EXPECT_EQ(ran({C::reduce, "star"}, 0), "tree_ll_reduce");
  EXPECT_EQ(ran({C::all_reduce, "ring/simple"}, 4), "ring_all_reduce");
  EXPECT_EQ(ran({C::all_reduce, "ring/LL"}, 1 << 20), "ring_ll_all_reduce");
  EXPECT_EQ(ran({C::all_reduce, "parameter_server"}, 4), "direct_all_reduce");
  EXPECT_EQ(ran({C::all_reduce, "parameter_server/links"}, 4), "tree_all_reduce");
  EXPECT_EQ(ran({C::all_reduce, "two_shot"}, 4, 1), "direct_all_reduce");
  EXPECT_EQ(ran({C::all_reduce, "ring"}, 4, 1), "interpreted");
}

}  // namespace
}  // namespace collmark
