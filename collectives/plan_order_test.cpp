// Plans carried out symbolically, by one thread: values, and who is known to have done what.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "collectives/catalogue.hpp"
#include "collectives/index.hpp"
#include "collectives/plan.hpp"
#include "collectives/promise.hpp"
#include "collectives/random_schedule.hpp"

namespace collmark {
namespace {

using Cell = std::tuple<int, int, Place>;  // rank, chunk, place: one piece of memory
using Clock = std::vector<int>;            // [rank]: actions known to be done; 0: has entered

/// Sums as numbers: equal if and only if they add the same values in the same order.
class Sums {
 public:
  int of(const std::vector<int>& values) {
    if (values.size() == 1) return values[0];
    return ids_.emplace(values, static_cast<int>(ids_.size())).first->second;
  }
  int input(int rank, int chunk) { return of({-1, rank, chunk}); }

 private:
  std::map<std::vector<int>, int> ids_;
};

/// What each chunk of each rank holds when the schedule ends, by the meaning of a schedule alone; -1: nothing.
std::map<std::pair<int, int>, int> meaning(const Schedule& s, Sums& sums) {
  std::map<std::pair<int, int>, int> held;
  for (int r = 0; r < s.ranks; ++r)
    for (int c = 0; c < s.chunks; ++c) held[{r, c}] = held_before(s, r, c) ? sums.input(r, c) : -1;
  for (int t = 0; t < s.steps; ++t) {
    std::map<std::pair<int, int>, std::vector<int>> arrived;
    std::set<std::pair<int, int>> own_is_placed;
    s.step(t, [&](const Transfer& x) {
      for (int i = 0; i < x.count; ++i) {
        const std::pair to{x.dst, x.dst_chunk + i};
        if (x.verb == Verb::copy) arrived[to].clear();
        if (x.verb == Verb::copy || (x.src == x.dst && x.src_chunk == x.dst_chunk))
          own_is_placed.insert(to);
        arrived[to].push_back(held[{x.src, x.src_chunk + i}]);
      }
    });
    std::map<std::pair<int, int>, int> after = held;
    for (auto& [to, values] : arrived) {
      if (!own_is_placed.contains(to)) values.insert(values.begin(), held[to]);
      after[to] = sums.of(values);
    }
    held = after;
  }
  return held;
}

/// Carries a plan out, in one of the orders that its waits allow, and reports what others could break.
class Rehearsal {
 public:
  Rehearsal(const Schedule& s, Placement placement)
      : s_(s), plan_(plan(s, placement)), in_place_(placement == Placement::in_place) {
    clocks_.assign(at(s.ranks), Clock(at(s.ranks), -1));
    history_.resize(at(s.ranks));
    for (int r = 0; r < s.ranks; ++r) {
      clocks_[at(r)][at(r)] = 0;
      for (int c = 0; c < s.chunks; ++c)
        if (held_before(s, r, c)) memory_[cell({r, c, Place::input})].value = sums_.input(r, c);
    }
    while (any_rank_goes_on()) {
    }
    for (int r = 0; r < s.ranks; ++r) leave(r);
  }

  [[nodiscard]] const std::set<std::string>& faults() const { return faults_; }

 private:
  struct Access {
    int rank;
    int action;
  };
  struct Content {
    int value = -1;
    std::optional<Access> writer;
    std::vector<Access> readers;  // since then
    const Action* maker = nullptr;
  };

  [[nodiscard]] Cell cell(const Location& l) const {
    const Place place = in_place_ && l.place == Place::input ? Place::output : l.place;
    const bool callers = place == Place::input || place == Place::output;
    if (!callers || s_.collective != Collective::all_to_all) return {l.rank, l.chunk, place};
    // Input block b and output block b are chunks b and ranks + b, each in its own half of a scratch buffer,
    // but at one offset of the caller's buffers.
    return {l.rank, s_.ranks + l.chunk % s_.ranks, place};
  }

  bool any_rank_goes_on() {
    bool moved = false;
    for (int r = 0; r < s_.ranks; ++r) {
      const std::vector<Action>& actions = plan_.ranks[at(r)].actions;
      const std::size_t next = history_[at(r)].size();
      if (next == actions.size() || !all_done(actions[next].waits)) continue;
      perform(r, actions[next]);
      moved = true;
    }
    return moved;
  }

  [[nodiscard]] bool all_done(const std::vector<Wait>& waits) const {
    return std::all_of(waits.begin(), waits.end(), [&](const Wait& w) {
      return static_cast<int>(history_[at(w.peer)].size()) >= w.actions;
    });
  }

  void wait(int rank, const std::vector<Wait>& waits) {
    Clock& mine = clocks_[at(rank)];
    const Clock before = mine;
    for (const Wait& w : waits) {
      expect(before[at(w.peer)] < w.actions, rank, "waits for what it knows already");
      mine[at(w.peer)] = std::max(mine[at(w.peer)], w.actions);
      if (w.actions == 0) continue;
      const Clock& theirs = history_[at(w.peer)][at(w.actions - 1)];
      std::transform(mine.begin(), mine.end(), theirs.begin(), mine.begin(),
                     [](int a, int b) { return std::max(a, b); });
    }
  }

