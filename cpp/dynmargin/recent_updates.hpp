// The upper bound from the updates since an earlier moment.
//
// Any part of a run proves a bound, ‖a_2 - a_1‖ / (t_2 - t_1): the counts n_k only grow, so their differences are
// counts too. The later part is free of what the first updates have left behind, made when the weights were still poor,
// and for the hard margin, where counts are large, it is all but the best bound there is: 1.3 % above it after 8 full
// passes instead of 1.0 % after 24 (18,353 separable rows of 100 columns). For soft margins the rounding of small
// counts takes most of this back.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include "state.hpp"

namespace dynmargin {

class RecentUpdates {
 public:
  // Called after every full pass; keeps two moments, the newer one up to a third of the run back.
  void full_pass(const State& a, std::int64_t passes) {
    if (!moments_.empty() && 2 * passes < 3 * moments_.back().passes) return;
    if (moments_.size() == 2) moments_.pop_front();
    Moment now{a.w, a.bias, a.totals.t, passes, {}};
    for (const Pattern& y : a.patterns) now.counts.push_back(y.count);
    moments_.push_back(std::move(now));
    chosen_ = nullptr;
  }

  // The best of the bounds since one of the moments, or since the beginning.
  double bound(const State& a, double norm2) {
    double best = std::sqrt(norm2) / a.totals.t;
    chosen_ = nullptr;
    for (const Moment& then : moments_) {
      double since = (a.bias - then.bias) * (a.bias - then.bias);
      for (std::size_t j = 0; j < a.w.size(); ++j) since += (a.w[j] - then.w[j]) * (a.w[j] - then.w[j]);
      for (std::size_t k = 0; k < then.counts.size(); ++k) {
        const auto n = static_cast<double>(a.patterns[k].count - then.counts[k]);
        since += n * n * a.patterns[k].delta2;
      }
      const double bound = std::sqrt(since) / (a.totals.t - then.t);
      if (!(bound < best)) continue;
      best = bound;
      chosen_ = &then;
    }
    return best;
  }

  // The counts that prove the bound asked for just before.
  std::int64_t count(const State& a, std::size_t k) const {
    return a.patterns[k].count - (chosen_ ? chosen_->counts[k] : 0);
  }

 private:
  struct Moment {
    std::vector<double> w;
    double bias, t;
    std::int64_t passes;
    std::vector<std::int64_t> counts;
  };

  std::deque<Moment> moments_;  // keeps its elements in place
  const Moment* chosen_ = nullptr;
};

}  // namespace dynmargin
