// Schedule x rule x state, until the rule has nothing left to do; advances in short slices and can be resumed at any of
// them.
//
// Nothing here depends on where slices end, so a run gives the same result bit for bit with any slicing.
#pragma once

#include <chrono>
#include <cmath>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "patterns.hpp"
#include "rules/dynamic_margin.hpp"
#include "rules/fixed_margin.hpp"
#include "schedule.hpp"
#include "slack_repair.hpp"

namespace dynmargin {

using Rule = std::variant<DynamicMargin, FixedMargin>;

// Why `advance` came back.
enum class Event {
  slice_over,
  full_pass,    // a pass over all rows is complete: a good moment to look at the bounds
  converged,    // a full pass without an update
  max_updates,  // t has reached the limit
  infeasible,   // the rule asks for a margin that does not exist
  exhausted,    // counts or norms have left the range of exact integers and finite numbers
};

// What the weights and counts of the moment are worth.
struct Bounds {
  double margin;              // proven by the weights, slacks repaired
  double upper_bound;         // ‖a‖ / t
  double directional_margin;  // min_k a.y_k / ‖a‖, no repair: the figure of the paper's tables
};

// The weights that are handed out: the best seen at a check, with the scale that repairs their slacks.
struct Model {
  std::vector<double> w;
  double bias = 0;
  double scale = 0;
  double margin = -std::numeric_limits<double>::infinity();
};

class Trainer {
  // The layout of the rows is looked up once a call, not once a visit.
  template <class F>
  auto with_patterns(F&& f) const {
    return std::visit([&](const auto& rows) { return f(Patterns(rows, *packed_, *problem_, extension_)); },
                      packed_->rows);
  }

 public:
  Trainer(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem, Rule rule,
          const Schedule& schedule, std::uint64_t seed)
      : packed_(std::move(packed)),
        problem_(std::move(problem)),
        extension_(*problem_),
        rule_(rule),
        single_updates_first_(schedule.single_updates_first),
        everything_(rows_with_weight(*problem_)),
        sets_(everything_, schedule, seed),
        state_(packed_->n_columns, packed_->n_rows) {}

  Event advance(double seconds, std::int64_t max_updates) {
    return with_patterns([&](const auto& patterns) {
      return std::visit([&](const auto& rule) { return run(patterns, rule, seconds, max_updates); }, rule_);
    });
  }

  // One read-only pass over all rows; remembers the best model seen.
  Bounds check() {
    return with_patterns([&](const auto& patterns) { return bounds(patterns); });
  }

  // Another accuracy for the same run: legitimate, because what was misclassified under a larger eps is under a smaller
  // one too (Section 3).
  void set_rule(Rule rule) { rule_ = rule; }

  void record_updates() { recording_ = true; }
  const std::vector<std::pair<std::int64_t, std::int64_t>>& recorded_updates() const { return recorded_; }

  const State& state() const { return state_; }
  const Model& model() const { return model_; }
  const Problem& problem() const { return *problem_; }
  std::int64_t full_passes() const { return full_passes_; }
  std::int64_t visits() const { return visits_; }

 private:
  static std::vector<std::uint32_t> rows_with_weight(const Problem& problem) {
    std::vector<std::uint32_t> rows;
    for (std::size_t k = 0; k < problem.sides.size(); ++k)
      if (problem.sides[k] != 0) rows.push_back(static_cast<std::uint32_t>(k));
    return rows;
  }

  template <class P, class R>
  Event run(const P& patterns, const R& rule, double seconds, std::int64_t max_updates) {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::duration<double>(seconds);
    do {
      const Event event = present(patterns, rule, max_updates);
      if (event != Event::slice_over) return event;
      if (sets_.pass().next == sets_.pass().members.size()) {
        const Event reached = finish_pass(patterns, rule);
        if (reached != Event::slice_over) return reached;
      }
    } while (clock::now() < end);
    return Event::slice_over;
  }

