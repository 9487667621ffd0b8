// Schedule x rule x state for the algorithms that rescale the weight vector as they go: ROMMA, ALMA, CRAMMA, MICRA.
//
// What is stored is v = sum_k n_k y_k with real coefficients n_k >= 0 and a scale s; the weight vector is a = s v. A
// step a <- keep a + add y_k costs no more than a perceptron's update: s <- keep s, n_k <- n_k + add / s. Both bounds
// are those of the direction of v, so only the rule ever sees the scale:
//   gamma_d <= ‖v‖ / sum_k n_k,   whatever made the coefficients.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "lower_bound.hpp"
#include "patterns.hpp"
#include "rules/alma.hpp"
#include "rules/mistake_controlled.hpp"
#include "rules/romma.hpp"
#include "schedule.hpp"
#include "slices.hpp"

namespace dynmargin {

using RescalingRule = std::variant<Romma, Alma, MistakeControlled>;

class RescalingTrainer {
  template <class F>
  auto with_patterns(F&& f) const {
    return std::visit([&](const auto& rows) { return f(Patterns(rows, problem_->rho)); }, packed_->rows);
  }

 public:
  using Coefficients = BasicState<double>;

  RescalingTrainer(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem, RescalingRule rule,
                   const Schedule& schedule, std::uint64_t seed)
      : packed_(std::move(packed)),
        problem_(std::move(problem)),
        rule_(rule),
        v_(empty_state<double>(*packed_, *problem_)),
        lower_bound_(members_of(*problem_), *problem_, *packed_),
        sets_(members_of(*problem_), schedule, seed) {}

  Event advance(double seconds, double max_updates) {
    return with_patterns([&](const auto& patterns) {
      return std::visit(
          [&](const auto& rule) {
            return run_slice(
                sets_, seconds, [&] { return present(patterns, rule, max_updates); }, [&] { return finish_pass(); });
          },
          rule_);
    });
  }

  // One read-only pass over all rows; remembers the best weights seen.
  Bounds check() {
    return with_patterns([&](const auto& patterns) {
      const double norm = std::sqrt(recomputed_norm2(v_));
      const double smallest = lower_bound_.look(patterns, v_);
      return Bounds{lower_bound_.margin(), norm / v_.totals.t, smallest / norm};
    });
  }

  // Another accuracy for the same run; a state of ROMMA is one whatever its accuracy.
  void set_rule(RescalingRule rule) { rule_ = rule; }

  // `advance` comes back when the upper bound has fallen to this.
  void wait_for(double upper_bound) { awaited_bound_ = upper_bound; }
  double upper_bound() const { return std::sqrt(v_.totals.norm2) / v_.totals.t; }

  void record_updates() { recording_ = true; }
  const std::vector<std::pair<std::int64_t, double>>& recorded_updates() const { return recorded_; }  // row, add

  const Coefficients& coefficients() const { return v_; }
  double scale() const { return scale_; }
  const LowerBound& lower_bound() const { return lower_bound_; }
  std::int64_t updates() const { return static_cast<std::int64_t>(updates_); }
  std::int64_t full_passes() const { return full_passes_; }
  std::int64_t visits() const { return visits_; }

