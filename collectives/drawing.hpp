/// Schedules as text drawings.
#pragma once

#include <string>
#include <vector>

#include "collectives/holdings.hpp"
#include "collectives/schedule.hpp"

namespace collmark {

/// All that one rank sends another in one step with one verb.
struct Message {
  int src;
  int dst;
  Verb verb;
  std::vector<int> src_chunks;
  std::vector<int> dst_chunks;  // of the same length
};

/// In order of their first transfer.
[[nodiscard]] std::vector<Message> messages(const Schedule& s, int step);

/// One line per message, ranks as columns:
///
///          0       1       2
///          |--+c0->|       |    rank 1 adds chunk 0 from rank 0
///          |<-----+c2------|    rank 0 adds chunk 2 from rank 2
[[nodiscard]] std::string draw_messages(const Schedule& s, const std::vector<Message>& list);

/// What every rank holds, one line per rank; a star marks what the last step wrote.
[[nodiscard]] std::string draw_holdings(const Schedule& s, const Holdings& holdings);

}  // namespace collmark