  void perform(int rank, const Action& action) {
    wait(rank, action.waits);
    const Access me{rank, static_cast<int>(history_[at(rank)].size())};
    std::vector<int> values;
    for (const Location& l : action.sources) {
      note_place(l);
      Content& from = memory_[cell(l)];
      expect(knows(rank, l.rank, 0), rank, "reads from a rank that may not have entered");
      if (from.writer) expect(knows(rank, *from.writer), rank, "reads what may not be there yet");
      expect(from.value >= 0, rank, "reads what was never written");
      read_.insert(from.maker);
      from.readers.push_back(me);
      values.push_back(from.value);
    }
    for (const Location& l : action.destinations) {
      note_place(l);
      Content& to = memory_[cell(l)];
      expect(knows(rank, l.rank, 0), rank, "writes to a rank that may not have entered");
      expect_nobody_uses(to, me);
      to = {.value = sums_.of(values), .writer = me, .readers = {}, .maker = &action};
    }
    if (action.sources.empty())
      for (const Edge& e : action.edges) expect_signal(rank, e.src, action.step);
    clocks_[at(rank)][at(rank)] = me.action + 1;
    history_[at(rank)].push_back(clocks_[at(rank)]);
  }

  void leave(int rank) {
    wait(rank, plan_.ranks[at(rank)].leave);
    const Access me{rank, -1};
    for (const auto& [where, content] : memory_)
      if (std::get<0>(where) == rank) expect_nobody_uses(content, me);
    if (s_.collective == Collective::barrier)
      for (int r = 0; r < s_.ranks; ++r)
        expect(knows(rank, r, 0), rank, "leaves the barrier early");
    const std::map<std::pair<int, int>, int> held = meaning(s_, sums_);
    for (int c = 0; c < s_.chunks && s_.collective != Collective::barrier; ++c)
      if (owed_after(s_, rank, c).what != Owed::What::nothing && held.at({rank, c}) >= 0)
        expect(memory_[{rank, c, Place::output}].value == held.at({rank, c}), rank,
               "ends with something else in its output");
    for (const Action& action : plan_.ranks[at(rank)].actions)
      if (!action.sources.empty())
        expect(action.unread != read_.contains(&action), rank,
               "writes past the caches what is read again, or the reverse");
    expect(plan_.ranks[at(rank)].uses_scratch == used_.contains({rank, Place::scratch}), rank,
           "gets scratch memory without using it, or the reverse");
    expect(plan_.ranks[at(rank)].uses_spare == used_.contains({rank, Place::spare}), rank,
           "gets spare memory without using it, or the reverse");
  }

  /// The sender has done all that it does before the step.
  void expect_signal(int rank, int sender, int step) {
    const std::vector<Action>& theirs = plan_.ranks[at(sender)].actions;
    const auto before =
        std::count_if(theirs.begin(), theirs.end(), [&](const Action& a) { return a.step < step; });
    expect(knows(rank, sender, static_cast<int>(before)), rank, "takes a signal too early");
  }

  void expect_nobody_uses(const Content& content, const Access& me) {
    if (content.writer && content.writer->rank != me.rank)
      expect(knows(me.rank, *content.writer), me.rank, "overtakes a writer");
    for (const Access& reader : content.readers)
      if (reader.rank != me.rank) expect(knows(me.rank, reader), me.rank, "overtakes a reader");
  }

  void note_place(const Location& l) { used_.insert({l.rank, l.place}); }
  [[nodiscard]] bool knows(int rank, const Access& a) const {
    return knows(rank, a.rank, a.action + 1);
  }
  [[nodiscard]] bool knows(int rank, int peer, int actions) const {
    return clocks_[at(rank)][at(peer)] >= actions;
  }
  void expect(bool holds, int rank, const char* otherwise) {
    if (!holds) faults_.insert(fmt::format("rank {} {}", rank, otherwise));
  }

  const Schedule& s_;
  Plan plan_;
  bool in_place_;
  Sums sums_;
  std::map<Cell, Content> memory_;
  std::vector<Clock> clocks_;                // [rank], now
  std::vector<std::vector<Clock>> history_;  // [rank][action], after it
  std::set<std::pair<int, Place>> used_;
  std::set<const Action*> read_;  // whose results were read
  std::set<std::string> faults_;
};

TEST(Plan, RandomSchedules_GiveTheirSums_AndNoTwoRanksMeetAtOneChunk) {
  std::mt19937 random(20'261'129);
  for (int i = 0; i < 4'000; ++i) {
    for (const Collective collective : {Collective::all_reduce, Collective::all_to_all}) {
      const Schedule s = random_schedule(random, collective);
      for (const Placement placement : {Placement::in_place, Placement::out_of_place})
        ASSERT_EQ(Rehearsal(s, placement).faults(), std::set<std::string>{})
            << name(collective) << (placement == Placement::in_place ? " in place, " : ", ")
            << listed(s);
    }
  }
}

using Case = std::tuple<int, Placement>;
class EveryPlan : public testing::TestWithParam<Case> {};

TEST_P(EveryPlan, GivesTheSchedulesSums_AndNoTwoRanksMeetAtOneChunk) {
  const auto [ranks, placement] = GetParam();
  for (const Algorithm& a : catalogue()) {
    try {
      const Schedule s = build(a.collective, a.name, ranks);
      EXPECT_EQ(Rehearsal(s, placement).faults(), std::set<std::string>{})
          << name(a.collective) << " " << a.name;
    } catch (const Unsupported&) {
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, EveryPlan,
                         testing::Combine(testing::Range(1, 10),
                                          testing::Values(Placement::in_place,
                                                          Placement::out_of_place)));

}  // namespace
}  // namespace collmark
