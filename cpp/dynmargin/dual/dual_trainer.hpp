// Order x step x dual state, until a full pass changes (next to) nothing; advances in short slices and can be resumed
// at any of them.
//
// Nothing here depends on where slices end, so a run gives the same result bit for bit with any slicing.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "../slack_repair.hpp"
#include "../trainer.hpp"
#include "coordinate_descent.hpp"
#include "dual_state.hpp"
#include "forecast.hpp"
#include "gain_sets.hpp"

namespace dynmargin {

using DualStep = std::variant<CoordinateDescent>;

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
              double gap, double tolerance, std::uint64_t seed)
      : packed_(std::move(packed)),
        problem_(std::move(problem)),
        step_(step),
        target_(std::visit([](const auto& s) { return s.target(); }, step)),
        tolerance_(tolerance),
        members_(members_of(*problem_)),
        state_(empty_dual_state(*packed_, *problem_, Loss::squared_hinge, target_)),
        sets_(members_, seed),
        forecast_(gap, static_cast<double>(members_.size())),
        best_w_(packed_->n_columns + 1) {
    if (problem_->hard_margin()) return;
    if (problem_->sample_weight.empty() && problem_->C_negative == problem_->C_positive) {
      penalties_ = {2 * problem_->C_positive};
    } else {
      for (const Member m : members_) penalties_.push_back(problem_->penalty(m.row()));
    }
  }

  Event advance(double seconds, double max_updates) {
    return with_patterns([&](const auto& patterns) {
      return std::visit([&](const auto& step) { return run(patterns, step, seconds, max_updates); }, step_);
    });
  }

  // One read-only pass over all rows: the best weights in the span of w and the bias direction, slacks repaired. The
  // best of all looks are kept.
  Bounds check() {
    return with_patterns([&](const auto& patterns) {
      std::vector<double> w(state_.w);
      w.push_back(state_.bias);
      for (double& c : w) c /= target_;
      double smallest = std::numeric_limits<double>::infinity(), smallest_score = smallest;
      scores_.resize(members_.size());
      for (std::size_t i = 0; i < members_.size(); ++i) {
        const Member m = members_[i];
        const DualPattern& y = state_.patterns[m.row()];
        const double score = patterns.dense_dot(w.data(), w.back(), y, m.negative());
        smallest_score = std::min(smallest_score, score);
        smallest = std::min(smallest, score + y.alpha / target_ * y.slack);
        scores_[i] = {score, m.negative() ? -problem_->rho : problem_->rho};
      }
      problem_->hard_margin() ? take(w, smallest_score) : combine(w);
      const DualTotals totals = totals_of(state_, Loss::squared_hinge);
      const double norm = std::sqrt(totals.dense2 + totals.extended), upper_bound = norm / totals.t;
      forecast_.looked(static_cast<double>(visits_), 1 - margin_ / upper_bound);
      return Bounds{margin_, upper_bound, smallest * target_ / norm};
    });
  }

  void record_updates() { recording_ = true; }
  const std::vector<std::pair<std::int64_t, double>>& recorded_updates() const { return recorded_; }

  const DualState& state() const { return state_; }
  const std::vector<double>& best_w() const { return best_w_; }  // the bias last
  double best_scale() const { return best_scale_; }
  std::int64_t updates() const { return updates_; }
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

  template <class P, class S>
  Event run(const P& patterns, const S& step, double seconds, double max_updates) {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::duration<double>(seconds);
    do {
      if (static_cast<double>(updates_) >= max_updates) return Event::max_updates;
      sets_.full() ? present<true>(patterns, step, max_updates) : present<false>(patterns, step, max_updates);
      if (sets_.pass().next == sets_.pass().members.size()) {
        const Event reached = finish_pass();
        if (reached != Event::slice_over) return reached;
      }
    } while (clock::now() < end);
    return Event::slice_over;
  }

  // Visits the next stretch of the pass in hand: short enough for the clock to be read often, long enough for it not to
  // matter. What changes with every update is kept in locals, where writing to w cannot be thought to touch it.
  template <bool full, class P, class S>
  void present(const P& patterns, const S& step, double max_updates) {
    constexpr std::size_t stretch = 1024, row_ahead = 8, pattern_ahead = 16;
    constexpr double most = std::numeric_limits<double>::infinity();
    constexpr double near = 1.05;  // a pattern without a weight whose score is within this of the target may need one
    auto& pass = sets_.pass();
    const Member* const members = pass.members.data();
    const std::size_t begin = pass.next, size = pass.members.size(), end = std::min(size, begin + stretch);
    const double threshold = full ? 0 : sets_.threshold();
    Member* gathered = sets_.room_for(end - begin);
    DualPattern* const y = state_.patterns.data();
    double* const w = state_.w.data();
    double bias = state_.bias, gain = 0;
    const double target = target_;
    std::int64_t updates = 0;
    const auto updates_left = static_cast<std::int64_t>(max_updates) - updates_;
    Glimpse seen = full ? glimpse_ : Glimpse{};
    std::size_t i = begin;
    while (i < end && updates < updates_left) {
      if (i + pattern_ahead < size) prefetch(&y[members[i + pattern_ahead].row()]);
      if (i + row_ahead < size) patterns.prefetch_row(y[members[i + row_ahead].row()]);
      const Member member = members[i++];
      DualPattern& pattern = y[member.row()];

      const double score = patterns.dense_dot(w, bias, pattern, member.negative());
      const double alpha = pattern.alpha, q = pattern.squared_norm, p = score + alpha * pattern.slack;
      const double next = step.next(p, q, alpha, most), change = next - alpha;
      const double gained = change * (target - p - change * q / 2);
      gain += gained;
      *gathered = member;  // written always, kept only if it belongs there: no branch to mispredict
      if constexpr (full) {
        gathered += next > 0 || p < near * target;
        const double gradient = alpha > 0 ? p - target : std::min(0.0, p - target);
        seen.lowest_gradient = std::min(seen.lowest_gradient, gradient);
        seen.highest_gradient = std::max(seen.highest_gradient, gradient);
        seen.smallest_score = std::min(seen.smallest_score, score);
        const double slack = std::max(0.0, 1 - score / target);
        seen.loss += slack * slack / pattern.slack;
        seen.changed |= change != 0;
      } else {
        gathered += gained > threshold;
      }
      if (change == 0) continue;

      patterns.add_to(w, bias, pattern, member.negative() ? -change : change);
      pattern.alpha = next;
      ++updates;
      if (recording_) recorded_.emplace_back(member.row(), next);
    }
    sets_.keep_up_to(gathered);
    pass.gain += gain;
    pass.next = i;
    visits_ += static_cast<std::int64_t>(i - begin);
    updates_ += updates;
    state_.bias = bias;
    if (full) glimpse_ = seen;
  }

  // The end of a full pass or of a round over the first set is a good moment to look.
  Event finish_pass() {
    const bool full = sets_.full(), moment = full || sets_.outermost_round();
    sets_.proceed();
    if (!moment) return Event::slice_over;
    if (full) {
      ++full_passes_;
      const Glimpse seen = std::exchange(glimpse_, Glimpse{});
      const double high = seen.highest_gradient, low = seen.lowest_gradient, allowed = tolerance_ * target_;
      if (!seen.changed || (high - low <= allowed && high <= allowed && -low <= allowed)) return Event::converged;
      const DualTotals totals = totals_of(state_, Loss::squared_hinge);
      if (!std::isfinite(totals.dense2) || totals.t > largest_count) return Event::exhausted;
      forecast_.glimpse(static_cast<double>(visits_) - static_cast<double>(members_.size()),
                        estimated_gap(seen, totals));
    }
    return forecast_.due(static_cast<double>(visits_)) ? Event::full_pass : Event::slice_over;
  }

  double estimated_gap(const Glimpse& seen, const DualTotals& totals) const {
    const double dense2 = totals.dense2 / (target_ * target_);
    const double upper_bound = std::sqrt(totals.dense2 + totals.extended) / totals.t;
    const double margin =
        problem_->hard_margin() ? seen.smallest_score / std::sqrt(totals.dense2) : 1 / std::sqrt(dense2 + seen.loss);
    return 1 - margin / upper_bound;
  }

  void combine(const std::vector<double>& w) {
    SlackRepair<2>::Gram gram{};
    for (const double c : w) gram[0][0] += c * c;
    gram[0][1] = gram[1][0] = w.back();
    gram[1][1] = 1;
    const auto found = SlackRepair<2>(scores_, penalties_, gram).best({1.0, 0.0});
    if (!(found.margin > margin_)) return;
    margin_ = found.margin;
    best_w_ = w;
    best_scale_ = found.c == std::array<double, 2>{} ? 0 : 1;
    if (best_scale_ == 0) return;  // where no weights are better than none, the direction is all there is
    for (double& c : best_w_) c *= found.c[0];
    best_w_.back() += found.c[1];
  }

  void take(const std::vector<double>& w, double smallest_score) {
    double norm2 = 0;
    for (const double c : w) norm2 += c * c;
    if (!(norm2 > 0) || !(smallest_score / std::sqrt(norm2) > margin_)) return;
    margin_ = smallest_score / std::sqrt(norm2);
    best_w_ = w;
    best_scale_ = smallest_score > 0 ? 1 / smallest_score : 0;
  }

  std::shared_ptr<const PackedRows> packed_;
  std::shared_ptr<const Problem> problem_;
  DualStep step_;
  double target_, tolerance_;
  std::vector<Member> members_;
  DualState state_;
  GainSets sets_;
  Forecast forecast_;
  Glimpse glimpse_;
  std::int64_t visits_ = 0, updates_ = 0, full_passes_ = 0;
  std::vector<double> penalties_;  // Delta_k^-2, a single one when all are the same
  std::vector<std::array<double, 2>> scores_;
  std::vector<double> best_w_;
  double best_scale_ = 0, margin_ = -std::numeric_limits<double>::infinity();
  bool recording_ = false;
  std::vector<std::pair<std::int64_t, double>> recorded_;
};

}  // namespace dynmargin
