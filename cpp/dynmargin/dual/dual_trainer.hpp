// Order x step x dual state, until a full pass changes (next to) nothing; advances in short slices and can be resumed
// at any of them.
#pragma once

#include <optional>
#include <span>

#include "dynmargin/dual/coordinate_descent.hpp"
#include "dynmargin/dual/dual_bounds.hpp"
#include "dynmargin/dual/dual_mixture.hpp"
#include "dynmargin/dual/dual_state.hpp"
#include "dynmargin/dual/gain_sets.hpp"
#include "dynmargin/dual/margin_unlearning.hpp"
#include "dynmargin/order/pacing.hpp"
#include "dynmargin/order/run.hpp"
#include "dynmargin/proof/witnesses.hpp"

namespace dynmargin {

using DualStep = std::variant<CoordinateDescent, MarginUnlearning>;

class DualTrainer : public Run<Problem, GainSets, std::pair<std::int64_t, double>> {  // row, dual weight
 public:
  // `epsilon` is the gap to be closed. `tolerance` is the own rule of coordinate descent: converged when the projected
  // gradients of a full pass lie within it. `certify`: the run is to end with a certificate, not by its own rule.
  DualTrainer(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem, DualStep step,
              const GainSchedule& schedule, double epsilon, double tolerance, bool certify, std::uint64_t seed)
      : Run(std::move(packed), std::move(problem), schedule, seed),
        step_(step),
        target_(std::visit([](const auto& s) { return s.target(); }, step)),
        near_(schedule.near * target_),
        tolerance_(tolerance * target_),
        state_(empty_dual_state(*packed_, *problem_, target_)),
        bounds_(*packed_, *problem_),
        mixture_(*packed_, *problem_, schedule.mix_after),
        stiffness_(problem_->loss == Loss::hinge ? 1 : stiffness(*packed_, *problem_)),
        forecast_(epsilon, static_cast<double>(problem_->n_members()), stiffness_),
        epsilon_(epsilon),
        certify_(certify) {}

  // Begin with these dual weights, one per row, and this w, the bias last. Rows elsewhere may have contributed to it:
  // the run then improves the dual objective of all of them, by changing the weights of its own. Its bounds are about
  // its own rows, and mean something only if no others have a weight. It must not mix states then (`mix_after` is
  // infinite).
  void begin(std::span<const double> alpha, std::span<const double> w) {
    require(alpha.size() == state_.patterns.size(), "there must be one dual weight per row");
    require(w.size() == state_.w.size() + 1, "there must be one coordinate per column, and the bias");
    for (const double value : alpha) require(value >= 0 && std::isfinite(value), "dual weights must not be negative");
    for (const double value : w) require(std::isfinite(value), "the coordinates must be finite");
    checked_.reset();
    renewed_ = bound_met_ = false;
    mixture_.forget();
    for (const Member m : members()) state_.patterns[m.row()].count = alpha[m.row()];
    std::copy_n(w.begin(), state_.w.size(), state_.w.begin());
    state_.bias = w.back();
  }

  // When the algorithm's own rule is satisfied before the certificate is, the bounds are checked, and then MPU
  // continues with a finer rule. Where there is no finer rule, the run has converged.
  Event advance(double seconds, double max_updates) {
    constexpr double finer = 10;
    if (std::exchange(bound_met_, false)) return Event::bound_met;
    if (satisfied_ && !refine(finer)) return Event::converged;
    checked_.reset();
    renewed_ = false;
    const Event event = with_patterns([&](const auto& patterns) {
      return std::visit(
          [&](const auto& step) {
            return problem_->loss == Loss::hinge ? run<Loss::hinge>(patterns, step, seconds, max_updates)
                                                 : run<Loss::squared_hinge>(patterns, step, seconds, max_updates);
          },
          step_);
    });
    if (event == Event::max_updates && updates_ >= largest_count) return Event::exhausted;
    satisfied_ = event == Event::converged && certify_;
    return satisfied_ ? Event::check_due : event;
  }

  // One read-only pass over all rows; remembers the best weights seen. A second check of the same state costs nothing.
  Bounds check() {
    if (!checked_) {
      checked_ = with_patterns([&](const auto& patterns) { return bounds_.check(patterns, state_, target_); });
      forecast_.checked(static_cast<double>(visits_), 1 - checked_->margin / checked_->upper_bound);
    }
    return *checked_;
  }

