/// The one loop that runs a plan. A transport says how to wait, combine and announce.
#pragma once

#include <concepts>

namespace collmark {

template <class T>
concept Transport = requires(T t, int action, int tile) {
  { t.actions() } -> std::convertible_to<int>;
  { t.tiles() } -> std::convertible_to<int>;
  t.enter();                 // my input is there
  t.wait_for(action, tile);  // the peers this action depends on
  t.combine(action, tile);   // one pass: sources in order, to all destinations
  t.announce(action, tile);  // whoever depends on it may go on
  t.leave();                 // my output is complete, nobody reads my buffers any more
};

/// Tile by tile through all steps, so that what one step has written is still in cache for the next.
template <Transport T>
void execute(T& t) {
  t.enter();
  for (int tile = 0; tile < t.tiles(); ++tile) {
    for (int action = 0; action < t.actions(); ++action) {
      t.wait_for(action, tile);
      t.combine(action, tile);
      t.announce(action, tile);
    }
  }
  t.leave();
}

}  // namespace collmark
