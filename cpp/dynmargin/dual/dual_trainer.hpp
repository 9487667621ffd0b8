// Order x step x dual state, until a full pass changes (next to) nothing; advances in short slices and can be resumed
// at any of them.
//
// Nothing here depends on where slices end, so a run gives the same result bit for bit with any slicing.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "../trainer.hpp"
#include "coordinate_descent.hpp"
#include "dual_bounds.hpp"
#include "dual_state.hpp"
#include "forecast.hpp"
#include "gain_sets.hpp"
#include "margin_unlearning.hpp"

namespace dynmargin {

using DualStep = std::variant<CoordinateDescent, MarginUnlearning>;

class DualTrainer {
  // The layout of the rows is looked up once a call, not once a visit.
  template <class F>
  auto with_patterns(F&& f) const {
    return std::visit([&](const auto& rows) { return f(Patterns(rows, problem_->rho)); }, packed_->rows);
  }

 public:
  // `gap` is the one to be certified: it tells when to look. `tolerance` is the own rule of coordinate descent:
  // converged when the projected gradients of a full pass lie within it.
  DualTrainer(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem, DualStep step,
              const GainSchedule& schedule, double gap, double tolerance, std::uint64_t seed)
      : packed_(std::move(packed)),
        problem_(std::move(problem)),
        step_(step),
        target_(std::visit([](const auto& s) { return s.target(); }, step)),
        near_(schedule.near * target_),
        tolerance_(tolerance * target_),
        members_(members_of(*problem_)),
        state_(empty_dual_state(*packed_, *problem_, target_)),
        sets_(members_, schedule, seed),
        bounds_(members_, *problem_, packed_->n_columns),
        forecast_(gap, static_cast<double>(members_.size())) {}

  DualTrainer(const DualTrainer&) = delete;  // bounds_ refers to members_

  Event advance(double seconds, double max_updates) {
    return with_patterns([&](const auto& patterns) {
      return std::visit(
          [&](const auto& step) {
            return problem_->loss == Loss::hinge ? run<Loss::hinge>(patterns, step, seconds, max_updates)
                                                 : run<Loss::squared_hinge>(patterns, step, seconds, max_updates);
          },
          step_);
    });
  }

  // One read-only pass over all rows; remembers the best weights seen.
  Bounds check() {
    const Bounds bounds = with_patterns([&](const auto& patterns) { return bounds_.look(patterns, state_, target_); });
    forecast_.looked(static_cast<double>(visits_), 1 - bounds.margin / bounds.upper_bound);
    return bounds;
  }

  // MPU goes on with a finer rule: the counts and the target are multiplied by a whole number, the dead zone is not.
  // False when the counts would no longer be exact.
  bool refine(double factor) {
    const auto* step = std::get_if<MarginUnlearning>(&step_);
    if (!step || factor * totals_of(state_, problem_->loss).t > largest_count / 2) return false;
    step_ = step->finer(factor);
    for (double* scaled : {&target_, &near_, &tolerance_, &state_.bias}) *scaled *= factor;
    for (double& c : state_.w) c *= factor;
    for (DualPattern& y : state_.patterns) {
      y.alpha *= factor;
      if (problem_->loss == Loss::hinge) y.slack *= factor;
    }
    return true;
  }

  void record_updates() { recording_ = true; }
  const std::vector<std::pair<std::int64_t, double>>& recorded_updates() const { return recorded_; }

  const DualState& state() const { return state_; }
  const DualBounds& bounds() const { return bounds_; }
  double target() const { return target_; }
  double updates() const { return updates_; }
  std::int64_t full_passes() const { return full_passes_; }
  std::int64_t visits() const { return visits_; }

 private:
  // What a full pass sees on its way, every row with the weights of its moment: an estimate of the gap, for nothing.
  struct Glimpse {
    double loss = 0;  // of the canonical weights w / target
    double smallest_score = std::numeric_limits<double>::infinity();
    double lowest_gradient = 0, highest_gradient = 0;  // projected
    bool changed = false;
  };

  template <Loss loss, class P, class S>
  Event run(const P& patterns, const S& step, double seconds, double max_updates) {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::duration<double>(seconds);
    do {
      if (updates_ >= max_updates) return updates_ >= largest_count ? Event::exhausted : Event::max_updates;
      sets_.full() ? present<loss, true>(patterns, step, max_updates)
                   : present<loss, false>(patterns, step, max_updates);
      if (sets_.pass().next == sets_.pass().members.size()) {
        const Event reached = finish_pass();
        if (reached != Event::slice_over) return reached;
      }
    } while (clock::now() < end);
    return Event::slice_over;
  }

