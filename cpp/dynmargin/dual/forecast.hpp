// When to look at the bounds: a look costs a pass over the rows, and most would be in vain.
//
// A full pass sees every row with the weights of its moment, which gives an estimate of the gap for nothing. From one
// full pass to the next the estimate falls by some factor; if it goes on falling exponentially in the number of visits,
// the gap is closed at a visit that can be told beforehand.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace dynmargin {

class Forecast {
 public:
  Forecast(double gap, double rows) : gap_(gap), rows_(rows), next_look_(seldom * rows) {}

  // An estimate from a full pass that began at `visits`.
  void glimpse(double visits, double estimate) {
    rate_ = std::log(last_estimate_ / estimate) / (visits - last_visits_);
    last_visits_ = visits;
    last_estimate_ = estimate;
    expect(visits, estimate / 2, 0);  // the pass itself and slack repair bring the gap down to about half
  }

  // What a look has found.
  void looked(double visits, double gap) {
    latest_ = visits + seldom * rows_;
    expect(visits, gap, rows_ / 4);
  }

  bool due(double visits) const { return visits >= next_look_; }

 private:
  static constexpr double seldom = 20;  // visits a row between looks when there is no hope: the run can be watched

  void expect(double visits, double gap, double least) {
    const double wait = rate_ > 0 && gap > gap_ ? std::log(gap / gap_) / rate_ : gap > gap_ ? seldom * rows_ : 0;
    next_look_ = std::min(latest_, visits + std::max(wait, least));
  }

  double gap_, rows_;
  double last_visits_ = 0, last_estimate_ = std::numeric_limits<double>::quiet_NaN();
  double rate_ = 0;  // of the fall of the logarithm, a visit
  double next_look_, latest_ = next_look_;
};

}  // namespace dynmargin