  // Presents the next stretch of the pass in hand: short enough for the clock to be read often, long enough for it not
  // to matter.
  template <class P, class R>
  Event present(const P& patterns, const R& rule, std::int64_t max_updates) {
    constexpr std::size_t stretch = 1024, ahead = 8;
    auto& pass = sets_.pass();
    auto* gathered = sets_.gathered();
    const double width = sets_.width();
    const bool single = single_updates_first_ && sets_.first_full_pass();
    const std::size_t end = std::min(pass.members.size(), pass.next + stretch);
    while (pass.next < end) {
      if (state_.t >= max_updates) return Event::max_updates;
      const std::uint32_t k = pass.members[pass.next++];
      ++visits_;
      if (pass.next + ahead < pass.members.size()) patterns.prefetch_row(pass.members[pass.next + ahead]);

      const double p = patterns.dot(state_, k);
      const double score = rule.score(p, state_), threshold = rule.threshold(state_);
      if (gathered && score <= width * threshold) gathered->push_back(k);
      if (!(score <= threshold)) continue;

      const double q = patterns.squared_norm(k);
      if (rule.infeasible(q)) return Event::infeasible;
      std::int64_t lambda = single ? 1 : rule.multiplicity(p, q, state_);
      if (lambda > largest_count - state_.t) return Event::exhausted;
      lambda = std::min(lambda, max_updates - state_.t);
      patterns.add_to(state_, k, lambda, p, q);
      pass.updated = true;
      if (recording_) recorded_.emplace_back(k, lambda);
      if (!std::isfinite(state_.norm2)) return Event::exhausted;
    }
    return Event::slice_over;
  }

  template <class P, class R>
  Event finish_pass(const P& patterns, const R& rule) {
    const bool full = sets_.full(), updated = sets_.pass().updated;
    if (full && !updated)
      sets_.start_full_pass();
    else
      sets_.proceed();
    // The running ‖a‖² gathers rounding errors; a full pass, which may declare convergence, begins with a fresh one.
    if (sets_.full()) state_.norm2 = patterns.recomputed_norm2(state_);
    if (!full) return Event::slice_over;
    ++full_passes_;
    if (rule.infeasible(state_)) return Event::infeasible;
    return updated ? Event::full_pass : Event::converged;
  }

  template <class P>
  Bounds bounds(const P& patterns) {
    const double norm2 = patterns.recomputed_norm2(state_);
    double dense2 = state_.bias * state_.bias, smallest = std::numeric_limits<double>::infinity();
    for (double c : state_.w) dense2 += c * c;
    scores_.resize(everything_.size());
    for (std::size_t i = 0; i < everything_.size(); ++i) {
      const std::uint32_t k = everything_[i];
      scores_[i] = patterns.dense_dot(state_.w, state_.bias, k);
      smallest = std::min(smallest, scores_[i] + static_cast<double>(state_.counts[k]) * patterns.delta2(k));
    }
    const double norm = std::sqrt(norm2), t = static_cast<double>(state_.t);
    const Repair repair = problem_->hard_margin() ? repair_hard_margin(scores_, dense2)
                                                  : repair_slacks(scores_, everything_, *problem_, dense2, t / norm2);
    if (repair.margin > model_.margin) model_ = {state_.w, state_.bias, repair.scale, repair.margin};
    return {model_.margin, norm / t, smallest / norm};
  }

  std::shared_ptr<const PackedRows> packed_;
  std::shared_ptr<const Problem> problem_;
  Extension extension_;
  Rule rule_;
  bool single_updates_first_;
  std::vector<std::uint32_t> everything_;
  ActiveSets sets_;
  State state_;
  Model model_;
  std::vector<double> scores_;
  std::int64_t visits_ = 0, full_passes_ = 0;  // passes completed
  bool recording_ = false;
  std::vector<std::pair<std::int64_t, std::int64_t>> recorded_;
};

}  // namespace dynmargin
