// Proofs over rows that are spread over shards: what one shard contributes, and what all of them prove.
//
// A shard's contribution is a handful of sums, each with a bound on its rounding error. Whoever adds the sums of shards
// adds the error bounds, and the rounding of that addition. Nothing is proven unless every shard has taken part.
#pragma once

#include "dynmargin/proof/certificate.hpp"

namespace dynmargin {

// What the rows of a shard, or of several, contribute; all of it can be added, but for the smallest score and scale.
struct ShardSums {
  bool finite = true;                     // whether the scores are
  double loss = 0, loss_error = 0;        // as in Weighed
  double counted = 0, counted_error = 0;  // as in Weighed
  double smallest = std::numeric_limits<double>::infinity(), low = smallest;
  std::int64_t t = 0, bias = 0;             // sums of counts, exact
  double extended = 0, extended_error = 0;  // sum n_k² Delta_k²
  double cancelled = 0;                     // how much rounding may have added to the length of a
  double largest_scale = std::numeric_limits<double>::infinity();  // for the hinge
  std::vector<double> a;                                           // sum n_k l_k x_k
  std::vector<double> rest;  // what rounding has left of `a`, if it is known: only then do many shards lose no more
                             // than one
};

// What the counts of a shard add up to, quickly.
inline void add_plain_sums(ShardSums& sums, const PackedRows& packed, const Problem& problem,
                           std::span<const std::int64_t> rows, std::span<const std::int64_t> counts) {
  const std::optional<CountedRows> found = counted_rows(packed, problem, rows, counts);
  if (!found) return;  // the careful way says what is wrong
  const PlainSum sum(packed, problem, rows, counts);
  sums.a = sum();
  sums.t = found->t;
  sums.bias = found->bias;
  sums.cancelled = sum.cancelled(found->gross);
}

// The sum of counted rows minus `a`, which it was rounded to.
template <class Data>
std::vector<double> rest_of_counts(const Data& data, const Problem& problem, std::span<const std::int64_t> rows,
                                   std::span<const std::int64_t> counts, const std::vector<double>& a) {
  std::vector<CompensatedSum> sums(a.size());
  for (std::size_t j = 0; j < a.size(); ++j) sums[j].add(-a[j]);
  with_view(data, [&](const auto& view) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (counts[i] == 0) continue;
      const auto factor = static_cast<double>(problem.sides[rows[i]] > 0 ? counts[i] : -counts[i]);
      view.for_each_entry(rows[i], [&](std::int64_t column, double value) { sums[column].add_product(factor, value); });
    }
  });
  std::vector<double> rest;
  rest.reserve(a.size());
  for (const CompensatedSum& sum : sums) rest.push_back(sum.value());
  return rest;
}

// `careful`: sums in twice the working precision, of scores too.
template <class Data>
ShardSums sums_of_shard(const Data& data, const Problem& problem, std::span<const double> w, double b,
                        std::span<const std::int64_t> rows, std::span<const std::int64_t> counts, bool careful) {
  const DefaultArithmetic arithmetic;
  ShardSums sums;
  const Weighed weighed =
      weigh(data, problem, w, b, {rows, counts}, careful ? Scores::compensated : Scores::plain, problem.n_threads);
  // A soft margin of 0 means that the loss has left the range in which errors are relative. Without rows there is
  // nothing to say.
  const bool claims = problem.hard_margin() ? std::isfinite(weighed.margin.value) : weighed.margin.value > 0;
  sums.finite = claims || problem.n_members() == 0;
  sums.loss = weighed.loss;
  sums.loss_error = weighed.loss_error;
  sums.counted = weighed.counted;
  sums.counted_error = weighed.counted_error;
  if (problem.hard_margin()) {
    sums.smallest = weighed.smallest;
    sums.low = weighed.low;
  }
  if constexpr (std::is_same_v<Data, PackedRows>)
    if (!careful) add_plain_sums(sums, data, problem, rows, counts);
  if (sums.a.empty()) {
    // A free bias is a matter of all shards together.
    Problem apart = problem;
    apart.free_bias = false;
    Counted counted = bound_of_counts(data, apart, rows, counts);
    sums.t = static_cast<std::int64_t>(counted.t);
    sums.bias = counted.bias[0];
    sums.rest = rest_of_counts(data, problem, rows, counts, counted.a);
    sums.cancelled = 3 * counted.cancelled + 1.01 * two_u * std::sqrt(squared_norm(sums.rest).value);
    sums.a = std::move(counted.a);
  }
  CompensatedSum extended;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (counts[i] == 0) continue;
    const auto n = static_cast<double>(counts[i]);
    if (problem.loss == Loss::hinge)
      sums.largest_scale = std::min(sums.largest_scale, problem.penalty(rows[i]) / 2 / n);
    else
      extended.add(n * n / problem.penalty(rows[i]));
  }
  sums.extended = extended.value();
  sums.extended_error = sum_error(static_cast<double>(rows.size())) * sums.extended;
  return sums;
}

// What the sums of all shards prove about the weights (w, b), whose columns are those of `a`. `problem` needs no rows.
inline Proof proof_of_sums(const Problem& problem, std::span<const double> w, double b, ShardSums sums) {
  const DefaultArithmetic arithmetic;
  require(!problem.free_bias || sums.bias == 0, "with a free bias the counts of the two sides must have the same sum");
  require(sums.t >= 0 && sums.t <= std::int64_t{1} << 53, "counts must be non-negative and add up to at most 2**53");
  const SquaredNorm of_weights = squared_norm(w);
  double norm2 = of_weights.value;
  if (problem.rho != 0) norm2 += (b / problem.rho) * (b / problem.rho);
  const bool possible = std::isfinite(b) && std::isfinite(norm2) && (problem.rho != 0 || b == 0 || problem.free_bias);
  Weighed weighed = !(possible && sums.finite) ? Weighed{Bound::no_margin(), norm2}
                    : problem.hard_margin()    ? weighed_by_smallest(norm2, of_weights.terms, sums.smallest, sums.low)
                                               : weighed_by_loss(norm2, of_weights.terms, sums.loss, sums.loss_error);
  weighed.counted = sums.counted;
  weighed.counted_error = sums.counted_error;
  const bool hinge = problem.loss == Loss::hinge;
  const Counted counted = [&] {
    Counted plain = counted_by_sums(std::move(sums.a), sums.bias, {sums.extended, 0}, 2, problem.rho,
                                    static_cast<double>(sums.t), sums.cancelled, sums.extended_error);
    return hinge ? bounded_by_hinge(std::move(plain), sums.largest_scale) : plain;
  }();
  return {weighed.margin, counted.bound, problem.free_bias ? Ball() : ball_of(problem, w, {&b, 1}, weighed, counted)};
}

}  // namespace dynmargin
