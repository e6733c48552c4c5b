#include "kernels/model/protocols.hpp"

#include <gtest/gtest.h>

namespace collmark::model {
namespace {

TEST(ModelOfALink, HoldsAndNoOrderOrCreditCanBeSpared) {
  EXPECT_TRUE(link_holds(LinkFault::none));
  EXPECT_FALSE(link_holds(LinkFault::relaxed_tail));
  EXPECT_FALSE(link_holds(LinkFault::relaxed_head));
  EXPECT_FALSE(link_holds(LinkFault::relaxed_wait));
  EXPECT_FALSE(link_holds(LinkFault::credit_too_many));
}

TEST(ModelOfALowLatencyLink, HoldsWithRelaxedWordsAndNoFlagCreditOrOrderOfCreditsCanBeSpared) {
  EXPECT_TRUE(low_latency_link_holds(LowLatencyLinkFault::none));
  EXPECT_FALSE(low_latency_link_holds(LowLatencyLinkFault::relaxed_head));
  EXPECT_FALSE(low_latency_link_holds(LowLatencyLinkFault::relaxed_wait));
  EXPECT_FALSE(low_latency_link_holds(LowLatencyLinkFault::credit_too_many));
  EXPECT_FALSE(low_latency_link_holds(LowLatencyLinkFault::first_flag_only));
  EXPECT_FALSE(low_latency_link_holds(LowLatencyLinkFault::second_flag_only));
}

TEST(ModelOfAMeeting, HoldsAndNeitherOrderNorEndCanBeSpared) {
  EXPECT_TRUE(meeting_holds(MeetingFault::none));
  EXPECT_FALSE(meeting_holds(MeetingFault::relaxed_arrival));
  EXPECT_FALSE(meeting_holds(MeetingFault::relaxed_wait));
  EXPECT_FALSE(meeting_holds(MeetingFault::none_at_the_end));
}

TEST(ModelOfLowLatency, HoldsWithRelaxedWordsAndNeitherFlagNorInboxCanBeSpared) {
  EXPECT_TRUE(low_latency_holds(LowLatencyFault::none));
  EXPECT_FALSE(low_latency_holds(LowLatencyFault::one_flag));
  EXPECT_FALSE(low_latency_holds(LowLatencyFault::one_inbox));
}

}  // namespace
}  // namespace collmark::model
