// The skeleton of a run, whatever is done at a visit: stretches of a pass, slices of time, counters, a record.
//
// Nothing here depends on where slices end, so a run gives the same result bit for bit with any slicing.
#pragma once

#include <chrono>

#include "dynmargin/data/patterns.hpp"
#include "dynmargin/order/members.hpp"

namespace dynmargin {

// Why `advance` returned.
enum class Event {
  slice_over,
  check_due,     // a check of the bounds is worth its cost
  bound_met,     // the upper bound has come down to the awaited one
  converged,     // a full pass without an update
  max_updates,   // the limit of updates is reached
  infeasible,    // the rule asks for a margin that does not exist
  budget_spent,  // as many visits as `pause_at` allows have been made
  exhausted,     // counts or norms have left the range of exact integers and finite numbers, or a has vanished
};

// `Sets` is the order of presentation: the current pass (`pass`), and where it puts the patterns it gathers
// (`gathered`). `Update` is what tests want to know of an update.
template <class Problem, class Sets, class Update>
class Run {
 public:
  void record_updates() { recording_ = true; }
  const std::vector<Update>& recorded_updates() const { return recorded_; }
  std::int64_t full_passes() const { return full_passes_; }  // completed
  std::int64_t visits() const { return visits_; }

  // `advance` returns at the first end of a stretch at which there have been that many visits.
  void pause_at(std::int64_t visits) { pause_at_ = visits; }

  std::vector<Member> members() const { return members_of(*problem_); }

 protected:
  template <class Schedule>
  Run(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem, const Schedule& schedule,
      std::uint64_t seed)
      : packed_(std::move(packed)), problem_(std::move(problem)), sets_(members_of(*problem_), schedule, seed) {}

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    s(sets_, visits_, full_passes_);
  }

  // The layout of the rows is looked up once per call, not once per visit.
  template <class F>
  auto with_patterns(const F& f) const {
    return std::visit([&](const auto& rows) { return f(Patterns(rows, problem_->rho)); }, packed_->rows);
  }

  // Presents stretch after stretch until the time is up or something happens.
  template <class Present, class FinishPass>
  Event run_slice(double seconds, const Present& present, const FinishPass& finish_pass) {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::duration<double>(seconds);
    do {
      if (visits_ >= pause_at_) return Event::budget_spent;
      Event event = present();
      if (event == Event::slice_over && sets_.pass().next == sets_.pass().members.size()) event = finish_pass();
      if (event != Event::slice_over) return event;
    } while (clock::now() < end);
    return Event::slice_over;
  }

  struct Stretch {
    Event event;
    std::size_t visits;  // all of the stretch if it is complete, else 0
  };

  // Presents the next `length` patterns of the current pass: few enough for the clock to be read often, enough for
  // that not to matter. `y` are the records of the patterns by row, fetched from memory `ahead` visits early, and the
  // rows half as early. `spent()` is whether no more updates may be made, `visit(member, gather)` says by gather(true)
  // that the pattern belongs to the next set, and returns an event if there is one.
  template <class P, class Y, class Spent, class Visit>
  Stretch present_stretch(std::size_t length, std::size_t ahead, const P& patterns, const Y* y, const Spent& spent,
                          const Visit& visit) {
    auto& pass = sets_.pass();
    const Member* const members = pass.members.data();
    const std::size_t begin = pass.next, size = pass.members.size(), stretch_begin = begin / length * length;
    const std::size_t end = std::min(size, stretch_begin + length);
    Member* gathered = sets_.gathered().room_for(end - begin);
    Event event = Event::slice_over;
    std::size_t i = begin;
    while (i < end && event == Event::slice_over) {
      if (spent()) {
        event = Event::max_updates;
        break;
      }
      if (i + ahead < size) prefetch(&y[members[i + ahead].row()]);
      if (i + ahead / 2 < size) patterns.prefetch_row(y[members[i + ahead / 2].row()]);
      const Member member = members[i++];
      event = visit(member, [&](bool belongs) {
        *gathered = member;  // written always, kept only if it belongs there: no branch to mispredict
        gathered += belongs;
      });
    }
    sets_.gathered().keep_up_to(gathered);
    pass.next = i;
    visits_ += static_cast<std::int64_t>(i - begin);
    return {event, i == end ? end - stretch_begin : 0};
  }

  void record(const Update& update) {
    if (recording_) recorded_.push_back(update);
  }

  std::shared_ptr<const PackedRows> packed_;
  std::shared_ptr<const Problem> problem_;
  Sets sets_;
  std::int64_t visits_ = 0, full_passes_ = 0;
  std::int64_t pause_at_ = std::numeric_limits<std::int64_t>::max();

 private:
  bool recording_ = false;
  std::vector<Update> recorded_;
};

}  // namespace dynmargin
