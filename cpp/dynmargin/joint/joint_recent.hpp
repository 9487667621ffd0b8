// The upper bound from the updates since an earlier moment.
//
// Any part of a run proves a bound, ‖A_2 - A_1‖ / (t_2 - t_1): counts only grow, so their differences are counts too,
// free of what the first updates have left behind. (52 visits a row instead of 213 to a certified 1 % on digits.)
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include "joint_state.hpp"

namespace dynmargin {

class JointRecent {
 public:
  // Called after every full pass; keeps two moments, the newer one up to a third of the run back.
  void full_pass(const JointState& a, std::int64_t passes) {
    if (!moments_.empty() && 2 * passes < 3 * moments_.back().passes) return;
    if (moments_.size() == 2) moments_.pop_front();
    moments_.push_back({a.w.values, a.counts, a.totals.t, passes});
    chosen_ = nullptr;
  }

  // The best of the bounds since one of the moments, or since the beginning.
  double bound(const JointState& a, double norm2) {
    double best = std::sqrt(norm2) / a.totals.t;
    chosen_ = nullptr;
    for (const Moment& then : moments_) {
      double since = 0;
      for (std::size_t j = 0; j < a.w.values.size(); ++j)
        since += (a.w.values[j] - then.w[j]) * (a.w.values[j] - then.w[j]);
      const std::size_t K = a.w.n_classes;
      for (std::size_t k = 0; k < a.rows.size(); ++k) {
        std::int64_t n = a.rows[k].count;
        for (std::size_t r = 0; r < K; ++r) n -= then.counts[k * K + r];
        since += static_cast<double>(n) * static_cast<double>(n) * a.rows[k].delta2;
      }
      const double bound = std::sqrt(since) / (a.totals.t - then.t);
      if (!(bound < best)) continue;
      best = bound;
      chosen_ = &then;
    }
    return best;
  }

  // The counts that prove the bound asked for just before; places as in JointState::counts.
  std::int64_t count(const JointState& a, std::size_t place) const {
    return a.counts[place] - (chosen_ ? chosen_->counts[place] : 0);
  }

 private:
  struct Moment {
    std::vector<double> w;
    std::vector<std::int64_t> counts;
    double t;
    std::int64_t passes;
  };

  std::deque<Moment> moments_;  // keeps its elements in place
  const Moment* chosen_ = nullptr;
};

}  // namespace dynmargin
