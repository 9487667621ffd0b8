// PDM for all classes at once: a visit of a row presents its nearest wrong class.
//
// Every wrong class of a row is a pattern of the joint space, and PDM's own condition decides
// (rules/dynamic_margin.hpp): if it holds for the nearest one, it holds for all. Active sets are sets of rows: those
// with some wrong class in reach.
//
// Nothing here depends on where slices end, so a run gives the same result bit for bit with any slicing.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "../mixture.hpp"
#include "../rules/dynamic_margin.hpp"
#include "../slices.hpp"
#include "joint_lower_bound.hpp"

namespace dynmargin {

class JointTrainer {
 public:
  JointTrainer(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const JointProblem> problem,
               DynamicMargin rule, const Schedule& schedule, std::uint64_t seed)
      : packed_(std::move(packed)),
        problem_(std::move(problem)),
        rule_(rule),
        single_updates_first_(schedule.single_updates_first),
        mixing_(schedule.mixing),
        state_(*packed_, *problem_),
        lower_bound_(*packed_, *problem_),
        mixture_(lengths_of(state_, members()), packed_->n_columns > packed_->n_rows),
        scores_(state_.w.stride),
        sets_(members(), schedule, seed) {}

  Event advance(double seconds, double max_updates) {
    return std::visit(
        [&](const auto& rows) {
          return run_slice(
              sets_, seconds, [&] { return present(rows, max_updates + not_made_); }, [&] { return finish_pass(); });
        },
        packed_->rows);
  }

  // One read-only pass over all rows; remembers the best weights seen.
  Bounds check() {
    return std::visit(
        [&](const auto& rows) {
          const double norm2 = recomputed_norm2(state_), smallest = lower_bound_.look(rows, state_);
          return Bounds{lower_bound_.margin(), std::sqrt(norm2) / state_.totals.t, smallest / std::sqrt(norm2)};
        },
        packed_->rows);
  }

  // Another accuracy for the same run; see Trainer.
  void set_rule(DynamicMargin rule) { rule_ = rule; }

  // The upper bound is known after every pass, however short: `advance` comes back when it has fallen to this.
  void wait_for(double upper_bound) { awaited_bound_ = upper_bound; }

  using Update = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // row, wrong class, multiplicity
  void record_updates() { recording_ = true; }
  const std::vector<Update>& recorded_updates() const { return recorded_; }

  const JointState& state() const { return state_; }
  double upper_bound() const { return std::sqrt(state_.totals.norm2) / state_.totals.t; }
  const JointLowerBound& lower_bound() const { return lower_bound_; }
  double updates() const { return state_.totals.t - not_made_; }
  std::int64_t full_passes() const { return full_passes_; }
  std::int64_t visits() const { return visits_; }

 private:
  std::vector<Member> members() const {
    std::vector<Member> found;
    for (std::size_t k = 0; k < problem_->sides.size(); ++k)
      if (problem_->sides[k] != 0) found.emplace_back(static_cast<std::uint32_t>(k), false);
    return found;
  }

  // As Trainer::present, in shorter stretches: a visit costs more.
  template <class Rows>
  Event present(const Rows& rows, double max_updates) {
    constexpr std::size_t stretch = 256, row_ahead = 4, record_ahead = 8;
    auto& pass = sets_.pass();
    const Member* const members = pass.members.data();
    const std::size_t begin = pass.next, size = pass.members.size(), end = std::min(size, begin + stretch);
    const double width = sets_.width();
    const bool single = single_updates_first_ && sets_.first_full_pass();
    Member* gathered = sets_.gathered().room_for(end - begin);
    Totals& a = state_.totals;
    Event event = Event::slice_over;
    std::size_t i = begin;
    while (i < end && event == Event::slice_over) {
      if (a.t >= max_updates) {
        event = Event::max_updates;
        break;
      }
      if (i + record_ahead < size) prefetch(&state_.rows[members[i + record_ahead].row()]);
      if (i + row_ahead < size) rows.prefetch_row(state_.rows[members[i + row_ahead].row()].start);
      const Member member = members[i++];
      JointRow& row = state_.rows[member.row()];

      score_classes(rows, row.start, problem_->rho, state_.w, scores_.data());
      const std::size_t wrong = nearest_wrong_class(scores_.data(), state_.w.n_classes, row.right);
      const double p = (scores_[row.right] - scores_[wrong]) + static_cast<double>(row.count) * row.delta2;
      const double score = rule_.score(p, a), threshold = rule_.threshold(a);
      *gathered = member;
      gathered += score <= width * threshold;
      if (!(score <= threshold)) continue;

      const double q = squared_norm(row);
      double lambda = single ? 1 : rule_.multiplicity(p, q, a);
      if (lambda > largest_count - a.t) {
        event = Event::exhausted;
        break;
      }
      lambda = std::min(lambda, max_updates - a.t);
      state_.w.add(rows, row.start, problem_->rho, row.right, wrong, lambda);
      row.count += static_cast<std::int64_t>(lambda);
      state_.counts[member.row() * state_.w.n_classes + wrong] += static_cast<std::int64_t>(lambda);
      a.t += lambda;
      a.norm2 += lambda * (2 * p + lambda * q);
      pass.updated = true;
      if (recording_) recorded_.emplace_back(member.row(), wrong, static_cast<std::int64_t>(lambda));
      if (!std::isfinite(a.norm2)) event = Event::exhausted;
    }
    sets_.gathered().keep_up_to(gathered);
    pass.next = i;
    visits_ += static_cast<std::int64_t>(i - begin);
    return event;
  }

  // Goes on from the best combination of this state and former ones; see Trainer.
  void mix() {
    const double t = state_.totals.t;
    std::visit(
        [&](const auto& rows) {
          mixture_.mix(state_, rule_.eps,
                       [&](JointState& a, const auto& count_of) { rebuild(a, rows, problem_->rho, count_of); });
        },
        packed_->rows);
    not_made_ += state_.totals.t - t;
  }

  Event finish_pass() {
    const bool full = sets_.full(), updated = sets_.pass().updated;
    if (!full) lower_bound_.remember(state_, sets_.pass().members.size());
    if (full && !updated)
      sets_.start_full_pass();
    else
      sets_.proceed();
    if (sets_.full()) state_.totals.norm2 = recomputed_norm2(state_);  // see Trainer
    if (full) ++full_passes_;
    if (full && updated && mixing_) mix();
    if (full && !updated) return Event::converged;
    if (upper_bound() < awaited_bound_) return Event::bound_met;
    return full ? Event::full_pass : Event::slice_over;
  }

  std::shared_ptr<const PackedRows> packed_;
  std::shared_ptr<const JointProblem> problem_;
  DynamicMargin rule_;
  bool single_updates_first_;
  bool mixing_;
  JointState state_;
  JointLowerBound lower_bound_;
  Mixture<JointState> mixture_;
  std::vector<double> scores_;  // of the row in hand
  ActiveSets sets_;
  std::int64_t visits_ = 0, full_passes_ = 0;
  double awaited_bound_ = 0;
  double not_made_ = 0;  // of t: what came by mixing
  bool recording_ = false;
  std::vector<Update> recorded_;
};

}  // namespace dynmargin
