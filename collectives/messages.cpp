#include "collectives/messages.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "collectives/index.hpp"
#include "collectives/own_values.hpp"
#include "collectives/promise.hpp"

namespace collmark {
namespace {

/// Writes a rank's program, step after step.
class Writer {
 public:
  Writer(const Schedule& s, int rank, Placement placement)
      : s_(s),
        rank_(rank),
        placement_(placement),
        own_(own_steps(s, rank)),
        values_(s, rank, own_),
        now_(at(s.chunks)),
        last_send_(at(s.chunks) * kPlaces) {}

  MessageProgram run() {
    choose_places();
    for (const OwnStep& own : own_) {
      draft_ = {};
      step_ = {.step = own.step};
      for (const Transfer& x : own.transfers) add(x);
      close();
    }
    deliver_untouched();
    program_.uses_scratch = std::count(place_.begin(), place_.end(), Place::scratch) > 0;
    program_.uses_spare = std::count(place_.begin(), place_.end(), Place::spare) > 0;
    return std::move(program_);
  }

 private:
  struct Draft {
    std::vector<Operand> operands;
    bool replaced = false;
  };

  [[nodiscard]] Slot slot(int version) const {
    const int chunk = values_.flow().version(version).chunk;
    return {.chunk = chunk, .place = place_[at(version)]};
  }
  [[nodiscard]] int version(int chunk) const {
    return values_.flow().life[at(chunk)][at(now_[at(chunk)])];
  }
  [[nodiscard]] Slot current(int chunk) const { return slot(version(chunk)); }
  int& last_send(const Slot& l) {
    return last_send_[at(l.chunk) * kPlaces + at(static_cast<int>(l.place))];
  }

  /// Saves the inputs that are in the way of what overwrites them, unless that can wait for them to leave.
  void choose_places() {
    const Places places(s_, values_.flow(), placement_);
    for (std::size_t v = 0; v < values_.flow().versions.size(); ++v)
      place_.push_back(places.of(static_cast<int>(v)));
    MessageStep first;
    for (const Places::Saved& saved : places.saved()) {
      if (s_.collective != Collective::all_to_all && values_.leaves_in_time(saved.version)) {
        place_[at(saved.version)] = saved.from;
        continue;
      }
      const Slot to = slot(saved.version);
      first.merges.push_back(
          {.to = to, .operands = {{.own = {.chunk = to.chunk, .place = saved.from}}}});
    }
    if (!first.merges.empty()) program_.steps.push_back(std::move(first));
  }

  void add(const Transfer& x) {
    if (x.src == x.dst)
      for (int i = 0; i < x.count; ++i)
        put(x.dst_chunk + i, x.verb, {.own = current(x.src_chunk + i)});
    else if (x.src == rank_)
      send(x);
    else
      receive(x);
  }

  void send(const Transfer& x) {
    RankMessage& message = step_.sends[at(message_with(x.dst, step_.sends))];
    message.reduced |= x.verb == Verb::reduce;
    for (int i = 0; i < x.count; ++i)
      message.parcels.push_back({.slot = current(x.src_chunk + i), .peer_chunk = x.dst_chunk + i});
  }

  /// Where it goes is known when the step is complete; until then it is staged.
  void receive(const Transfer& x) {
    const int index = message_with(x.src, step_.receives);
    RankMessage& message = step_.receives[at(index)];
    message.reduced |= x.verb == Verb::reduce;
    for (int i = 0; i < x.count; ++i) {
      const int chunk = x.dst_chunk + i, parcel = static_cast<int>(message.parcels.size());
      message.parcels.push_back(
          {.slot = {.chunk = chunk}, .peer_chunk = x.src_chunk + i, .staged = true});
      put(chunk, x.verb, {.received = {.message = index, .parcel = parcel}});
    }
  }

  /// Its index in the list, where it is put if it is the pair's first transfer of this step.
  static int message_with(int peer, std::vector<RankMessage>& list) {
    const auto same = [&](const RankMessage& m) { return m.peer == peer; };
    const auto found = std::find_if(list.begin(), list.end(), same);
    const auto index = static_cast<int>(found - list.begin());
    if (found == list.end()) list.push_back({.peer = peer});
    return index;
  }

