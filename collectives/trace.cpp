#include "collectives/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "collectives/drawing.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

/// One rank in one step: what it does, and how long either direction of its port is busy.
struct Box {
  std::vector<std::string> doings = {};
  Seconds sending{}, receiving{}, reducing{};

  [[nodiscard]] Seconds busy() const { return std::max(sending, receiving) + reducing; }
};

class Trace {
 public:
  Trace(const Schedule& s, const TraceLoad& load) : s_(s), load_(load), part_(s, load.count) {}

  std::string json() {
    for (int r = 0; r < s_.ranks; ++r) name_row(r);
    for (int t = 0; t < s_.steps; ++t) step(t);
    return fmt::format("{{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n{}]}}\n", events_);
  }

 private:
  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    if (!events_.empty()) events_ += ",\n";
    fmt::format_to(std::back_inserter(events_), format, std::forward<Args>(args)...);
  }

  void name_row(int rank) {
    event(
        R"({{"ph": "M", "pid": 0, "tid": {0}, "name": "thread_name", "args": {{"name": "rank {0}"}}}})",
        rank);
    event(
        R"({{"ph": "M", "pid": 0, "tid": {0}, "name": "thread_sort_index", "args": {{"sort_index": {0}}}}})",
        rank);
  }

  void step(int t) {
    std::vector<Box> boxes(static_cast<std::size_t>(s_.ranks));
    // A flow may begin only inside a box that has a length, so arrows follow when all are known.
    std::vector<Arrow> arrows;
    pairs_.clear();
    for (const Message& m : messages(s_, t)) add(m, boxes, arrows);
    Seconds longest_port{}, longest_reducing{};
    for (int r = 0; r < s_.ranks; ++r) {
      const Box& box = boxes[static_cast<std::size_t>(r)];
      longest_port = std::max({longest_port, box.sending, box.receiving});
      longest_reducing = std::max(longest_reducing, box.reducing);
      if (!box.doings.empty())
        event(
            R"({{"ph": "X", "pid": 0, "tid": {}, "ts": {}, "dur": {}, "name": "{}", "args": {{"step": {}}}}})",
            r, us(now_), us(box.busy()), fmt::join(box.doings, ", "), t);
    }
    for (const Arrow& a : arrows) draw(a);
    now_ += longest_port + longest_reducing;
  }

  struct Arrow {
    int src, dst;
    Seconds leaves, arrives;  // since the step began
  };

  void add(const Message& m, std::vector<Box>& boxes, std::vector<Arrow>& arrows) {
    Box& from = boxes[static_cast<std::size_t>(m.src)];
    Box& to = boxes[static_cast<std::size_t>(m.dst)];
    const bool first_of_pair = pairs_.insert({m.src, m.dst}).second;  // the rest travels with it
    const Seconds on_the_wire =
        (first_of_pair ? load_.link.alpha : Seconds{}) + Seconds(load_.link.beta * bytes(m));
    const std::string what =
        m.verb == Verb::signal ? "signal" : fmt::format("c{}", m.src_chunks.front());
    const std::string more =
        m.src_chunks.size() > 1 ? fmt::format(" + {}", m.src_chunks.size() - 1) : "";
    if (m.verb == Verb::reduce && m.src != m.dst)
      to.reducing += Seconds(load_.link.gamma * bytes(m));
    if (m.src == m.dst) return;
    if (++message_count_ > kMostTraceMessages)
      throw Error(ErrorKind::usage,
                  fmt::format("a trace of more than {} messages cannot be looked at; take fewer "
                              "ranks or chunks",
                              kMostTraceMessages));
    arrows.push_back({m.src, m.dst, from.sending, to.receiving + on_the_wire});
    from.sending += on_the_wire;
    to.receiving += on_the_wire;
    from.doings.push_back(fmt::format("send {}{} -> {}", what, more, m.dst));
    to.doings.push_back(
        fmt::format("{} {}{} <- {}", m.verb == Verb::reduce ? "add" : "get", what, more, m.src));
  }

  void draw(const Arrow& a) {
    constexpr double kJustInside = 0.999;  // viewers tie an arrow's end to the box around it
    event(
        R"({{"ph": "s", "pid": 0, "tid": {}, "ts": {}, "id": {}, "name": "message", "cat": "message"}})",
        a.src, us(now_ + a.leaves), message_id_);
    event(
        R"({{"ph": "f", "bp": "e", "pid": 0, "tid": {}, "ts": {}, "id": {}, "name": "message", "cat": "message"}})",
        a.dst, us(now_ + a.arrives * kJustInside), message_id_);
    ++message_id_;
  }

  [[nodiscard]] double bytes(const Message& m) const {
    std::int64_t elements = 0;
    for (const int c : m.dst_chunks) elements += part_.chunk(c).size.value;
    return static_cast<double>(elements) * static_cast<double>(size_of(load_.dtype));
  }

  static std::string us(Seconds time) { return fmt::format("{:.6f}", time.count() * 1e6); }

  const Schedule& s_;
  const TraceLoad& load_;
  Partition part_;
  std::string events_ = {};
  std::set<std::pair<int, int>> pairs_ = {};  // that exchanged a message in this step
  Seconds now_{};
  int message_count_ = 0;
  int message_id_ = 0;
};

}  // namespace

std::string trace_json(const Schedule& s, const TraceLoad& load) { return Trace(s, load).json(); }

}  // namespace collmark
