// A run in short slices: what a trainer tells when it comes back, and the loop that looks at the clock.
#pragma once

#include <chrono>

#include "schedule.hpp"

namespace dynmargin {

// Why `advance` came back.
enum class Event {
  slice_over,
  full_pass,    // a pass over all rows is complete: a good moment to look at the bounds
  bound_met,    // the upper bound has come down to the one waited for
  converged,    // a full pass without an update
  max_updates,  // the limit of updates is reached
  infeasible,   // the rule asks for a margin that does not exist
  exhausted,    // counts or norms have left the range of exact integers and finite numbers, or a has vanished
};

// What the weights and counts of the moment are worth.
struct Bounds {
  double margin;       // proven by the best weights seen, slacks repaired
  double upper_bound;  // ‖a‖ / t, now or before counts were renewed
  // min_k a.y_k / ‖a‖, no repair: the figure of the paper's tables. NaN if the bound is from before a renewal.
  double directional_margin;
};

// Presents stretch after stretch until the time is over or something happens.
template <class Present, class FinishPass>
Event run_slice(ActiveSets& sets, double seconds, Present present, FinishPass finish_pass) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::duration<double>(seconds);
  do {
    const Event event = present();
    if (event != Event::slice_over) return event;
    if (sets.pass().next == sets.pass().members.size()) {
      const Event reached = finish_pass();
      if (reached != Event::slice_over) return reached;
    }
  } while (clock::now() < end);
  return Event::slice_over;
}

}  // namespace dynmargin
