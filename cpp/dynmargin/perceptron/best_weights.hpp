// What the lower bounds of both kinds of problem share: a running average of states, and the best weights so far.
//
// The weights of a perceptron swing around the optimum; their average is better than any of them. It reaches back a
// part of the run, not a number of passes: the longer the run, the smaller the swing that is left to average out.
#pragma once

#include "dynmargin/data/packed_rows.hpp"
#include "dynmargin/order/members.hpp"
#include "dynmargin/rules/totals.hpp"
#include "dynmargin/solve/slack_repair.hpp"

namespace dynmargin {

// The weights are combinations of K directions. If direction `bias` is below K, it is the bias, and its scores are not
// stored.
template <std::size_t K, std::size_t bias = K>
class BestWeights {
 public:
  const std::vector<Member>& members() const { return members_; }  // the patterns that take part, by row
  double margin() const { return margin_; }
  double scale() const { return scale_; }

  // Begins a new average.
  void forget() { remembered_ = 0; }

 protected:
  using Repair = SlackRepair<K, bias>;
  using Combined = typename Repair::Coefficients;
  using Gram = typename Repair::Gram;

  template <class Problem>
  BestWeights(const PackedRows& packed, const Problem& problem)
      : members_(members_of(problem)),
        row_length_(static_cast<double>(n_nonzeros(packed, problem)) / static_cast<double>(members_.size())),
        penalties_(whole_lanes(members_.size())) {
    if (problem.hard_margin()) return;
    for (std::size_t i = 0; i < members_.size(); ++i) set_penalty(i, problem.penalty(members_[i].row()));
  }

  double penalty(std::size_t i) const { return std::abs(penalties_[i]); }

  template <class Snapshot>
  void snapshot(Snapshot& s, std::size_t n_coordinates) {
    s.fixed_or_empty(average_, n_coordinates);
    s(start_, scale_, margin_, remembered_);
  }

  // a t / ‖a‖² has the length of the optimum, up to the gap.
  static double canonical_scale(const Totals& a) { return a.norm2 > 0 ? a.t / a.norm2 : 0; }

  template <class AnyState>
  void take_into_average(const AnyState& a, std::size_t n_coordinates) {
    const auto before = static_cast<double>(remembered_++);
    const double scale = canonical_scale(a.totals), keep = before / (before + 6);
    average_.resize(n_coordinates);
    double* average = average_.data();
    for_each_coordinate(a, [&](double c) {
      *average = keep * *average + (1 - keep) * scale * c;
      ++average;
    });
  }

  // No slack is allowed: `best()` is the best combination when slacks are very expensive; it, the state and the average
  // are worth what their smallest score says.
  template <class Best, class Norm2, class Smallest, class Take>
  void combine_hard(const Gram& gram, const Best& best, const Norm2& norm2_of, const Smallest& smallest_of,
                    const Take& take) {
    constexpr double expensive = 1e3;
    for (std::size_t i = 0; i < members_.size(); ++i) set_penalty(i, expensive * gram[0][0]);
    const Combined found = gram[0][0] > 0 ? best() : Combined{};
    if (found != Combined{}) start_ = found;
    for (const Combined& c : {Combined{1}, Combined{0, 1}, found}) {
      const double norm2 = norm2_of(c), smallest = smallest_of(c), margin = smallest / std::sqrt(norm2);
      if (norm2 > 0 && margin > margin_) take(c, margin, smallest > 0 ? 1 / smallest : 0);
    }
  }

  // Of members, whose rows are scored.
  Blocks blocks() const { return Blocks::of_rows(members_.size(), row_length_ * static_cast<double>(members_.size())); }

  std::vector<Member> members_;
  double row_length_;  // non-zeros, on average
  // Delta_k^-2 (for the hard margin something large), negative for the negative side where one of the directions is the
  // bias (slack_repair.hpp), and zeros up to whole lanes.
  std::vector<double> penalties_;
  std::vector<double> average_;  // of states at the length of the optimum; empty before the first
  Combined start_{1};            // the last combination found: the next one is close
  double scale_ = 0, margin_ = -std::numeric_limits<double>::infinity();

 private:
  void set_penalty(std::size_t i, double penalty) {
    penalties_[i] = bias < K && members_[i].negative() ? -penalty : penalty;
  }

  std::int64_t remembered_ = 0;
};

}  // namespace dynmargin
