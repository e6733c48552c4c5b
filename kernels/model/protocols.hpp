/// The protocols of the kernels without their data, run by Relacy under a weak memory model, where a thread may see old
/// values of whatever no order forbids. x86 never shows that, and a GPU may.
#pragma once

namespace collmark::model {

// Each is told what to do wrong, and says whether the protocol held in many random executions.

/// kernels/links.hpp: tail and head of one link.
enum class LinkFault { none, relaxed_tail, relaxed_head, relaxed_wait, credit_too_many };
[[nodiscard]] bool link_holds(LinkFault fault);

/// The same with lines that carry their flags, two words in each: their accesses are relaxed, and there is no tail.
enum class LowLatencyLinkFault {
  none,
  relaxed_head,
  relaxed_wait,
  credit_too_many,
  first_flag_only,
  second_flag_only
};
[[nodiscard]] bool low_latency_link_holds(LowLatencyLinkFault fault);

/// kernels/block.hpp: all ranks meet before they read each other's data, and again before they change it.
enum class MeetingFault { none, relaxed_arrival, relaxed_wait, none_at_the_end };
[[nodiscard]] bool meeting_holds(MeetingFault fault);

/// kernels/low_latency.hpp: two ranks send each other a line of two words in every launch; all accesses are relaxed.
enum class LowLatencyFault { none, one_flag, one_inbox };
[[nodiscard]] bool low_latency_holds(LowLatencyFault fault);

}  // namespace collmark::model
