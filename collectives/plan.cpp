#include "collectives/plan.hpp"

#include <algorithm>
#include <utility>

#include "collectives/index.hpp"
#include "collectives/promise.hpp"

namespace collmark {
namespace {

constexpr int kUnknown = -1;
constexpr std::size_t kMostClockEntries = std::size_t{1}
                                          << 24;  // [ints], 64 MiB: beyond it waits are not thinned

/// Who touched a location last, so that the next writer can wait for them.
struct Accesses {
  Wait writer{.peer = kUnknown, .actions = 0};
  std::vector<Wait> readers;  // since that write
};

class Planner {
 public:
  Planner(const Schedule& s, Placement placement)
      : s_(s), flow_(dataflow(s)), places_(s, flow_, placement) {
    plan_.placement = placement;
    plan_.ranks.resize(at(s.ranks));
    accesses_.resize(flow_.life.size() * kPlaces);
    fused_.resize(flow_.combines.size());
    host_.resize(flow_.combines.size(), kUnknown);
    known_.assign(at(s.ranks), std::vector<int>(at(s.ranks), kUnknown));
    clocks_.resize(at(s.ranks));
    thin_ = (flow_.combines.size() + 1) * at(s.ranks) < kMostClockEntries;
  }

  Plan run() {
    for (const Places::Saved& save : places_.saved()) add_local_copy(save.version, save.from);
    for (std::size_t c = 0; c < flow_.combines.size(); ++c)
      if (!fused_[c]) add(static_cast<int>(c));
    for (int rank = 0; rank < s_.ranks; ++rank)
      for (int chunk = 0; chunk < s_.chunks; ++chunk) deliver_untouched(rank, chunk);
    for (int rank = 0; rank < s_.ranks; ++rank) add_leave(rank);
    return std::move(plan_);
  }

 private:
  RankPlan& rank_plan(int rank) { return plan_.ranks[at(rank)]; }
  [[nodiscard]] Location location(int version) const {
    const Version& v = flow_.version(version);
    return {.rank = v.rank, .chunk = v.chunk, .place = places_.of(version)};
  }
  Accesses& accesses(const Location& l) {
    // In place, all_to_all's input block b and output block b are the same memory.
    int chunk = l.chunk;
    if (l.place == Place::input && plan_.placement == Placement::in_place) chunk += s_.ranks;
    const Place place =
        l.place == Place::input && plan_.placement == Placement::in_place ? Place::output : l.place;
    return accesses_[(at(l.rank) * at(s_.chunks) + at(chunk)) * kPlaces +
                     static_cast<std::size_t>(place)];
  }

  /// Records that `rank` must wait, unless it follows from what it already knows.
  void need(int rank, Action& action, Wait wait) {
    if (wait.peer == kUnknown || wait.peer == rank) return;
    std::vector<int>& known = known_[at(rank)];
    if (known[at(wait.peer)] >= wait.actions) return;
    known[at(wait.peer)] = wait.actions;
    if (wait.actions > 0) rank_plan(wait.peer).actions[at(wait.actions - 1)].announced = true;
    if (wait.actions > 0 && thin_) {
      const std::vector<int>& theirs = clocks_[at(wait.peer)][at(wait.actions - 1)];
      for (std::size_t p = 0; p < known.size(); ++p) known[p] = std::max(known[p], theirs[p]);
    }
    std::erase_if(action.waits, [&](const Wait& w) { return w.peer == wait.peer; });
    action.waits.push_back(wait);
  }

  /// Strongest waits first: fewer are left after those that follow are dropped.
  void need_all(int rank, Action& action, std::vector<Wait> waits) {
    std::sort(waits.begin(), waits.end(),
              [](const Wait& a, const Wait& b) { return a.actions > b.actions; });
    for (const Wait& w : waits) need(rank, action, w);
  }

  Action& begin(int rank, int step) {
    rank_plan(rank).actions.push_back(
        {.step = std::max(step, 0), .sources = {}, .destinations = {}, .waits = {}, .edges = {}});
    return rank_plan(rank).actions.back();
  }

  /// Works out the waits of a finished action and books its reads and writes.
  void commit(int rank, Action& action) {
    const Wait done{.peer = rank, .actions = static_cast<int>(rank_plan(rank).actions.size())};
    std::vector<Wait> waits;
    for (const Location& l : action.sources) {
      const Wait& writer = accesses(l).writer;
      waits.push_back(writer.peer != kUnknown ? writer : Wait{.peer = l.rank, .actions = 0});
    }
    for (const Location& l : action.destinations) {
      waits.push_back({.peer = l.rank, .actions = 0});
      waits.push_back(accesses(l).writer);
      for (const Wait& reader : accesses(l).readers) waits.push_back(reader);
    }
    need_all(rank, action, std::move(waits));
    for (const Location& l : action.sources) accesses(l).readers.push_back(done);
    for (const Location& l : action.destinations) accesses(l) = {.writer = done, .readers = {}};
    note_scratch(action);
    finish(rank);
  }

  void note_scratch(const Action& action) {
    for (const auto* list : {&action.sources, &action.destinations}) {
      for (const Location& l : *list) {
        rank_plan(l.rank).uses_scratch |= l.place == Place::scratch;
        rank_plan(l.rank).uses_spare |= l.place == Place::spare;
      }
    }
  }

  void finish(int rank) {
    known_[at(rank)][at(rank)] = static_cast<int>(rank_plan(rank).actions.size());
    if (thin_) clocks_[at(rank)].push_back(known_[at(rank)]);
  }

