#include "collectives/places.hpp"

#include "collectives/index.hpp"

namespace collmark {
Places::Places(const Schedule& s, const Dataflow& flow, Placement placement)
    : in_place_(placement == Placement::in_place),
      all_to_all_(s.collective == Collective::all_to_all),
      blocks_(s.ranks),
      place_(flow.versions.size()) {
  for (const std::vector<int>& life : flow.life) place(flow, life);
}

/// Backwards in time: where a version may lie depends on where its successor does.
void Places::place(const Dataflow& flow, const std::vector<int>& life) {
  const Version& first = flow.version(life.front());
  for (std::size_t i = life.size(); i-- > 1;)
    place_[at(life[i])] = flow.version(life[i]).contested ? away_from(of(life[i + 1]), first.chunk)
                                                          : home(first.chunk);
  place_[at(life.front())] = input();

  const bool overwritten_early = first.contested && of(life[1]) == input();
  const bool block_in_the_way = in_place_ && all_to_all_ && !first.empty && !first.readers.empty();
  if (!overwritten_early && !block_in_the_way) return;
  place_[at(life.front())] =
      first.contested ? away_from(of(life[1]), first.chunk) : home(first.chunk);
  saved_.push_back({.version = life.front(), .from = input()});
}

/// In place, all_to_all's blocks change places within one buffer: it stays the input.
Place Places::input() const { return in_place_ && !all_to_all_ ? Place::output : Place::input; }

Place Places::home(int chunk) const {
  return all_to_all_ && chunk < blocks_ ? Place::scratch : Place::output;
}

Place Places::away_from(Place taken, int chunk) const {
  if (!all_to_all_) return taken == Place::output ? Place::scratch : Place::output;
  if (chunk < blocks_) return taken == Place::scratch ? Place::spare : Place::scratch;
  return taken == Place::output ? Place::spare : Place::output;
}

}  // namespace collmark