  // Visits the next stretch of the pass in hand: short enough for the clock to be read often, long enough for it not to
  // matter. What changes with every update is kept in locals, where writing to w cannot be thought to touch it.
  template <Loss loss, bool full, class P, class S>
  void present(const P& patterns, const S& step, double max_updates) {
    constexpr std::size_t stretch = 1024, row_ahead = 8, pattern_ahead = 16;
    constexpr bool hinge = loss == Loss::hinge;
    auto& pass = sets_.pass();
    const Member* const members = pass.members.data();
    const std::size_t begin = pass.next, size = pass.members.size(), end = std::min(size, begin + stretch);
    const double threshold = full ? 0 : sets_.threshold();
    Member* gathered = sets_.gathered().room_for(end - begin);
    DualPattern* const y = state_.patterns.data();
    double* const w = state_.w.data();
    double bias = state_.bias, gain = 0, updates = updates_;
    const double target = target_, near = near_;
    Glimpse seen = glimpse_;
    std::size_t i = begin;
    while (i < end && updates < max_updates) {
      if (i + pattern_ahead < size) prefetch(&y[members[i + pattern_ahead].row()]);
      if (i + row_ahead < size) patterns.prefetch_row(y[members[i + row_ahead].row()]);
      const Member member = members[i++];
      DualPattern& pattern = y[member.row()];

      const double score = patterns.dense_dot(w, bias, pattern, member.side());
      const double alpha = pattern.alpha, q = pattern.squared_norm, slack = pattern.slack;
      const double p = hinge ? score : score + alpha * slack;
      const double most = hinge ? slack : std::numeric_limits<double>::infinity();
      double next = step.next(p, q, alpha, most);
      if (const double beyond = updates + step.updates(next - alpha) - max_updates; beyond > 0)
        next += next > alpha ? -beyond : beyond;
      const double change = next - alpha, gained = change * (target - p - change * q / 2);
      gain += gained;
      *gathered = member;  // written always, kept only if it belongs there: no branch to mispredict
      if constexpr (full) {
        // Weights at an end of their range stay there for the time being, unless the score is near the target.
        gathered += (next > 0 || p < near) && (!hinge || next < most || p > 2 * target - near);
        const double gradient = p - target;
        if (alpha > 0) seen.highest_gradient = std::max(seen.highest_gradient, gradient);
        if (alpha < most) seen.lowest_gradient = std::min(seen.lowest_gradient, gradient);
        seen.smallest_score = std::min(seen.smallest_score, score);
        const double short_by = std::max(0.0, 1 - score / target);
        seen.loss += hinge ? short_by * most / target : short_by * short_by / slack;
        seen.changed |= change != 0;
      } else {
        gathered += gained > threshold;
      }
      if (change == 0) continue;

      patterns.add_to(w, bias, pattern, member.side() * change);
      pattern.alpha = next;
      updates += step.updates(change);
      if (recording_) recorded_.emplace_back(member.row(), next);
    }
    sets_.gathered().keep_up_to(gathered);
    pass.gain += gain;
    pass.next = i;
    visits_ += static_cast<std::int64_t>(i - begin);
    updates_ = updates;
    state_.bias = bias;
    glimpse_ = seen;
  }

  // The end of a full pass or of a round over the first set is a good moment to look.
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
      const DualTotals totals = totals_of(state_, problem_->loss);
      if (!std::isfinite(totals.dense2)) return Event::exhausted;
      forecast_.glimpse(static_cast<double>(visits_) - static_cast<double>(members_.size()),
                        estimated_gap(seen, totals));
    }
    return forecast_.due(static_cast<double>(visits_)) ? Event::full_pass : Event::slice_over;
  }

  double estimated_gap(const Glimpse& seen, const DualTotals& totals) const {
    const double t = totals.t / target_, dense2 = totals.dense2 / (target_ * target_);
    if (problem_->loss == Loss::hinge) {
      const double primal = dense2 / 2 + seen.loss, dual = t - dense2 / 2;
      return 1 - std::sqrt(std::max(0.0, dual) / primal);
    }
    const double upper_bound = std::sqrt(totals.dense2 + totals.extended) / totals.t;
    const double margin =
        problem_->hard_margin() ? seen.smallest_score / std::sqrt(totals.dense2) : 1 / std::sqrt(dense2 + seen.loss);
    return 1 - margin / upper_bound;
  }

  std::shared_ptr<const PackedRows> packed_;
  std::shared_ptr<const Problem> problem_;
  DualStep step_;
  double target_, near_, tolerance_;
  std::vector<Member> members_;
  DualState state_;
  GainSets sets_;
  DualBounds bounds_;
  Forecast forecast_;
  Glimpse glimpse_;
  std::int64_t visits_ = 0, full_passes_ = 0;
  double updates_ = 0;
  bool recording_ = false;
  std::vector<std::pair<std::int64_t, double>> recorded_;
};

}  // namespace dynmargin
