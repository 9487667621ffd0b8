// Fresh counts for weights that are better than the counts are.
//
// At the optimum the counts follow from the weights: n_k Delta_k² is in proportion to the slack of pattern k, and to
// nothing else. PDM's average weights are close to the optimum after a pass or two, but its counts carry noise: each
// was set when its pattern was last visited, by weights that have moved since. That noise, not the direction of `a`,
// is most of what keeps ‖a‖/t above the margin, and it is diluted only slowly as t grows.
//
// So when it explains the gap, the run continues from the counts that the best weights imply. (Any counts >= 0 are a
// state that a perceptron may begin with.) They are free of noise, but where the weights are a little off, all counts
// are off together, and `a` is many times too long. Correcting that takes additions to many patterns, each small: PDM
// is presented with those that have a count, and of every multiple update only a share is made, such that `a` shrinks
// evenly over one pass. A multiple update may end early: each of its single updates is legitimate.
//
// (Visits per row to a certified 1 %, with and without: 300,000 rows of 5 columns 4 and 15, 50,000 rows of 20 columns
// with much overlap 6 and 32, Adult 7 and 14, Adult at C=10 20 and 60.)
#pragma once

#include "dynmargin/order/members.hpp"
#include "dynmargin/perceptron/state.hpp"
#include "dynmargin/rules/dynamic_margin.hpp"

namespace dynmargin {

class Renewal {
 public:
  // Stiffness (problem.hpp) says how much patterns share with each other.
  Renewal(bool enabled, bool wide, double stiffness) : enabled_(enabled), seldom_(wide && stiffness > soft) {}

  bool enabled() const { return enabled_; }

  // Whether a check now may lead to better counts: their noise is part of the extension, so it can only matter where
  // that makes up most of ‖a‖². After one pass it is too soon to tell, but the average weights are often good by then.
  // On wide data noise is hardly ever the reason, unless patterns share so little that the weights of the first pass
  // are good at once. (639 texts of 534 words at C=0.02: 6 ms instead of 8.)
  bool may_help(std::int64_t full_passes, const State& a) const {
    if (seldom_) return false;
    if (full_passes == 1) return true;
    return 1 - dense_square(a) / a.totals.norm2 > 0.7;
  }

  // Whether to renew, with weights that prove `margin` and counts that prove `bound`; `distance` is the squared
  // distance of the counts, as shares, from those of the weights, in the extension.
  bool decide(double distance, double margin, double bound) {
    const double noise = distance / (margin * margin), squared_gap = (bound / margin) * (bound / margin) - 1;
    const double gap = bound - margin;
    const bool explained = noise > 0.75 * squared_gap;
    const bool settled = last_margin_ == 0 || margin - last_margin_ < 0.3 * gap;  // if not, better weights will come
    const bool better = margin - margin_used_ > 0.05 * gap;
    last_margin_ = margin;
    if (!explained || !settled || !better) return false;
    margin_used_ = margin;
    return true;
  }

  // The best counts before a renewal, and what they prove.
  void keep(std::vector<std::int64_t> counts, double bound) {
    if (!(bound < kept_bound_)) return;
    kept_counts_ = std::move(counts);
    kept_bound_ = bound;
  }
  const std::vector<std::int64_t>& kept_counts() const { return kept_counts_; }
  double kept_bound() const { return kept_bound_; }

  // The t of the new counts: `fine`, but so large that some counts are left.
  static double total(double fine, std::span<const double> shares) {
    return std::max(fine, 4 / *std::max_element(shares.begin(), shares.end()));
  }

  // From now on the counts, which have just become those of `a`, are corrected in one visit of all `members`, until
  // ‖a‖/t is close to what it was before. What the share of updates has become by then it stays until the end of the
  // next full pass: full updates would bring back the noise at once.
  template <class P>
  void begin(const P& patterns, const DynamicMargin& rule, const State& a, std::span<const Member> members,
             double bound_before) {
    left_ = size_ = static_cast<double>(members.size());
    share_ = std::min(vanishing_share(patterns, rule, a, members), 1.0);
    goal_ = 1.2 * bound_before;
    bound_ = bound_of(a.totals);
  }

  // Keeps to the plan, after `visits` more visits.
  void control(double bound, std::size_t visits) {
    if (bound < goal_) goal_ = 0;
    if (!correcting()) return;
    left_ -= static_cast<double>(visits);
    const double planned = bound * static_cast<double>(visits) / std::max(left_, 0.3 * size_), made = bound_ - bound;
    share_ = std::min(1.0, share_ * (made > 0 ? std::clamp(planned / made, 0.5, 2.0) : 2.0));
    bound_ = bound;
  }

  void end() {
    goal_ = 0;
    share_ = 1;
  }

  bool correcting() const { return goal_ > 0; }
  double share() const { return share_; }  // of a multiple update that is to be made

  template <class Snapshot>
  void snapshot(Snapshot& s, std::size_t n_rows) {
    s(last_margin_, margin_used_, size_, left_, goal_, bound_, share_, kept_bound_);
    s.fixed_or_empty(kept_counts_, n_rows);
    require_intact(kept_counts_.empty() == !(kept_bound_ < std::numeric_limits<double>::infinity()));
  }

 private:
  // The share of all updates with which one visit of all members would make `a` vanish, if nothing changed meanwhile.
  // The first of them, in random order, are taken as a sample.
  template <class P>
  static double vanishing_share(const P& patterns, const DynamicMargin& rule, const State& a,
                                std::span<const Member> members) {
    const std::size_t sample = std::min<std::size_t>(1024, members.size());
    double made = 0;  // by full updates, of what has to go from ‖a‖², halved
    for (const Member m : members.first(sample)) {
      const Pattern& y = a.patterns[m.row()];
      const double p = patterns.dot(a.w.data(), a.bias, y, m.side());
      if (p < 0) made -= p * rule.multiplicity(p, y.squared_norm, a.totals);
    }
    return a.totals.norm2 / (made * static_cast<double>(members.size()) / static_cast<double>(sample));
  }

  static constexpr double soft = 3;

  bool enabled_, seldom_;
  double last_margin_ = 0, margin_used_ = 0;  // at the last decision, and at the last renewal
  double size_ = 0, left_ = 0;                // patterns to be visited
  double goal_ = 0, bound_ = 0;               // ‖a‖/t, and as it was last
  double share_ = 1;
  std::vector<std::int64_t> kept_counts_;
  double kept_bound_ = std::numeric_limits<double>::infinity();
};

}  // namespace dynmargin
