// Schedule x rule x state for the algorithms that rescale the weight vector as they go: ROMMA, ALMA, CRAMMA, MICRA.
//
// What is stored is v = sum_k n_k y_k with real coefficients n_k >= 0 and a scale s; the weight vector is a = s v. A
// step a <- keep a + add y_k costs no more than a perceptron's update: s <- keep s, n_k <- n_k + add / s. Both bounds
// are those of the direction of v, so only the rule ever sees the scale:
//   gamma_d <= ‖v‖ / sum_k n_k,   whatever made the coefficients.
#pragma once

#include "dynmargin/order/presentation.hpp"
#include "dynmargin/perceptron/lower_bound.hpp"
#include "dynmargin/proof/witnesses.hpp"
#include "dynmargin/rules/alma.hpp"
#include "dynmargin/rules/mistake_controlled.hpp"
#include "dynmargin/rules/romma.hpp"

namespace dynmargin {

using RescalingRule = std::variant<Romma, Alma, MistakeControlled>;

class RescalingTrainer : public Presentation<Problem, std::pair<std::int64_t, double>> {  // row, add
 public:
  RescalingTrainer(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem, RescalingRule rule,
                   const Schedule& schedule, double epsilon, std::uint64_t seed)
      : Presentation(std::move(packed), std::move(problem), schedule, epsilon, seed),
        rule_(rule),
        v_(empty_state<double>(*packed_, *problem_)),
        lower_bound_(*packed_, *problem_) {}

  Event advance(double seconds, double max_updates) {
    return with_patterns([&](const auto& patterns) {
      return std::visit(
          [&](const auto& rule) {
            return run_slice(
                seconds, [&] { return present(patterns, rule, max_updates); }, [&] { return finish_pass(); });
          },
          rule_);
    });
  }

  // One read-only pass over all rows; remembers the best weights seen.
  Bounds check() {
    return with_patterns([&](const auto& patterns) {
      const double norm = std::sqrt(sums_of(v_).norm2()), smallest = lower_bound_.improve(patterns, v_);
      return Bounds{lower_bound_.margin(), norm / v_.totals.t, smallest / norm};
    });
  }

  void renew() {}

  // Another accuracy for the same run; a state of ROMMA is one whatever its accuracy.
  void set_rule(RescalingRule rule) { rule_ = rule; }

  // The coefficient of every pattern in the weight vector.
  Support support() const {
    std::vector<double> coefficients;
    for (const auto& y : v_.patterns) coefficients.push_back(scale_ * y.count);
    return all_weights(std::move(coefficients));
  }
  Model model() const { return {lower_bound_.w(), lower_bound_.scale()}; }
  std::int64_t updates() const { return static_cast<std::int64_t>(updates_); }
  double upper_bound() const { return bound_of(v_.totals); }

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    Presentation::snapshot(s);
    s(rule_, v_, scale_, updates_, lower_bound_);
  }

 private:
  template <class P, class R>
  Event present(const P& patterns, const R& rule, double max_updates) {
    const double width = sets_.width();
    const auto visit = [&](Member member, const auto& gather) {
      const BasicPattern<double>& y = v_.patterns[member.row()];
      const Totals a{updates_, scale_ * scale_ * v_.totals.norm2};
      const double p = scale_ * patterns.dot(v_.w.data(), v_.bias, y, member.side());
      const double threshold = rule.threshold(a);
      gather(p <= width * threshold);
      if (!(p <= threshold)) return Event::slice_over;
      sets_.pass().updated = true;
      return update(patterns, member, rule.step(p, y.squared_norm, a));
    };
    return present_stretch(
               1024, 16, patterns, v_.patterns.data(), [&] { return updates_ >= max_updates; }, visit)
        .event;
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
    record({member.row(), step.add});
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
    v_.totals = {v_.totals.t * scale_, v_.totals.norm2 * (scale_ * scale_)};
    scale_ = 1;
  }

  Event finish_pass() {
    if (!sets_.full()) lower_bound_.remember(v_, sets_.pass().members.size());
    const PassOver over = start_next_pass();
    // The running sums gather rounding errors; a full pass, which may declare convergence, begins with fresh ones.
    if (sets_.full()) v_.totals = sums_of(v_).totals();
    return event_after(over, upper_bound(), [] { return false; });
  }

  static constexpr double smallest_scale = 0x1p-100, largest_scale = 0x1p100;

  RescalingRule rule_;
  BasicState<double> v_;
  double scale_ = 1, updates_ = 0;
  LowerBound lower_bound_;
};

}  // namespace dynmargin
