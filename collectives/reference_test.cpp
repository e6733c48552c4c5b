#include "collectives/reference.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "collectives/catalogue.hpp"
#include "collectives/error.hpp"
#include "collectives/half.hpp"

namespace collmark {
namespace {

// ---- small words for hand-computed cases

template <class T>
ByteBuffer bytes(const std::vector<T>& values) {
  ByteBuffer b(values.size() * sizeof(T));
  if (!b.empty()) std::memcpy(b.data(), values.data(), b.size());
  return b;
}

template <class T>
std::vector<T> values(const ByteBuffer& b) {
  std::vector<T> v(b.size() / sizeof(T));
  if (!b.empty()) std::memcpy(v.data(), b.data(), b.size());
  return v;
}

/// One chunk, one step, the transfers of `list`.
Schedule one_step(int ranks, std::vector<Transfer> list) {
  return {
      .ranks = ranks, .chunks = 1, .steps = 1, .step = [list = std::move(list)](int, Emit emit) {
        for (const Transfer& x : list) emit(x);
      }};
}

/// One float per rank; what rank 0 holds in the end.
float rank_0_after(const Schedule& s, const std::vector<float>& inputs) {
  std::vector<ByteBuffer> buffers;
  for (const float x : inputs) buffers.push_back(bytes<float>({x}));
  return values<float>(reference(s, {.count = {1}}, buffers)[0])[0];
}

using Ints = std::vector<std::int32_t>;

std::vector<Ints> run(const Schedule& s, ReduceOp op, const std::vector<Ints>& inputs) {
  std::vector<ByteBuffer> buffers;
  for (const Ints& x : inputs) buffers.push_back(bytes(x));
  const Elements count{static_cast<std::int64_t>(inputs[0].size())};
  std::vector<Ints> outputs;
  for (const ByteBuffer& b : reference(s, {.count = count, .dtype = Dtype::i32, .op = op}, buffers))
    outputs.push_back(values<std::int32_t>(b));
  return outputs;
}

// ---- the meaning of a step. In f32, 1e8 + 1 == 1e8: the order shows in the result.

TEST(Reference, OwnValueComesFirstWhereTheListDoesNotNameIt) {
  const Schedule s = one_step(3, {Reduce{1, 0, 0}, Reduce{2, 0, 0}});
  EXPECT_EQ(rank_0_after(s, {1e8F, -1e8F, 1.0F}), 1.0F);  // (1e8 - 1e8) + 1
}

TEST(Reference, OwnValueStandsWhereTheListNamesIt) {
  const Schedule s = one_step(3, {Reduce{1, 0, 0}, Reduce{2, 0, 0}, Reduce{0, 0, 0}});
  EXPECT_EQ(rank_0_after(s, {1e8F, -1e8F, 1.0F}), 0.0F);  // (-1e8 + 1) + 1e8
}

TEST(Reference, ListOrderIsReductionOrder) {
  EXPECT_EQ(rank_0_after(one_step(3, {Reduce{1, 0, 0}, Reduce{2, 0, 0}}), {1.0F, 1e8F, -1e8F}),
            0.0F);
  EXPECT_EQ(rank_0_after(one_step(4, {Reduce{1, 0, 0}, Reduce{2, 0, 0}, Reduce{3, 0, 0}}),
                         {0.0F, 1e8F, -1e8F, 1.0F}),
            1.0F);
  EXPECT_EQ(rank_0_after(one_step(4, {Reduce{3, 0, 0}, Reduce{1, 0, 0}, Reduce{2, 0, 0}}),
                         {0.0F, 1e8F, -1e8F, 1.0F}),
            0.0F);
}

TEST(Reference, CopyReplacesAndLaterReducesAddToIt) {
  const Schedule s = one_step(3, {Copy{1, 0, 0}, Reduce{2, 0, 0}});
  EXPECT_EQ(rank_0_after(s, {100.0F, 3.0F, 4.0F}), 7.0F);
}

TEST(Reference, StepReadsTheStateFromBeforeTheStep) {
  const Schedule exchange = one_step(2, {Reduce{0, 1, 0}, Reduce{1, 0, 0}});
  EXPECT_EQ(run(exchange, ReduceOp::sum, {{3}, {5}}), (std::vector<Ints>{{8}, {8}}));
  const Schedule rotate = one_step(3, {Copy{0, 1, 0}, Copy{1, 2, 0}, Copy{2, 0, 0}});
  EXPECT_EQ(run(rotate, ReduceOp::sum, {{1}, {2}, {3}}), (std::vector<Ints>{{3}, {1}, {2}}));
}

TEST(Reference, SignalMovesNothing) {
  const Schedule s = one_step(2, {Signal{0, 1}, Signal{1, 0}});
  EXPECT_EQ(run(s, ReduceOp::sum, {{1}, {2}}), (std::vector<Ints>{{1}, {2}}));
}

TEST(Reference, SeveralChunksInOneTransferKeepTheirPlaces) {
  Schedule s = one_step(2, {Move{.src = 1, .dst = 0, .src_chunk = 0, .dst_chunk = 1, .count = 2}});
  s.chunks = 3;
  EXPECT_EQ(run(s, ReduceOp::sum, {{1, 2, 3}, {4, 5, 6}})[0], (Ints{1, 4, 5}));
}

// ---- collectives

TEST(Reference, AllToAll_BlocksChangePlaceAndTheRemainderIsLeftAlone) {
  const Schedule s = build(Collective::all_to_all, "pairwise", 3);
  const std::vector<Ints> inputs = {{0, 1, 2, 3, 4, 5, 6},  // blocks of two, one element over
                                    {10, 11, 12, 13, 14, 15, 16},
                                    {20, 21, 22, 23, 24, 25, 26}};
  EXPECT_EQ(run(s, ReduceOp::sum, inputs), (std::vector<Ints>{{0, 1, 10, 11, 20, 21, 6},
                                                              {2, 3, 12, 13, 22, 23, 16},
                                                              {4, 5, 14, 15, 24, 25, 26}}));
}

TEST(Reference, AverageDividesOnlyWhatIsOwed) {
  const Schedule s = build(Collective::reduce_scatter, "ring", 2);
  const auto out = run(s, ReduceOp::avg, {{10, 20}, {-5, 7}});
  EXPECT_EQ(out[0][0], 2);   // 5 / 2, truncated
  EXPECT_EQ(out[1][1], 13);  // 27 / 2
  const auto rooted = run(one_step(2, {Reduce{1, 0, 0}}), ReduceOp::avg, {{-3}, {-4}});
  EXPECT_EQ(rooted[0][0], -3);  // towards zero
}

TEST(Reference, AverageOfAReduceLeavesTheOtherRanksUndivided) {
  Schedule s = one_step(2, {Reduce{1, 0, 0}});
  s.collective = Collective::reduce;
  EXPECT_EQ(run(s, ReduceOp::avg, {{6}, {8}}), (std::vector<Ints>{{7}, {8}}));
}

TEST(Reference, AverageCountsContributorsNotServers) {
  Schedule s = one_step(3, {Copy{1, 0, 0}, Reduce{2, 0, 0}});
  s.servers = 1;
  const Schedule pull = one_step(3, {Copy{0, 1, 0}, Copy{0, 2, 0}});
  Schedule both = then(s, pull);
  EXPECT_EQ(run(both, ReduceOp::avg, {{1000}, {6}, {8}}), (std::vector<Ints>{{14}, {7}, {7}}));
}

TEST(Reference, SixteenBitAverageIsRoundedAfterTheDivisionOnly) {
  const std::vector<ByteBuffer> inputs = {bytes<F16>({to_f16(1.0F)}), bytes<F16>({to_f16(1.0F)}),
                                          bytes<F16>({to_f16(0.0F)})};
  const Schedule s = one_step(3, {Reduce{1, 0, 0}, Reduce{2, 0, 0}});
  const auto out = reference(s, {.count = {1}, .dtype = Dtype::f16, .op = ReduceOp::avg}, inputs);
  EXPECT_EQ(values<F16>(out[0])[0].bits, 0x3955);  // 2/3 rounded to 11 bits
}

TEST(Reference, CopiesKeepAllBitsOfANan) {
  const Schedule s = build(Collective::broadcast, "binomial", 3);
  const auto signalling = bytes<std::uint32_t>({0xff812345});
  const std::vector<ByteBuffer> inputs(3, signalling);
  for (const ByteBuffer& b : reference(s, {.count = {1}}, inputs)) EXPECT_EQ(b, signalling);
}

TEST(Reference, RefusesInputsThatDoNotFitTheSchedule) {
  const Schedule s = ring_all_reduce(2);
  EXPECT_THROW((void)reference(s, {.count = {1}}, {bytes<float>({1})}), Error);
  EXPECT_THROW((void)reference(s, {.count = {2}}, {bytes<float>({1}), bytes<float>({1})}), Error);
}

}  // namespace
}  // namespace collmark
