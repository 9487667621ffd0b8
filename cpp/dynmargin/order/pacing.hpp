// When to check the bounds: a check costs a pass over the rows, and most checks would find the gap still open.
//
// There are two policies. `Projection` learns from the checks themselves, `Forecast` from estimates that full passes
// give for free. Neither reads the clock, so a run gives the same result at any speed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>

#include "dynmargin/solve/portable_math.hpp"

namespace dynmargin {

// For the perceptrons, which know their upper bound after every pass, and for decomposition. If the gap keeps falling
// as a power of the number of visits, as it has over the last half of the run, it is known at which visit it will be
// closed; the next check is made half-way there.
class Projection {
 public:
  Projection(double epsilon, std::size_t n_rows, bool hard_margin)
      : epsilon_(epsilon), rows_(static_cast<double>(n_rows)), hard_margin_(hard_margin) {}

  // Whether to check after this full pass.
  //
  // The upper bound by itself is free. While it falls by several epsilon from one full pass to the next, and they
  // follow each other quickly, the gap is not about to close. (This does not hold for the hard margin, where a bound
  // that keeps falling means that there is no margin, nor where a check may lead to better counts.)
  template <class MayRenew>
  bool due(std::int64_t visits, std::int64_t full_passes, double upper_bound, const MayRenew& may_renew) {
    const auto now = static_cast<double>(visits);
    const bool falling = upper_bound < (1 - 3 * epsilon_) * last_bound_;
    const bool quick = now - last_visits_ < 4 * rows_;
    const bool early = now < 8 * std::max(checked_at_, rows_);  // so that progress is reported now and then
    last_visits_ = now;
    last_bound_ = upper_bound;
    if (falling && quick && early && !hard_margin_ && !may_renew()) return false;
    return now >= next_check_ || full_passes >= next_check_pass_;
  }

  // What a check has found: the gap that is left to close.
  void checked(std::int64_t visits, std::int64_t full_passes, double gap) {
    const auto now = checked_at_ = static_cast<double>(visits);
    recent_.push_back({now, gap});
    while (recent_.size() > 2 && recent_.front().visits < now / 2) recent_.pop_front();
    next_check_pass_ = full_passes + most_passes_between_checks;
    next_check_ = std::floor(now + (std::min(projected_visits(), 1.5 * now) - now) / 2);
  }

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    s(recent_, checked_at_, next_check_, next_check_pass_, last_visits_, last_bound_);
  }

 private:
  static constexpr std::int64_t most_passes_between_checks = 100;  // so that a stall of 1,000 passes is seen in time

  struct Moment {
    double visits, gap;
  };

  // How many visits there will have been when the gap is epsilon.
  double projected_visits() const {
    constexpr double never = std::numeric_limits<double>::infinity();
    const auto [then, gap_then] = recent_.front();
    const auto [now, gap] = recent_.back();
    if (!(0 < then && then < now && 0 < gap && gap < gap_then && gap_then < never)) return never;
    const double power = portable::log(gap_then / gap) / portable::log(now / then);
    const double logarithm = portable::log(now) + portable::log(gap / epsilon_) / power;
    return logarithm < 700 ? portable::exp(logarithm) : never;
  }

  double epsilon_, rows_;
  bool hard_margin_;
  std::deque<Moment> recent_;  // the checks of the last half of the visits
  double checked_at_ = 0, next_check_ = 0;
  std::int64_t next_check_pass_ = 0;
  double last_visits_ = 0, last_bound_ = std::numeric_limits<double>::infinity();  // at the last full pass
};

// For the dual algorithms. A full pass sees every row, each with the weights at that time, which gives an estimate of
// the gap for free. From one full pass to the next the estimate falls by some factor; if it keeps falling exponentially
// in the number of visits, it is known at which visit the gap will be closed.
class Forecast {
 public:
  // Where rows share little with each other (stiffness below 1, see problem.hpp), the first visit of a row all but
  // settles its weight, and nothing has to be learnt first: the gap after one pass is about a tenth of the stiffness,
  // and every further one divides it by twenty or more. (To a certified 1 % on 77,567 texts at C=0.025: one pass and a
  // check instead of three.)
  Forecast(double epsilon, double rows, double stiffness) : epsilon_(epsilon), rows_(rows), next_check_(seldom * rows) {
    if (!(stiffness < 1)) return;
    rate_ = 3 / rows;
    next_check_ = rows * (1 + std::max(0.0, portable::log(0.1 * stiffness / epsilon) / 3));
  }

  // An estimate from a full pass that began at `visits`.
  void glimpse(double visits, double estimate) {
    if (std::isnan(last_estimate_)) {  // of the first pass: half of it was made with hardly any weights
      last_visits_ = visits;
      last_estimate_ = estimate;
      if (estimate / 2 <= epsilon_) next_check_ = std::min(next_check_, visits);
      return;
    }
    rate_ = portable::log(last_estimate_ / estimate) / (visits - last_visits_);
    last_visits_ = visits;
    last_estimate_ = estimate;
    expect(visits, estimate / 2, 0);  // the pass itself and slack repair bring the gap down to about half
  }

  // What a check has found.
  void checked(double visits, double gap) {
    latest_ = visits + seldom * rows_;
    expect(visits, gap, rows_ / 4);
  }

  bool due(double visits) const { return visits >= next_check_; }

  // How many more visits a gap will take, if it keeps falling; infinite where there is nothing to go by.
  double visits_for(double gap) const {
    if (!(gap > epsilon_)) return 0;
    return rate_ > 0 ? portable::log(gap / epsilon_) / rate_ : std::numeric_limits<double>::infinity();
  }

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    s(last_visits_, last_estimate_, rate_, next_check_, latest_);
  }

 private:
  static constexpr double seldom =
      20;  // visits per row between checks when there is no hope, so that progress is reported

  void expect(double visits, double gap, double least) {
    const double wait = rate_ > 0 && gap > epsilon_ ? portable::log(gap / epsilon_) / rate_
                        : gap > epsilon_            ? seldom * rows_
                                                    : 0;
    next_check_ = std::min(latest_, visits + std::max(wait, least));
  }

  double epsilon_, rows_;
  double last_visits_ = 0, last_estimate_ = std::numeric_limits<double>::quiet_NaN();
  double rate_ = 0;  // at which the logarithm falls, per visit
  double next_check_, latest_ = next_check_;
};

}  // namespace dynmargin