  void add_local_copy(int version, Place from) {
    const Version& v = flow_.version(version);
    Action& action = begin(v.rank, 0);
    action.sources = {{.rank = v.rank, .chunk = v.chunk, .place = from}};
    action.destinations = {location(version)};
    commit(v.rank, action);
  }

  void add(int c) {
    const Combine& combine = flow_.combine(c);
    Action& action = begin(combine.rank, combine.step);
    action.edges = combine.edges;
    host_[at(c)] = combine.rank;
    if (combine.chunk < 0) return add_signals(combine, action);
    for (const int v : combine.sources) action.sources.push_back(location(v));
    action.destinations = {location(combine.made)};
    if (combine.sources.size() > 1) fuse_copies(c, action);
    action.unread = is_unread(c);
    commit(combine.rank, action);
  }

  /// Nobody reads what combine `c` makes, but for the copies that its own pass stores, which nobody reads.
  [[nodiscard]] bool is_unread(int c) const {
    const std::vector<int>& readers = flow_.version(flow_.combine(c).made).readers;
    return std::all_of(readers.begin(), readers.end(), [&](int reader) {
      const Version& copy = flow_.version(flow_.combine(reader).made);
      return fused_[at(reader)] != 0 && copy.readers.empty();
    });
  }

  /// A signal says: the sender has done all that it does before this step.
  void add_signals(const Combine& combine, Action& action) {
    for (const Edge& e : combine.edges) {
      const std::vector<Action>& theirs = rank_plan(e.src).actions;
      const auto before = std::count_if(theirs.begin(), theirs.end(),
                                        [&](const Action& a) { return a.step < combine.step; });
      need(combine.rank, action, {.peer = e.src, .actions = static_cast<int>(before)});
    }
    finish(combine.rank);
  }

  /// Copies of what combine `c` makes, from its own rank to a peer: stored by the same pass where possible.
  void fuse_copies(int c, Action& action) {
    const Combine& reduce = flow_.combine(c);
    for (const int reader : flow_.version(reduce.made).readers) {
      const Combine& copy = flow_.combine(reader);
      if (copy.sources.size() != 1 || copy.rank == reduce.rank || !is_free_by(c, reader)) continue;
      action.destinations.push_back(location(copy.made));
      action.edges.insert(action.edges.end(), copy.edges.begin(), copy.edges.end());
      fused_[at(reader)] = true;
      host_[at(reader)] = host_[at(c)];
    }
  }

  /// May combine `c` already write where `copy` will? Every use of that memory until then must lie in an earlier
  /// step, or precede it on its rank, or be this very pass (which reads each element before it writes it).
  [[nodiscard]] bool is_free_by(int c, int copy) const {
    const Combine& reduce = flow_.combine(c);
    const Combine& target = flow_.combine(copy);
    const Place place = places_.of(target.made);
    const auto harmless = [&](int use) {
      if (use < 0) return true;
      return flow_.combine(use).step < reduce.step || host_[at(use)] == reduce.rank;
    };
    for (const int v : flow_.versions_of(target.rank, target.chunk)) {
      if (v == target.made) return true;
      const Version& old = flow_.version(v);
      if (places_.of(v) != place) continue;
      if (!harmless(old.made_by)) return false;
      if (!std::all_of(old.readers.begin(), old.readers.end(), harmless)) return false;
    }
    return false;
  }

  /// A chunk that is owed and was never written: out of place it still has to reach the output.
  void deliver_untouched(int rank, int chunk) {
    const std::vector<int>& life = flow_.versions_of(rank, chunk);
    const bool owed = owed_after(s_, rank, chunk).what != Owed::What::nothing;
    if (!owed || life.size() > 1 || flow_.version(life.front()).empty) return;
    if (plan_.placement == Placement::in_place || s_.collective == Collective::barrier) return;
    Action& action = begin(rank, s_.steps);
    action.sources = {location(life.front())};
    action.destinations = {{.rank = rank, .chunk = chunk, .place = Place::output}};
    action.unread = true;
    commit(rank, action);
  }

  void add_leave(int rank) {
    std::vector<Wait> waits;
    for (int chunk = 0; chunk < s_.chunks; ++chunk) {
      for (int place = 0; place < kPlaces; ++place) {
        const Accesses& a = accesses_[(at(rank) * at(s_.chunks) + at(chunk)) * kPlaces + at(place)];
        waits.push_back(a.writer);
        waits.insert(waits.end(), a.readers.begin(), a.readers.end());
      }
    }
    Action leaving{.sources = {}, .destinations = {}, .waits = {}, .edges = {}};
    need_all(rank, leaving, std::move(waits));
    rank_plan(rank).leave = std::move(leaving.waits);
  }

  const Schedule& s_;
  Dataflow flow_;
  Places places_;
  Plan plan_;
  std::vector<Accesses> accesses_;  // [(rank * chunks + chunk) * kPlaces + place]
  std::vector<char> fused_;         // [combine]
  std::vector<int> host_;           // [combine]: rank that executes it; unknown = not yet placed
  std::vector<std::vector<int>> known_;  // [rank][peer]: actions of peer known to be done
  std::vector<std::vector<std::vector<int>>> clocks_;  // [rank][action]: known_ when it was done
  bool thin_ = true;
};

}  // namespace

Plan plan(const Schedule& s, Placement placement) { return Planner(s, placement).run(); }

}  // namespace collmark