  // After a check that leaves the gap open: where rows share very little, one pass makes good weights, but the dual
  // weights of rows that came early in it were set when hardly any other row had one. So the state is mixed with the
  // dual weights that the weights of the check imply. That often closes the gap at once, in a third of the time of
  // another pass and a check, unless rows are so short that finding them is what takes time. (To a certified 1 %: 9,441
  // texts of 399 words 0.84 times the time, 1,669 of 837 words 0.88 times, 3,478 of 126 words 0.92 times.)
  //
  // Once per check: Ctrl-C may come before the caller has noted that it is done.
  void renew() {
    constexpr double very_little = 0.1, short_row = 20;  // stiffness, entries
    const bool may_help = stiffness_ < very_little && bounds_.row_length() > short_row && !problem_->free_bias;
    if (!may_help || !certify_ || !mixture_.open() || !std::holds_alternative<CoordinateDescent>(step_)) return;
    if (!checked_ || std::exchange(renewed_, true)) return;
    const bool better = with_patterns([&](const auto& patterns) {
      if (!bounds_.scored()) bounds_.check(patterns, state_, target_);
      return mixture_.mix_with(bounds_.implied(state_.patterns.size()), state_, patterns, *problem_, target_);
    });
    if (!better) return;
    const Sums sums = sums_of(state_);
    const double bound = std::sqrt(sums.norm2()) / sums.t, margin = checked_->margin;
    checked_ = {margin, bound, std::numeric_limits<double>::quiet_NaN()};
    forecast_.checked(static_cast<double>(visits_), 1 - margin / bound);
    bound_met_ = margin >= (1 - epsilon_) * bound;
  }

  // How many more visits it will take to close a gap, as far as full passes tell.
  double visits_for(double gap) const { return forecast_.visits_for(gap); }

  // The forecast learns from the check itself. The upper bound is known at a check only, so there is none to wait for.
  void checked(double /*gap*/, std::optional<double> /*enough*/) {}
  double upper_bound() const { return std::numeric_limits<double>::infinity(); }

  std::vector<double> dual_weights() const { return counts_of(state_); }
  // The dense part of the state, the augmented coordinate last.
  std::vector<double> weights() const {
    std::vector<double> w(state_.w);
    w.push_back(state_.bias);
    return w;
  }

  // MPU's dual weights are counts, unless they are bounded, or too large to be exact.
  Support support() const {
    std::vector<double> alpha = dual_weights();
    const bool whole = std::holds_alternative<MarginUnlearning>(step_) && problem_->loss != Loss::hinge;
    if (!whole || !(sums_of(state_).t < largest_count)) return all_weights(std::move(alpha));
    return nonzeros(alpha.size(), [&](std::size_t k) { return static_cast<std::int64_t>(alpha[k]); });
  }

  Model model() const { return {bounds_.w(), bounds_.scale()}; }
  double target() const { return target_; }
  std::int64_t updates() const { return static_cast<std::int64_t>(updates_); }

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    Run::snapshot(s);
    s(step_, target_, near_, tolerance_, state_, bounds_, forecast_, checked_, satisfied_, renewed_, bound_met_,
      glimpse_, updates_);
    mixture_.snapshot(s, state_.w.size(), state_.patterns.size());
    if (problem_->loss == Loss::hinge)
      for (DualPattern& y : state_.patterns) s(y.delta2);  // grows with the target
  }

 private:
  // MPU continues with a finer rule: the counts and the target are multiplied by a whole number, the dead zone is not.
  // False when the counts would no longer be exact.
  bool refine(double factor) {
    const auto* step = std::get_if<MarginUnlearning>(&step_);
    if (!step || factor * sums_of(state_).t > largest_count / 2) return false;
    step_ = step->finer(factor);
    mixture_.forget();
    for (double* scaled : {&target_, &near_, &tolerance_, &state_.bias}) *scaled *= factor;
    for (double& c : state_.w) c *= factor;
    for (DualPattern& y : state_.patterns) {
      y.count *= factor;
      if (problem_->loss == Loss::hinge) y.delta2 *= factor;
    }
    return true;
  }

  // What a full pass sees on its way, every row with the weights at that time: an estimate of the gap, for free.
  struct Glimpse {
    double loss = 0;  // of the canonical weights w / target
    double smallest_score = std::numeric_limits<double>::infinity();
    double lowest_gradient = 0, highest_gradient = 0;  // projected
    bool changed = false;

    template <class Snapshot>
    void snapshot(Snapshot& s) {
      s(loss, smallest_score, lowest_gradient, highest_gradient, changed);
    }
  };

  template <Loss loss, class P, class S>
  Event run(const P& patterns, const S& step, double seconds, double max_updates) {
    return run_slice(
        seconds,
        [&] {
          return sets_.full() ? present<loss, true>(patterns, step, max_updates)
                              : present<loss, false>(patterns, step, max_updates);
        },
        [&] { return finish_pass(); });
  }

