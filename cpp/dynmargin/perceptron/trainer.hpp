// Schedule x rule x state, until the rule has nothing left to do; advances in short slices and can be resumed at any of
// them.
#pragma once

#include "dynmargin/order/presentation.hpp"
#include "dynmargin/perceptron/lower_bound.hpp"
#include "dynmargin/perceptron/mixture.hpp"
#include "dynmargin/perceptron/polish.hpp"
#include "dynmargin/perceptron/renewal.hpp"
#include "dynmargin/proof/witnesses.hpp"
#include "dynmargin/rules/constant_threshold.hpp"
#include "dynmargin/rules/dynamic_margin.hpp"
#include "dynmargin/rules/fixed_margin.hpp"
#include "dynmargin/rules/margitron.hpp"

namespace dynmargin {

using Rule = std::variant<DynamicMargin, FixedMargin, ConstantThreshold, MargitronUpdates, MargitronNorm>;

class Trainer : public Presentation<Problem, std::pair<std::int64_t, std::int64_t>> {  // row, multiplicity
 public:
  Trainer(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem, Rule rule,
          const Schedule& schedule, double epsilon, std::uint64_t seed)
      : Presentation(std::move(packed), std::move(problem), schedule, epsilon, seed),
        rule_(rule),
        mixing_(schedule.mixing),
        taking_back_(schedule.taking_back),
        state_(empty_state<std::int64_t>(*packed_, *problem_)),
        lower_bound_(*packed_, *problem_),
        mixture_(lengths_of(state_, lower_bound_.members()), is_wide(*packed_, *problem_)),
        renewal_(schedule.renewal && !problem_->hard_margin(), is_wide(*packed_, *problem_),
                 stiffness(*packed_, *problem_)),
        polish_(schedule.polish && std::holds_alternative<DynamicMargin>(rule), *packed_, *problem_, epsilon) {}

