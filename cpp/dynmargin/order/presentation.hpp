// What the runs of perceptrons share: active sets, and the upper bound that is known after every pass, however short.
#pragma once

#include <optional>

#include "dynmargin/order/pacing.hpp"
#include "dynmargin/order/run.hpp"
#include "dynmargin/order/schedule.hpp"

namespace dynmargin {

template <class Problem, class Update>
class Presentation : public Run<Problem, ActiveSets, Update> {
 public:
  // After a check: `gap` is what is left to close, `enough` the upper bound that would be enough for the margin found
  // so far. `advance` returns when it has fallen to that.
  void checked(double gap, std::optional<double> enough) {
    pacing_.checked(this->visits_, this->full_passes_, gap);
    awaited_bound_ = enough.value_or(awaited_bound_);
  }

 protected:
  Presentation(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem,
               const Schedule& schedule, double epsilon, std::uint64_t seed)
      : Run<Problem, ActiveSets, Update>(std::move(packed), std::move(problem), schedule, seed),
        pacing_(epsilon, this->problem_->n_members(), this->problem_->hard_margin()) {}

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    Run<Problem, ActiveSets, Update>::snapshot(s);
    s(pacing_, awaited_bound_);
  }

  struct PassOver {
    bool full, updated;
  };

  PassOver start_next_pass() {
    const PassOver over{this->sets_.full(), this->sets_.pass().updated};
    this->sets_.proceed();
    this->full_passes_ += over.full;
    return over;
  }

  // Whether an upper bound is the one that is awaited, which then is none any more.
  bool meets_awaited(double upper_bound) {
    if (!(upper_bound < awaited_bound_)) return false;
    awaited_bound_ = 0;
    return true;
  }

  template <class MayRenew>
  Event event_after(const PassOver& over, double upper_bound, const MayRenew& may_renew) {
    if (over.full && !over.updated) return Event::converged;
    if (meets_awaited(upper_bound)) return Event::bound_met;
    const bool due = over.full && pacing_.due(this->visits_, this->full_passes_, upper_bound, may_renew);
    return due ? Event::check_due : Event::slice_over;
  }

 private:
  Projection pacing_;
  double awaited_bound_ = 0;
};

}  // namespace dynmargin
