#include "collectives/cost.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace collmark {
namespace {

/// All that one rank's port and arithmetic do in one step.
struct Load {
  RankCost moved;
  int messages_received = 0;
};

struct ChargedMessage {
  int src;
  int dst;
  Bytes bytes;
};

class Counter {
 public:
  Counter(const Schedule& s, Elements count, Dtype dtype)
      : s_(s),
        part_(s, count),
        size_(static_cast<std::int64_t>(size_of(dtype))),
        loads_(static_cast<std::size_t>(s.ranks)) {}

  /// Every chunk is equally long, so that equal traffic costs the same.
  [[nodiscard]] bool even() const { return part_.chunk(0).size == part_.chunk(s_.chunks - 1).size; }

  /// What each rank does in `step`.
  const std::vector<Load>& load(int step) {
    std::fill(loads_.begin(), loads_.end(), Load{});
    messages_.clear();
    s_.step(step, [&](const Transfer& x) {
      if (x.src == x.dst) return;  // moves nothing over a link, adds nothing
      const Bytes bytes = size(x);
      messages_.push_back({x.src, x.dst, bytes});
      if (x.verb == Verb::reduce) at(x.dst).moved.reduced += bytes;
    });
    merge_pairs();
    for (const ChargedMessage& m : messages_) {
      at(m.src).moved.sent += m.bytes;
      at(m.src).moved.messages += 1;
      at(m.dst).moved.received += m.bytes;
      at(m.dst).messages_received += 1;
    }
    return loads_;
  }

 private:
  Load& at(int rank) { return loads_[static_cast<std::size_t>(rank)]; }

  Bytes size(const Transfer& x) const {
    if (x.count == 0) return {};
    const Span first = part_.chunk(x.src_chunk), last = part_.chunk(x.src_chunk + x.count - 1);
    return {(last.offset + last.size - first.offset).value * size_};
  }

  /// Transfers between the same pair in one step are one message.
  void merge_pairs() {
    const auto pair = [](const ChargedMessage& m) { return std::tie(m.src, m.dst); };
    std::sort(messages_.begin(), messages_.end(),
              [&](const ChargedMessage& a, const ChargedMessage& b) { return pair(a) < pair(b); });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < messages_.size(); ++i) {
      if (pair(messages_[i]) == pair(messages_[kept]))
        messages_[kept].bytes += messages_[i].bytes;
      else
        messages_[++kept] = messages_[i];
    }
    if (!messages_.empty()) messages_.resize(kept + 1);
  }

  const Schedule& s_;
  Partition part_;
  std::int64_t size_;  // [bytes] of an element
  std::vector<Load> loads_;
  std::vector<ChargedMessage> messages_;
};

Seconds step_time(const std::vector<Load>& loads, const LinkCost& link) {
  Seconds port{};
  Bytes reduced{};
  const auto busy = [&](int messages, Bytes bytes) {
    return messages * link.alpha + Seconds(link.beta * static_cast<double>(bytes.value));
  };
  for (const Load& l : loads) {
    port = std::max(
        {port, busy(l.moved.messages, l.moved.sent), busy(l.messages_received, l.moved.received)});
    reduced = std::max(reduced, l.moved.reduced);
  }
  return port + Seconds(link.gamma * static_cast<double>(reduced.value));
}

/// The same traffic, copied only.
std::vector<Load> copied(std::vector<Load> loads) {
  for (Load& l : loads) l.moved.reduced = {};
  return loads;
}

/// A cost that grows by `times` steps of `loads` at a time.
class Sum {
 public:
  Sum(const Schedule& s, const LinkCost& link) : link_(link) {
    total_.steps = s.steps;
    total_.ranks.resize(static_cast<std::size_t>(s.ranks));
  }

  void add(const std::vector<Load>& loads, int times) {
    total_.time += times * step_time(loads, link_);
    for (std::size_t r = 0; r < loads.size(); ++r) {
      const RankCost& moved = loads[r].moved;
      total_.ranks[r].sent += moved.sent * times;
      total_.ranks[r].received += moved.received * times;
      total_.ranks[r].reduced += moved.reduced * times;
      total_.ranks[r].messages += moved.messages * times;
    }
  }

  Cost finished() && {
    for (const RankCost& rank : total_.ranks) {
      total_.busiest = std::max({total_.busiest, rank.sent, rank.received});
      total_.busiest_reduced = std::max(total_.busiest_reduced, rank.reduced);
      total_.busiest_messages = std::max(total_.busiest_messages, rank.messages);
      total_.total += rank.sent;
    }
    return std::move(total_);
  }

 private:
  const LinkCost& link_;
  Cost total_;
};

}  // namespace

Cost cost(const Schedule& s, Elements count, Dtype dtype, const LinkCost& link) {
  Sum sum(s, link);
  Counter counter(s, count, dtype);
  int step = 0;
  for (const TrafficRun& run : traffic_runs(s)) {
    if (counter.even()) {
      const std::vector<Load>& first = counter.load(step);
      const int alike = std::max(1, run.reducing);
      sum.add(first, alike);
      if (run.steps > alike) sum.add(copied(first), run.steps - alike);
    } else {
      for (int i = 0; i < run.steps; ++i) sum.add(counter.load(step + i), 1);
    }
    step += run.steps;
  }
  return std::move(sum).finished();
}

}  // namespace collmark