  // Begins with counts that are known from before. That is legitimate for the patterns they belong to: a perceptron may
  // have been presented with these first, and any counts prove an upper bound.
  void start_from(std::span<const std::int64_t> rows, std::span<const std::int64_t> counts) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int64_t k = rows[i], n = counts[i];
      require(problem_->has_row(k), "a count belongs to no row of this data");
      require(n >= 0 && n <= static_cast<std::int64_t>(largest_count - state_.totals.t),
              "counts must be non-negative and add up to at most 2**53");
      Pattern& pattern = state_.patterns[k];
      const auto signed_n = static_cast<double>(problem_->sides[k] < 0 ? -n : n);
      with_patterns([&](const auto& patterns) { patterns.add_to(state_.w.data(), state_.bias, pattern, signed_n); });
      pattern.count += n;
      state_.totals.t += static_cast<double>(n);
    }
    state_.totals.norm2 = sums_of(state_).norm2();
  }

  Event advance(double seconds, double max_updates) {
    if (polish_.under_way()) return polish(seconds);
    if (std::exchange(renewed_, false) && meets_awaited(upper_bound())) return Event::bound_met;
    const Event event = with_patterns([&](const auto& patterns) {
      return std::visit(
          [&](const auto& rule) {
            return run_slice(
                seconds, [&] { return present(patterns, rule, max_updates + not_made_); },
                [&] { return finish_pass(rule); });
          },
          rule_);
    });
    const bool no_limit = max_updates >= largest_count;
    return event == Event::max_updates && no_limit ? Event::exhausted : event;
  }

  // One read-only pass over all rows; remembers the best weights seen.
  Bounds check() {
    const double norm = std::sqrt(sums_of(state_).norm2()), bound = norm / state_.totals.t;
    const double smallest = with_patterns([&](const auto& y) { return lower_bound_.improve(y, state_); });
    // The kept counts may be those of the state, summed in another order.
    constexpr double same = 1 - 1e-12;
    const double kept = renewal_.kept_bound(), none = std::numeric_limits<double>::quiet_NaN();
    return {lower_bound_.margin(), std::min(bound, kept), kept < same * bound ? none : smallest / norm};
  }

  bool renews() const { return renewal_.enabled() && std::holds_alternative<DynamicMargin>(rule_); }

  // Whether Newton's steps are under way.
  bool polishing() const { return polish_.under_way(); }
  double polish_work() const { return polish_.work(); }  // in multiplications

  // After a check: improves the best weights if they deserve it (polish.hpp), or continues from the counts that they
  // imply, if that promises more.
  void renew() {
    if (polish_.affordable(visits_, full_passes_)) {
      state_.totals.norm2 = sums_of(state_).norm2();  // the bounds are compared
      const std::vector<double> zero(lower_bound_.w().size());
      return polish_.begin(packed_, problem_, lower_bound_.found() ? lower_bound_.w() : zero, visits_, full_passes_);
    }
    if (!renews()) return;
    const std::vector<double> shares = lower_bound_.shares();
    const double margin = lower_bound_.margin(), bound = std::sqrt(sums_of(state_).norm2()) / state_.totals.t;
    if (shares.empty() || !renewal_.decide(squared_distance(state_, shares), margin, bound)) return;
    renewal_.keep(counts_of(state_), bound);
    const double t = state_.totals.t;
    set_shares(shares);
    std::vector<Member> support;
    for (const Member m : lower_bound_.members())
      if (state_.patterns[m.row()].count > 0) support.push_back(m);
    sets_.start_with(std::move(support));
    with_patterns([&](const auto& patterns) {
      renewal_.begin(patterns, std::get<DynamicMargin>(rule_), state_, sets_.pass().members.items(), bound);
    });
    not_made_ += state_.totals.t - t;
    mixture_.forget();
    // The states to come swing less than those before. (50,000 rows of 20 columns: 8 visits per row, 12 without this.)
    lower_bound_.forget();
    renewed_ = true;
  }

  // Another accuracy for the same run: legitimate, because what was misclassified under a larger eps is under a smaller
  // one too (Section 3).
  void set_rule(Rule rule) { rule_ = rule; }

  // The best counts so far: after a renewal it takes a while until the new ones are better.
  Support support() const {
    if (present_is_best())
      return nonzeros(state_.patterns.size(), [&](std::size_t k) { return state_.patterns[k].count; });
    const std::vector<std::int64_t>& kept = renewal_.kept_counts();
    return nonzeros(kept.size(), [&](std::size_t k) { return kept[k]; });
  }
  Model model() const { return {lower_bound_.w(), lower_bound_.scale()}; }
  std::int64_t updates() const { return static_cast<std::int64_t>(state_.totals.t - not_made_); }
  double upper_bound() const { return present_is_best() ? bound_of(state_.totals) : renewal_.kept_bound(); }
  double norm2() const { return state_.totals.norm2; }

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    Presentation::snapshot(s);
    s(rule_, state_, lower_bound_, not_made_, renewed_);
    mixture_.snapshot(s, state_.w.size() + 1, state_.patterns.size());
    renewal_.snapshot(s, state_.patterns.size());
    polish_.snapshot(s, packed_, problem_);
  }

 private:
  bool present_is_best() const { return !(renewal_.kept_bound() < bound_of(state_.totals)); }

  // What changes with every update is kept in locals, which the compiler knows are not affected by writing to w.
  template <class P, class R>
  Event present(const P& patterns, const R& rule, double max_updates) {
    const std::size_t length = std::clamp<std::size_t>(lower_bound_.members().size() / 32, 64, 1024);
    const double width = sets_.width(), share = renewal_.share();
    const bool single = sets_.single_updates(), taking_back = taking_back_ && sets_.full() && !mixture_.diluting();
    Pattern* const y = state_.patterns.data();
    double* const w = state_.w.data();
    Totals a = state_.totals;
    double bias = state_.bias, taken_back = 0, limit = max_updates;
    bool updated = false;
    const auto visit = [&](Member member, const auto& gather) {
      Pattern& pattern = y[member.row()];
      const double p = patterns.dot(w, bias, pattern, member.side());
      const double score = rule.score(p, a), threshold = rule.threshold(a), q = pattern.squared_norm;
      if constexpr (requires { rule.excess(p, q, a); })
        if (taking_back && pattern.count > 0 && score > threshold) {
          const double most = std::min(static_cast<double>(pattern.count), limit - a.t);
          const double lambda = std::min(rule.excess(p, q, a), most);
          const bool some = lambda >= 1 && lambda < a.t;
          gather(some || score <= width * threshold);
          if (!some) return Event::slice_over;
          patterns.add_to(w, bias, pattern, -member.side() * lambda);
          pattern.count -= static_cast<std::int64_t>(lambda);
          a.t -= lambda;
          a.norm2 -= lambda * (2 * p - lambda * q);
          taken_back += lambda;
          limit -= 2 * lambda;  // it counts as an update, and t is lower
          record({member.row(), -static_cast<std::int64_t>(lambda)});
          return Event::slice_over;
        }
      gather(score <= width * threshold);
      if (!(score <= threshold)) return Event::slice_over;

      double lambda = single ? 1 : rule.multiplicity(p, q, a);
      if (share < 1) lambda = std::max(1.0, std::floor(share * lambda));
      if constexpr (requires { rule.infeasible(q); })
        if (rule.infeasible(q)) return Event::infeasible;
      if (lambda > largest_count - a.t) return Event::exhausted;
      lambda = std::min(lambda, limit - a.t);
      patterns.add_to(w, bias, pattern, member.side() * lambda);
      pattern.count += static_cast<std::int64_t>(lambda);
      a.t += lambda;
      a.norm2 += lambda * (2 * p + lambda * q);
      updated = true;
      record({member.row(), static_cast<std::int64_t>(lambda)});
      return std::isfinite(a.norm2) ? Event::slice_over : Event::exhausted;
    };
    const auto [event, visits] = present_stretch(length, 16, patterns, y, [&] { return a.t >= limit; }, visit);
    sets_.pass().updated |= updated || taken_back > 0;
    not_made_ -= 2 * taken_back;  // what is taken back is an update too
    state_.totals = a;
    state_.bias = bias;
    if (visits > 0) {
      renewal_.control(bound_of(a), visits);
      if (!renewal_.correcting()) lower_bound_.remember(state_, visits);
    }
    return event;
  }

  // Advances Newton's steps. Weights that are better are taken at once, counts that prove more at the end.
  Event polish(double seconds) {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::duration<double>(seconds);
    do {
      if (!polish_.advance()) continue;
      const double before = upper_bound(), now = std::min(polish_.bound(), before);
      // Where rounding decides, weights may seem to beat the bound, and no real ones would ever replace them.
      if (polish_.margin() <= (1 + 1e-9) * before)
        lower_bound_.take_better(polish_.w(), polish_.scores(), polish_.margin());
      polish_.proceed();
      const double margin = lower_bound_.margin();
      if (!polish_.over(margin, now)) continue;
      // Rounding may cost a tenth of what is gained, which has to be worth the change.
      const double gain = (before / now) * (before / now) - 1;
      if (now < before && before - now > 0.01 * (before - margin)) continue_from(polish_.dual_weights(), gain / 10);
      polish_.end();
      return Event::check_due;
    } while (clock::now() < end);
    return Event::slice_over;
  }

  // Continues from counts in proportion to these dual weights of the members, as exact as this or as the rule.
  void continue_from(const std::vector<double>& alpha, double accuracy) {
    renewal_.keep(counts_of(state_), bound_of(state_.totals));
    const double sum = std::accumulate(alpha.begin(), alpha.end(), 0.0), t = state_.totals.t;
    std::vector<double> shares(state_.patterns.size());
    for (std::size_t i = 0; i < alpha.size(); ++i) shares[lower_bound_.members()[i].row()] = alpha[i] / sum;
    set_shares(shares, accuracy);
    renewal_.keep(counts_of(state_), bound_of(state_.totals));  // updates may raise the bound a little
    sets_.start_full_pass();
    renewal_.end();
    not_made_ += state_.totals.t - t;
    mixture_.forget();
    lower_bound_.forget();
  }

  void set_shares(const std::vector<double>& shares, double accuracy = 1) {
    accuracy = std::min(accuracy, std::get<DynamicMargin>(rule_).eps);
    const double T = renewal_.total(mixture_.fine_total(lower_bound_.margin(), accuracy), shares);
    with_patterns([&](const auto& patterns) {
      rebuild(state_, patterns, lower_bound_.members(),
              [&](std::size_t k) { return static_cast<std::int64_t>(T * shares[k] + 0.5); });
    });
  }

  // Continues from the best combination of this state and former ones.
  void mix(const DynamicMargin& rule) {
    const double t = state_.totals.t;
    with_patterns([&](const auto& patterns) {
      const auto set_counts = [&](State& a, const auto& count_of) {
        rebuild(a, patterns, lower_bound_.members(), count_of);
      };
      mixture_.mix(state_, rule.eps, set_counts, lower_bound_.room());
    });
    not_made_ += state_.totals.t - t;
  }
  template <class OtherRule>
  void mix(const OtherRule& /*rule*/) {}

  template <class R>
  Event finish_pass(const R& rule) {
    const PassOver over = start_next_pass();
    // The running ‖a‖² gathers rounding errors; a full pass, which may declare convergence, begins with a fresh one.
    if (sets_.full()) state_.totals.norm2 = sums_of(state_).norm2();
    if (over.full) renewal_.end();
    if (over.full && over.updated && mixing_) mix(rule);
    if constexpr (requires { rule.infeasible(state_.totals); })
      if (over.full && rule.infeasible(state_.totals)) return Event::infeasible;
    return event_after(over, upper_bound(), [&] {
      return polish_.affordable(visits_, full_passes_) || (renews() && renewal_.may_help(full_passes_, state_));
    });
  }

  Rule rule_;
  bool mixing_, taking_back_;
  State state_;
  LowerBound lower_bound_;
  Mixture<State> mixture_;
  Renewal renewal_;
  Polish polish_;
  double not_made_ = 0;   // t less the number of updates: what mixing and renewal have brought, and taken back
  bool renewed_ = false;  // the counts of this moment may prove enough
};

}  // namespace dynmargin
