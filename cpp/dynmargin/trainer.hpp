// Schedule x rule x state, until the rule has nothing left to do; advances in short slices and can be resumed at any of
// them.
//
// Nothing here depends on where slices end, so a run gives the same result bit for bit with any slicing.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "lower_bound.hpp"
#include "mixture.hpp"
#include "patterns.hpp"
#include "renewal.hpp"
#include "rules/constant_threshold.hpp"
#include "rules/dynamic_margin.hpp"
#include "rules/fixed_margin.hpp"
#include "rules/margitron.hpp"
#include "schedule.hpp"
#include "slices.hpp"

namespace dynmargin {

using Rule = std::variant<DynamicMargin, FixedMargin, ConstantThreshold, MargitronUpdates, MargitronNorm>;

class Trainer {
  // The layout of the rows is looked up once a call, not once a visit.
  template <class F>
  auto with_patterns(F&& f) const {
    return std::visit([&](const auto& rows) { return f(Patterns(rows, problem_->rho)); }, packed_->rows);
  }

 public:
  Trainer(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem, Rule rule,
          const Schedule& schedule, std::uint64_t seed)
      : packed_(std::move(packed)),
        problem_(std::move(problem)),
        rule_(rule),
        single_updates_first_(schedule.single_updates_first),
        mixing_(schedule.mixing),
        state_(empty_state<std::int64_t>(*packed_, *problem_)),
        lower_bound_(members_of(*problem_), *problem_, *packed_),
        mixture_(lengths_of(state_, lower_bound_.members()), packed_->n_columns > packed_->n_rows),
        sets_(members_of(*problem_), schedule, seed) {}