  // What changes with every update is kept in locals, which the compiler knows are not affected by writing to w.
  template <Loss loss, bool full, class P, class S>
  Event present(const P& patterns, const S& step, double max_updates) {
    constexpr bool hinge = loss == Loss::hinge;
    const double threshold = full ? 0 : sets_.threshold();
    DualPattern* const y = state_.patterns.data();
    double* const w = state_.w.data();
    double bias = state_.bias, gain = 0, updates = updates_;
    const double target = target_, near = near_;
    Glimpse seen = glimpse_;
    const auto visit = [&](Member member, const auto& gather) {
      DualPattern& pattern = y[member.row()];
      const double score = patterns.dense_dot(w, bias, pattern, member.side());
      const double alpha = pattern.count, q = pattern.squared_norm, slack = pattern.delta2;
      const double p = hinge ? score : score + alpha * slack;
      const double most = hinge ? slack : std::numeric_limits<double>::infinity();
      double next = step.next(p, q, alpha, most);
      if (const double beyond = updates + step.updates(next - alpha) - max_updates; beyond > 0)
        next += next > alpha ? -beyond : beyond;
      const double change = next - alpha, gained = change * (target - p - change * q / 2);
      gain += gained;
      if constexpr (full) {
        // Weights at an end of their range stay there for the time being, unless the score is near the target.
        gather((next > 0 || p < near) && (!hinge || next < most || p > 2 * target - near));
        const double gradient = p - target;
        if (alpha > 0) seen.highest_gradient = std::max(seen.highest_gradient, gradient);
        if (alpha < most) seen.lowest_gradient = std::min(seen.lowest_gradient, gradient);
        seen.smallest_score = std::min(seen.smallest_score, score);
        const double short_by = std::max(0.0, 1 - score / target);
        seen.loss += hinge ? short_by * most / target : short_by * short_by / slack;
        seen.changed |= change != 0;
      } else {
        gather(gained > threshold);
      }
      if (change == 0) return Event::slice_over;

      patterns.add_to(w, bias, pattern, member.side() * change);
      pattern.count = next;
      updates += step.updates(change);
      record({member.row(), next});
      return Event::slice_over;
    };
    const Event event = present_stretch(1024, 16, patterns, y, [&] { return updates >= max_updates; }, visit).event;
    sets_.pass().gain += gain;
    updates_ = updates;
    state_.bias = bias;
    glimpse_ = seen;
    return event;
  }

  // The end of a full pass or of a round over the first set is a good moment for a check, or else for mixing: weights
  // that have just been mixed prove less than visits make of them. (147,423 rows of 43,031 columns: 765 ms instead of
  // 1,150.)
  Event finish_pass() {
    const bool full = sets_.full(), moment = full || sets_.outermost_round();
    sets_.proceed();
    if (!moment) return Event::slice_over;
    if (full) {
      ++full_passes_;
      const Glimpse seen = std::exchange(glimpse_, Glimpse{});
      const double high = seen.highest_gradient, low = seen.lowest_gradient;
      if (!seen.changed || (high - low <= tolerance_ && high <= tolerance_ && -low <= tolerance_))
        return Event::converged;
      const Sums sums = sums_of(state_);
      if (!std::isfinite(sums.dense2)) return Event::exhausted;
      const double began = static_cast<double>(visits_) - static_cast<double>(problem_->n_members());
      forecast_.glimpse(began, estimated_gap(seen, sums));
    }
    const auto visits = static_cast<double>(visits_);
    if (forecast_.due(visits)) return Event::check_due;
    if (mixture_.due(visits))
      with_patterns([&](const auto& patterns) { mixture_.mix(state_, patterns, *problem_, target_, visits); });
    return Event::slice_over;
  }

  double estimated_gap(const Glimpse& seen, const Sums& sums) const {
    const double t = sums.t / target_, dense2 = sums.dense2 / (target_ * target_);
    if (problem_->loss == Loss::hinge) {
      const double primal = dense2 / 2 + seen.loss, dual = t - dense2 / 2;
      return 1 - std::sqrt(std::max(0.0, dual) / primal);
    }
    const double upper_bound = std::sqrt(sums.norm2()) / sums.t;
    const double margin =
        problem_->hard_margin() ? seen.smallest_score / std::sqrt(sums.dense2) : 1 / std::sqrt(dense2 + seen.loss);
    return 1 - margin / upper_bound;
  }

  DualStep step_;
  double target_, near_, tolerance_;
  DualState state_;
  DualBounds bounds_;
  DualMixture mixture_;
  double stiffness_;  // 1 for the hinge
  Forecast forecast_;
  double epsilon_;
  std::optional<Bounds> checked_;  // of this state
  bool certify_, satisfied_ = false;
  bool renewed_ = false, bound_met_ = false;  // since the last check
  Glimpse glimpse_;
  double updates_ = 0;
};

}  // namespace dynmargin