 private:
  template <class P, class R>
  Event present(const P& patterns, const R& rule, double max_updates) {
    constexpr std::size_t stretch = 1024, row_ahead = 8, pattern_ahead = 16;
    auto& pass = sets_.pass();
    const Member* const members = pass.members.data();
    const std::size_t begin = pass.next, size = pass.members.size(), end = std::min(size, begin + stretch);
    const double width = sets_.width();
    Member* gathered = sets_.gathered().room_for(end - begin);
    Event event = Event::slice_over;
    std::size_t i = begin;
    while (i < end && event == Event::slice_over) {
      if (updates_ >= max_updates) {
        event = Event::max_updates;
        break;
      }
      if (i + pattern_ahead < size) prefetch(&v_.patterns[members[i + pattern_ahead].row()]);
      if (i + row_ahead < size) patterns.prefetch_row(v_.patterns[members[i + row_ahead].row()]);
      const Member member = members[i++];
      const BasicPattern<double>& y = v_.patterns[member.row()];

      const Moment a{updates_, scale_ * scale_ * v_.totals.norm2};
      const double p = scale_ * (patterns.dense_dot(v_.w.data(), v_.bias, y, member.side()) + y.count * y.delta2);
      const double threshold = rule.threshold(a);
      *gathered = member;
      gathered += p <= width * threshold;
      if (!(p <= threshold)) continue;
      event = update(patterns, member, rule.step(p, y.squared_norm, a));
      pass.updated = true;
    }
    sets_.gathered().keep_up_to(gathered);
    pass.next = i;
    visits_ += static_cast<std::int64_t>(i - begin);
    return event;
  }

  template <class P>
  Event update(const P& patterns, Member member, const Step& step) {
    BasicPattern<double>& y = v_.patterns[member.row()];
    if (y.squared_norm == 0) {  // never right: all the weight on it proves that there is no margin at all
      y.count += largest_multiplicity * (1 + v_.totals.t);
      v_.totals.t += largest_multiplicity * (1 + v_.totals.t);
      return Event::exhausted;
    }
    if (!(std::isfinite(step.keep) && std::isfinite(step.add) && std::isfinite(step.norm2))) return Event::exhausted;
    if (step.keep == 0) forget();
    scale_ *= step.keep == 0 ? 1 : step.keep;
    if (!(scale_ > smallest_scale && scale_ < largest_scale)) take_in_scale();
    const double lambda = step.add / scale_;
    patterns.add_to(v_.w.data(), v_.bias, y, member.side() * lambda);
    y.count += lambda;
    v_.totals.t += lambda;
    v_.totals.norm2 = step.norm2 / (scale_ * scale_);
    ++updates_;
    if (recording_) recorded_.emplace_back(member.row(), step.add);
    return step.norm2 > 0 ? Event::slice_over : Event::exhausted;
  }

  void forget() {
    std::fill(v_.w.begin(), v_.w.end(), 0.0);
    for (auto& y : v_.patterns) y.count = 0;
    v_.bias = 0;
    v_.totals = {};
    scale_ = 1;
  }

  // Before the scale loses its precision; rare enough for its cost not to matter.
  void take_in_scale() {
    for (double& c : v_.w) c *= scale_;
    for (auto& y : v_.patterns) y.count *= scale_;
    v_.bias *= scale_;
    v_.totals.t *= scale_;
    v_.totals.norm2 *= scale_ * scale_;
    scale_ = 1;
  }

  Event finish_pass() {
    const bool full = sets_.full(), updated = sets_.pass().updated;
    if (!full) lower_bound_.remember(v_, sets_.pass().members.size());
    if (full && !updated)
      sets_.start_full_pass();
    else
      sets_.proceed();
    // The running sums gather rounding errors; a full pass, which may declare convergence, begins with fresh ones.
    if (sets_.full()) {
      v_.totals.norm2 = recomputed_norm2(v_);
      v_.totals.t = 0;
      for (const auto& y : v_.patterns) v_.totals.t += y.count;
    }
    if (!full) return upper_bound() <= awaited_bound_ ? Event::bound_met : Event::slice_over;
    ++full_passes_;
    return updated ? Event::full_pass : Event::converged;
  }

  static constexpr double smallest_scale = 0x1p-100, largest_scale = 0x1p100;

  std::shared_ptr<const PackedRows> packed_;
  std::shared_ptr<const Problem> problem_;
  RescalingRule rule_;
  Coefficients v_;
  double scale_ = 1, updates_ = 0;
  LowerBound lower_bound_;
  ActiveSets sets_;
  std::int64_t visits_ = 0, full_passes_ = 0;  // passes completed
  double awaited_bound_ = 0;
  bool recording_ = false;
  std::vector<std::pair<std::int64_t, double>> recorded_;
};

}  // namespace dynmargin