  // Adds counts that are known from before, to begin with. Legitimate for the patterns they belong to: a perceptron may
  // have been presented these first, and any counts prove an upper bound.
  void start_from(std::span<const std::int64_t> rows, std::span<const std::int64_t> counts) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int64_t k = rows[i], n = counts[i];
      if (k < 0 || k >= packed_->n_rows || problem_->sides[k] == 0)
        throw std::invalid_argument("a count belongs to no row of this data");
      if (n < 0 || n > static_cast<std::int64_t>(largest_count - state_.totals.t))
        throw std::invalid_argument("counts must be non-negative and add up to at most 2**53");
      Pattern& pattern = state_.patterns[k];
      const auto signed_n = static_cast<double>(problem_->sides[k] < 0 ? -n : n);
      with_patterns([&](const auto& patterns) { patterns.add_to(state_.w.data(), state_.bias, pattern, signed_n); });
      pattern.count += n;
      state_.totals.t += static_cast<double>(n);
    }
    state_.totals.norm2 = recomputed_norm2(state_);
  }

  Event advance(double seconds, double max_updates) {
    return with_patterns([&](const auto& patterns) {
      return std::visit([&](const auto& rule) { return run(patterns, rule, seconds, max_updates); }, rule_);
    });
  }

  // One read-only pass over all rows; remembers the best weights seen.
  Bounds check() {
    return with_patterns([&](const auto& patterns) {
      const double norm = std::sqrt(recomputed_norm2(state_)), smallest = lower_bound_.look(patterns, state_);
      if (kept_bound_ < norm / state_.totals.t)
        return Bounds{lower_bound_.margin(), kept_bound_, std::numeric_limits<double>::quiet_NaN()};
      return Bounds{lower_bound_.margin(), norm / state_.totals.t, smallest / norm};
    });
  }

  bool renews() const { return mixing_ && std::holds_alternative<DynamicMargin>(rule_) && !problem_->hard_margin(); }

  // How much of ‖a‖² is in the extension.
  double extension() const {
    double dense = 0;
    for_each_coordinate(state_, [&](double c) { dense += c * c; });
    return 1 - dense / state_.totals.norm2;
  }

  // After a check: goes on from the counts that the best weights call for, if that promises more.
  void renew() {
    if (!renews()) return;
    const auto& rule = std::get<DynamicMargin>(rule_);
    const std::vector<double> shares = lower_bound_.shares();
    const double margin = lower_bound_.margin(), bound = std::sqrt(recomputed_norm2(state_)) / state_.totals.t;
    if (shares.empty() || !renewal_.decide(squared_distance(state_, shares) / (margin * margin), margin, bound)) return;
    if (bound < kept_bound_) {
      kept_ = counts(state_);
      kept_bound_ = bound;
    }
    const double t = state_.totals.t, largest = *std::max_element(shares.begin(), shares.end());
    const double T = std::max(mixture_.fine_total(margin, rule.eps), 4 / largest);  // some counts must be left
    with_patterns([&](const auto& patterns) {
      rebuild(state_, patterns, lower_bound_.members(),
              [&](std::size_t k) { return static_cast<std::int64_t>(T * shares[k] + 0.5); });
      std::vector<Member> support;
      for (const Member m : lower_bound_.members())
        if (state_.patterns[m.row()].count > 0) support.push_back(m);
      const std::size_t size = support.size();
      sets_.start_with(std::move(support));
      renewal_.begin(size, share_to_mend(patterns, rule), bound, present_bound());
    });
    not_made_ += state_.totals.t - t;
    mixture_.forget();
    // The states to come swing less than those before. (50,000 rows of 20 columns: 8 visits a row, 12 without this.)
    lower_bound_.forget();
  }

  // Another accuracy for the same run: legitimate, because what was misclassified under a larger eps is under a smaller
  // one too (Section 3).
  void set_rule(Rule rule) { rule_ = rule; }

  // The upper bound is known after every pass, however short: `advance` comes back when it has fallen to this.
  void wait_for(double upper_bound) { awaited_bound_ = upper_bound; }

  void record_updates() { recording_ = true; }
  const std::vector<std::pair<std::int64_t, std::int64_t>>& recorded_updates() const { return recorded_; }

  const State& state() const { return state_; }

  // The best counts at hand: after a renewal it takes a while until they are better than those before.
  std::vector<std::int64_t> best_counts() const { return present_is_best() ? counts(state_) : kept_; }
  double updates() const { return state_.totals.t - not_made_; }
  double upper_bound() const { return present_is_best() ? present_bound() : kept_bound_; }
  const LowerBound& lower_bound() const { return lower_bound_; }
  std::int64_t full_passes() const { return full_passes_; }
  std::int64_t visits() const { return visits_; }

 private:
  double present_bound() const { return std::sqrt(state_.totals.norm2) / state_.totals.t; }
  bool present_is_best() const { return !(kept_bound_ < present_bound()); }

  template <class P, class R>
  Event run(const P& patterns, const R& rule, double seconds, double max_updates) {
    return run_slice(
        sets_, seconds, [&] { return present(patterns, rule, max_updates + not_made_); },
        [&] { return finish_pass(rule); });
  }

  // Presents the next stretch of the pass in hand: short enough for the clock to be read often, long enough for it not
  // to matter. What changes with every update is kept in locals, where writing to w cannot be thought to touch it.
  template <class P, class R>
  Event present(const P& patterns, const R& rule, double max_updates) {
    constexpr std::size_t row_ahead = 8, pattern_ahead = 16;
    const std::size_t stretch = std::clamp<std::size_t>(packed_->n_rows / 32, 64, 1024);
    auto& pass = sets_.pass();
    const Member* const members = pass.members.data();
    const std::size_t begin = pass.next, size = pass.members.size(), stretch_begin = begin / stretch * stretch;
    const std::size_t end = std::min(size, stretch_begin + stretch);
    const double width = sets_.width();
    const bool single = single_updates_first_ && sets_.first_full_pass();
    const double share = renewal_.share();
    Member* gathered = sets_.gathered().room_for(end - begin);
    Pattern* const y = state_.patterns.data();
    double* const w = state_.w.data();
    Totals a = state_.totals;
    double bias = state_.bias;
    bool updated = false;
    Event event = Event::slice_over;
    std::size_t i = begin;
    while (i < end) {
      if (a.t >= max_updates) {
        event = Event::max_updates;
        break;
      }
      if (i + pattern_ahead < size) prefetch(&y[members[i + pattern_ahead].row()]);
      if (i + row_ahead < size) patterns.prefetch_row(y[members[i + row_ahead].row()]);
      const Member member = members[i++];
      Pattern& pattern = y[member.row()];

      const double p = patterns.dot(w, bias, pattern, member.side());
      const double score = rule.score(p, a), threshold = rule.threshold(a);
      *gathered = member;  // written always, kept only if the score says so: no branch to mispredict
      gathered += score <= width * threshold;
      if (!(score <= threshold)) continue;

      const double q = pattern.squared_norm;
      double lambda = single ? 1 : rule.multiplicity(p, q, a);
      if (share < 1) lambda = std::max(1.0, std::floor(share * lambda));
      if (lambda > largest_count - a.t) event = Event::exhausted;
      if (rule.infeasible(q)) event = Event::infeasible;
      if (event != Event::slice_over) break;
      lambda = std::min(lambda, max_updates - a.t);
      patterns.add_to(w, bias, pattern, member.side() * lambda);
      pattern.count += static_cast<std::int64_t>(lambda);
      a.t += lambda;
      a.norm2 += lambda * (2 * p + lambda * q);
      updated = true;
      if (recording_) recorded_.emplace_back(member.row(), static_cast<std::int64_t>(lambda));
      if (!std::isfinite(a.norm2)) {
        event = Event::exhausted;
        break;
      }
    }
    sets_.gathered().keep_up_to(gathered);
    pass.updated |= updated;
    pass.next = i;
    visits_ += static_cast<std::int64_t>(i - begin);
    state_.totals = a;
    state_.bias = bias;
    if (i == end) {
      renewal_.control(present_bound(), end - stretch_begin);
      if (!renewal_.mending()) lower_bound_.remember(state_, end - stretch_begin);
    }
    return event;
  }

  // Such that one visit of all patterns in hand would make `a` vanish, if nothing changed meanwhile. The first of them,
  // in random order, stand for all.
  template <class P>
  double share_to_mend(const P& patterns, const DynamicMargin& rule) {
    const MemberList& members = sets_.pass().members;
    const std::size_t sample = std::min<std::size_t>(1024, members.size());
    double made = 0;  // of what is to go from ‖a‖², halved, by full updates
    for (std::size_t i = 0; i < sample; ++i) {
      const Member m = members.data()[i];
      const Pattern& y = state_.patterns[m.row()];
      const double p = patterns.dot(state_.w.data(), state_.bias, y, m.side());
      if (p < 0) made -= p * rule.multiplicity(p, y.squared_norm, state_.totals);
    }
    return state_.totals.norm2 / (made * static_cast<double>(members.size()) / static_cast<double>(sample));
  }

  // Goes on from the best combination of this state and former ones.
  void mix(const DynamicMargin& rule) {
    const double t = state_.totals.t;
    with_patterns([&](const auto& patterns) {
      mixture_.mix(state_, rule.eps,
                   [&](State& a, const auto& count_of) { rebuild(a, patterns, lower_bound_.members(), count_of); });
    });
    not_made_ += state_.totals.t - t;
  }
  template <class OtherRule>
  void mix(const OtherRule& /*rule*/) {}

  template <class R>
  Event finish_pass(const R& rule) {
    const bool full = sets_.full(), updated = sets_.pass().updated;
    if (full && !updated)
      sets_.start_full_pass();
    else
      sets_.proceed();
    // The running ‖a‖² gathers rounding errors; a full pass, which may declare convergence, begins with a fresh one.
    if (sets_.full()) state_.totals.norm2 = recomputed_norm2(state_);
    if (full) ++full_passes_;
    if (full) renewal_.end();
    if (full && updated && mixing_) mix(rule);
    if (full && rule.infeasible(state_.totals)) return Event::infeasible;
    if (full && !updated) return Event::converged;
    if (upper_bound() < awaited_bound_) return Event::bound_met;
    return full ? Event::full_pass : Event::slice_over;
  }

  std::shared_ptr<const PackedRows> packed_;
  std::shared_ptr<const Problem> problem_;
  Rule rule_;
  bool single_updates_first_;
  bool mixing_;
  State state_;
  LowerBound lower_bound_;
  Mixture<State> mixture_;
  Renewal renewal_;
  std::vector<std::int64_t> kept_;  // the best counts before a renewal, and what they prove
  double kept_bound_ = std::numeric_limits<double>::infinity();
  ActiveSets sets_;
  std::int64_t visits_ = 0, full_passes_ = 0;  // passes completed
  double awaited_bound_ = 0;
  double not_made_ = 0;  // of t: what came by mixing and renewal
  bool recording_ = false;
  std::vector<std::pair<std::int64_t, std::int64_t>> recorded_;
};

}  // namespace dynmargin
