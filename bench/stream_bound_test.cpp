#include "bench/stream_bound.hpp"

#include <gtest/gtest.h>

#include "collectives/error.hpp"

namespace collmark {
namespace {

TEST(StreamBound, CountsWhatAFusedTwoShotMoves) {
  for (const int ranks : {1, 2, 3})
    for (const int count : {1, 2, 1003, 65536}) {  // fewer than ranks, and not divisible
      const StreamBound bound = stream_bound(ranks, {count}, {.repetitions = 1});
      EXPECT_EQ(bound.moved, Bytes{2LL * ranks * count * 4}) << ranks << " ranks, count " << count;
    }
}

TEST(StreamBound, BandwidthIsBytesOverTime) {
  for (const Stores stores : {Stores::cached, Stores::streaming}) {
    const StreamBound bound = stream_bound(2, {1 << 18}, {.stores = stores, .repetitions = 3});
    EXPECT_GT(bound.time.count(), 0.0);
    EXPECT_DOUBLE_EQ(bound.bytes_per_second * bound.time.count(),
                     static_cast<double>(bound.moved.value));
    EXPECT_GT(bound.bytes_per_second, 1e6);   // less than 1 MB/s would be a wrong unit,
    EXPECT_LT(bound.bytes_per_second, 1e13);  // and so would 10 TB/s
  }
}

TEST(StreamBound, RefusesWhatMovesNothing) {
  EXPECT_THROW((void)stream_bound(0, {1}), Error);
  EXPECT_THROW((void)stream_bound(1, {0}), Error);
  EXPECT_THROW((void)stream_bound(1, {1}, {.repetitions = 0}), Error);
}

}  // namespace
}  // namespace collmark