  void put(int chunk, Verb verb, const Operand& operand) {
    Draft& draft = draft_[chunk];
    if (verb == Verb::copy) draft.operands.clear();
    draft.replaced |= verb == Verb::copy;
    draft.operands.push_back(operand);
  }

  /// Ends the step: own values take their place in the order, new versions come into being.
  void close() {
    for (auto& [chunk, draft] : draft_) {
      const auto names_own = [&, own = current(chunk)](const Operand& o) {
        return o.received.message == kNone && o.own == own;
      };
      std::vector<Operand>& operands = draft.operands;
      if (!draft.replaced && std::none_of(operands.begin(), operands.end(), names_own))
        operands.insert(operands.begin(), {.own = current(chunk)});
    }
    for (auto& [chunk, draft] : draft_) {
      ++now_[at(chunk)];
      const Slot to = current(chunk);
      step_.sends_before = std::max(step_.sends_before, last_send(to));
      const ParcelIndex first = draft.operands.front().received;
      if (draft.operands.size() == 1 && first.message != kNone) {
        Parcel& landing = parcel(step_.receives, first);
        landing.slot = to;
        landing.staged = false;
        continue;
      }
      step_.merges.push_back({.to = to, .operands = std::move(draft.operands)});
    }
    link_merges();
    sends_ += static_cast<int>(step_.sends.size());
    for (const RankMessage& m : step_.sends)
      for (const Parcel& p : m.parcels) last_send(p.slot) = sends_;
    program_.steps.push_back(std::move(step_));
  }

  static Parcel& parcel(std::vector<RankMessage>& messages, const ParcelIndex& i) {
    return messages[at(i.message)].parcels[at(i.parcel)];
  }

  /// Tells each parcel which merge reads it, or overwrites it once it has left.
  void link_merges() {
    std::map<std::pair<int, Place>, int> writer;
    for (std::size_t m = 0; m < step_.merges.size(); ++m) {
      const Merge& merge = step_.merges[m];
      writer[{merge.to.chunk, merge.to.place}] = static_cast<int>(m);
      for (const Operand& o : merge.operands)
        if (o.received.message != kNone)
          parcel(step_.receives, o.received).merge = static_cast<int>(m);
    }
    for (std::size_t m = 0; m < step_.sends.size(); ++m) {
      std::vector<Parcel>& parcels = step_.sends[m].parcels;
      for (std::size_t p = 0; p < parcels.size(); ++p) {
        const auto found = writer.find({parcels[p].slot.chunk, parcels[p].slot.place});
        if (found == writer.end()) continue;
        parcels[p].merge = found->second;
        step_.merges[at(found->second)].behind.push_back(
            {.message = static_cast<int>(m), .parcel = static_cast<int>(p)});
      }
    }
  }

  /// A chunk that is owed and was never written: out of place it still has to reach the output.
  void deliver_untouched() {
    if (placement_ == Placement::in_place || s_.collective == Collective::barrier) return;
    MessageStep last{.step = s_.steps};
    for (int c = 0; c < s_.chunks; ++c) {
      const std::vector<int>& life = values_.flow().life[at(c)];
      const bool owed = owed_after(s_, rank_, c).what != Owed::What::nothing;
      if (!owed || life.size() > 1 || values_.flow().version(life.front()).empty) continue;
      last.merges.push_back(
          {.to = {.chunk = c, .place = Place::output}, .operands = {{.own = slot(life.front())}}});
    }
    if (!last.merges.empty()) program_.steps.push_back(std::move(last));
  }

  const Schedule& s_;
  int rank_;
  Placement placement_;
  std::vector<OwnStep> own_;
  OwnValues values_;
  std::vector<Place> place_;    // [version]
  std::vector<int> now_;        // [chunk]: index into its life
  std::vector<int> last_send_;  // [chunk * kPlaces + place]: sends up to the last that reads it
  int sends_ = 0;               // so far
  std::map<int, Draft> draft_;  // [chunk]: what this step writes
  MessageStep step_;
  MessageProgram program_;
};

}  // namespace

MessageProgram message_program(const Schedule& s, int rank, Placement placement) {
  return Writer(s, rank, placement).run();
}

}  // namespace collmark
