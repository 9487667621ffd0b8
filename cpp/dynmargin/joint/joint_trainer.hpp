// PDM for all classes at once: a visit to a row presents its nearest wrong class.
//
// Every wrong class of a row is a pattern of the joint space, and PDM's own condition decides
// (rules/dynamic_margin.hpp): if it holds for the nearest one, it holds for all. Active sets are sets of rows: those
// with some wrong class in reach.
#pragma once

#include <tuple>

#include "dynmargin/joint/joint_lower_bound.hpp"
#include "dynmargin/order/presentation.hpp"
#include "dynmargin/perceptron/mixture.hpp"
#include "dynmargin/proof/witnesses.hpp"
#include "dynmargin/rules/dynamic_margin.hpp"

namespace dynmargin {

// Updates are row, wrong class, multiplicity.
class JointTrainer : public Presentation<JointProblem, std::tuple<std::int64_t, std::int64_t, std::int64_t>> {
 public:
  JointTrainer(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const JointProblem> problem,
               DynamicMargin rule, const Schedule& schedule, double epsilon, std::uint64_t seed)
      : Presentation(std::move(packed), std::move(problem), schedule, epsilon, seed),
        rule_(rule),
        mixing_(schedule.mixing),
        state_(*packed_, *problem_),
        lower_bound_(*packed_, *problem_),
        mixture_(lengths_of(state_, lower_bound_.members()), is_wide(*packed_, *problem_)),
        scores_(state_.w.stride) {}

  Event advance(double seconds, double max_updates) {
    return with_patterns([&](const auto& patterns) {
      return run_slice(
          seconds, [&] { return present(patterns, max_updates + not_made_); }, [&] { return finish_pass(patterns); });
    });
  }

  // One read-only pass over all rows; remembers the best weights seen.
  Bounds check() {
    return with_patterns([&](const auto& patterns) {
      const double norm = std::sqrt(fresh_norm2(state_)), smallest = lower_bound_.improve(patterns, state_);
      return Bounds{lower_bound_.margin(), norm / state_.totals.t, smallest / norm};
    });
  }

  void renew() {}

  // Another accuracy for the same run; see Trainer.
  void set_rule(DynamicMargin rule) { rule_ = rule; }

  Support support() const {
    return nonzeros(state_.counts.size(), [&](std::size_t i) { return state_.counts[i]; });
  }
  Model model() const {
    const ClassWeights& w = lower_bound_.w();
    const std::size_t K = w.n_classes, lines = w.values.size() / w.stride;
    std::vector<double> by_class(K * lines);
    for (std::size_t c = 0; c < K; ++c)
      for (std::size_t j = 0; j < lines; ++j) by_class[c * lines + j] = w.values[j * w.stride + c];
    return {std::move(by_class), lower_bound_.scale(), K};
  }
  std::int64_t updates() const { return static_cast<std::int64_t>(state_.totals.t - not_made_); }
  double upper_bound() const { return bound_of(state_.totals); }
  double norm2() const { return state_.totals.norm2; }

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    Presentation::snapshot(s);
    s(rule_, state_, lower_bound_, not_made_);
    mixture_.snapshot(s, state_.w.values.size(), state_.counts.size());
  }

 private:
  // As Trainer::present, in shorter stretches: a visit costs more.
  template <class P>
  Event present(const P& patterns, double max_updates) {
    const double width = sets_.width();
    const bool single = sets_.single_updates();
    Totals& a = state_.totals;
    const auto visit = [&](Member member, const auto& gather) {
      JointPattern& y = state_.patterns[member.row()];
      score_classes(patterns, y, state_.w, scores_.data());
      const std::size_t wrong = nearest_wrong_class(scores_.data(), state_.w.n_classes, y.right);
      const double p = (scores_[y.right] - scores_[wrong]) + static_cast<double>(y.count) * y.delta2;
      const double score = rule_.score(p, a), threshold = rule_.threshold(a), q = y.squared_norm;
      gather(score <= width * threshold);
      if (!(score <= threshold)) return Event::slice_over;

      double lambda = single ? 1 : rule_.multiplicity(p, q, a);
      if (lambda > largest_count - a.t) return Event::exhausted;
      lambda = std::min(lambda, max_updates - a.t);
      const auto n = static_cast<std::int64_t>(lambda);
      state_.w.add(patterns, y, y.right, wrong, lambda);
      y.count += n;
      state_.counts[member.row() * state_.w.n_classes + wrong] += n;
      a.t += lambda;
      a.norm2 += lambda * (2 * p + lambda * q);
      sets_.pass().updated = true;
      record({member.row(), wrong, n});
      return std::isfinite(a.norm2) ? Event::slice_over : Event::exhausted;
    };
    return present_stretch(256, 8, patterns, state_.patterns.data(), [&] { return a.t >= max_updates; }, visit).event;
  }

  template <class P>
  Event finish_pass(const P& patterns) {
    if (!sets_.full()) lower_bound_.remember(state_, sets_.pass().members.size());
    const PassOver over = start_next_pass();
    if (sets_.full()) state_.totals.norm2 = fresh_norm2(state_);  // see Trainer
    if (over.full && over.updated && mixing_) {
      not_made_ -= state_.totals.t;
      const auto set_counts = [&](JointState& a, const auto& count_of) { rebuild(a, patterns, count_of); };
      std::vector<double> room;
      mixture_.mix(state_, rule_.eps, set_counts, room);
      not_made_ += state_.totals.t;
    }
    return event_after(over, upper_bound(), [] { return false; });
  }

  DynamicMargin rule_;
  bool mixing_;
  JointState state_;
  JointLowerBound lower_bound_;
  Mixture<JointState> mixture_;
  std::vector<double> scores_;  // of the current row
  double not_made_ = 0;         // the part of t that mixing has brought
};

}  // namespace dynmargin
