// Bounds that are true in real arithmetic, not only up to rounding: what the proofs for two classes and for the joint
// margin share.
//
// Every sum is followed by a bound on its own rounding error (Higham, Accuracy and Stability of Numerical Algorithms,
// chapters 3 and 4; u = 2^-53), and results are rounded outward. `error` is how far the value may be from the exact
// one; a bound is published three errors outward, so that another machine that sums in another order still confirms it.
#pragma once

#include <cfloat>

#include "dynmargin/data/problem.hpp"

namespace dynmargin {

static_assert(FLT_EVAL_METHOD == 0, "the error bounds need doubles to be computed as doubles");

// Twice the unit roundoff: bounds of the form n * two_u leave a factor 2 for the rounding of the bound itself.
inline constexpr double two_u = std::numeric_limits<double>::epsilon();

// What a product may lose at the lower end of the doubles.
inline constexpr double underflow = std::numeric_limits<double>::denorm_min();

// Outside this range squares may underflow or overflow; nothing is claimed there.
inline constexpr double smallest_square = 1e-250, largest_square = 1e250;

// A bound of the best margin, and how far rounding may have moved it: |value - exact| <= error.
//
// `lower` and `upper` are the only ways to make one, and they claim nothing unless both numbers are finite and the
// error is not negative. So whatever has overflowed or become NaN on the way to a bound fails closed.
class Bound {
 public:
  static Bound lower(double value, double error) { return {value, error, -infinity}; }
  static Bound upper(double value, double error) { return {value, error, infinity}; }
  static Bound no_margin() { return lower(-infinity, 0); }

  const double value, error;

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  static bool claims(double value, double error) { return std::isfinite(value) && std::isfinite(error) && error >= 0; }

  Bound(double found, double distance, double nothing)
      : value(claims(found, distance) ? found : nothing), error(claims(found, distance) ? distance : 0) {}
};

// A sum of squares, and how many of them are not zero: only these are rounded.
struct SquaredNorm {
  double value = 0, terms = 0;
};

// Four at a time, so that the additions do not wait for each other. Any order has the same error bound.
inline SquaredNorm squared_norm(std::span<const double> v) {
  std::array<double, 4> sums{};
  std::int64_t terms = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    sums[i % 4] += v[i] * v[i];
    terms += v[i] != 0;
  }
  return {(sums[0] + sums[1]) + (sums[2] + sums[3]), static_cast<double>(terms)};
}

// How far a sum of `terms` products may be off, whatever the order of summation; `size` is the sum of their absolute
// values.
inline double score_error(std::int64_t terms, double size) { return (terms + 4) * (two_u * size + underflow); }

// What a proof is made from: the matrix as it is given, or the rows as they are packed, if every value is as it is
// stored. Packed rows take less time, and have no columns that do not occur.
template <class F>
void with_view(const MatrixView& matrix, const F& f) {
  std::visit(f, matrix);
}
template <class F>
void with_view(const PackedRows& packed, const F& f) {
  require(!packed.summed, "rows with repetitions are proven from the matrix");
  std::visit(
      [&](const auto& rows) { f(PackedView<std::decay_t<decltype(rows)>>{rows, packed.squared_norms, packed.n_rows}); },
      packed.rows);
}
inline std::int64_t n_columns(const PackedRows& packed) { return packed.n_columns; }

// How right a row is: its signed score, or its smallest margin over wrong classes.
struct RowScore {
  double value, low;  // low: as small as the exact one may be
  double error;       // |value - exact| <= error
};

// The margin of weights with squared length `norm2`, a sum of `terms` squares; score_of(view, k) is the score of row k.
// It is 1 / sqrt(F) with F = norm2 + sum_k Delta_k^-2 max(0, 1 - s_k)², twice LinearSVC's objective; the same with
// 2 C_k max(0, ...) for the hinge; for the hard margin min_k s_k / sqrt(norm2).
template <class Data, class AnyProblem, class ScoreOf>
Bound margin_of_scores(const Data& data, const AnyProblem& problem, double norm2, double terms,
                       const ScoreOf& score_of) {
  const double norm2_error = (terms + 8) * two_u * norm2;
  bool finite = std::isfinite(norm2);
  double loss = 0, loss_error = 0;  // soft margin
  double smallest = std::numeric_limits<double>::infinity(), smallest_low = smallest;
  const bool hard = problem.hard_margin();
  with_view(data, [&](const auto& view) {
    for (std::int64_t k = 0; k < view.n_rows; ++k) {
      if (problem.sides[k] == 0) continue;
      const RowScore score = score_of(view, k);
      finite &= std::isfinite(score.value);
      if (hard) {
        smallest = std::min(smallest, score.value);
        smallest_low = std::min(smallest_low, score.low);
      } else if (const double slack = 1 - score.value; slack + score.error > 0) {
        const double penalty = problem.penalty(k), kept = std::max(slack, 0.0);
        const double slack_error = score.error + two_u * (1 + std::abs(score.value));
        const bool hinge = problem.loss == Loss::hinge;
        loss += hinge ? penalty * kept : penalty * kept * kept;
        loss_error += hinge ? penalty * slack_error : penalty * (2 * kept + slack_error) * slack_error;
      }
    }
  });

  if (!finite) return Bound::no_margin();
  if (hard) {
    if (!(norm2 > smallest_square)) return Bound::no_margin();
    const double norm = std::sqrt(norm2), margin = smallest / norm;
    return Bound::lower(margin,
                        (smallest - smallest_low) / norm + (terms + 16) * (two_u * std::abs(margin) + underflow));
  }
  const double F = norm2 + loss;
  if (!(F > smallest_square && F < largest_square)) return Bound::lower(0, 0);  // a soft margin is never negative
  // All terms are positive, so the relative error of the sum is at most its number of terms times u.
  const double relative = (norm2_error + loss_error * 1.01 + (problem.n_members() + 16) * two_u * loss) / F + 8 * two_u;
  const double margin = 1 / std::sqrt(F);
  return Bound::lower(margin, relative * margin);  // d(F^-1/2) = -(1/2) F^-3/2 dF: a factor 2 to spare
}

// ‖a‖ / t, where ‖a‖² = norm2 is a sum of `terms` squares and of `extended`, a sum of `extended_terms`
// positive terms.
// `cancelled` bounds the length of what rounding has added to a. Squares that have vanished leave a length far below
// sqrt(smallest_square), however many they are.
inline Bound norm_by_t(double norm2, double t, double terms, double extended, double extended_terms, double cancelled) {
  const double value = std::sqrt(norm2) / t, vanished = std::sqrt(smallest_square);
  const double relative = (terms + 16) * two_u + (extended_terms + 16) * two_u * (norm2 > 0 ? extended / norm2 : 0);
  return Bound::upper(value, relative * value + (cancelled + vanished) / t);
}

// Where the length of a row is known, the sum of its absolute values is at most sqrt(terms) times that: a chain of
// additions less, in a term that hardly counts.
template <class View>
inline constexpr bool knows_lengths = requires(const View& view) { view.length(0); };

// A vector of sums kept in twice the working precision: each sum is high + low, wrong by at most (terms u)² of what was
// added.
class CompensatedVector {
 public:
  explicit CompensatedVector(std::size_t size) : sums_(size) {}

  void add(std::size_t j, double factor, double value) {
    const double product = factor * value;
    add_exact(j, product, std::fma(factor, value, -product));
  }

  // A float has 24 bits: times each of two parts of at most 27 it makes exact products, which costs less than fma does
  // where that is a call.
  void add(std::size_t j, double high_factor, double low_factor, float value) {
    const double high = high_factor * static_cast<double>(value), low = low_factor * static_cast<double>(value);
    const double product = high + low;
    add_exact(j, product, (high - product) + low);
  }

  void prefetch(std::size_t j) const { dynmargin::prefetch(&sums_[j]); }
  bool is_large() const { return sums_.size() * sizeof(Sum) > std::size_t{1} << 18; }  // for the cache

  SquaredNorm squared_norm() const {
    double sum = 0;
    std::int64_t terms = 0;
    for (const Sum& s : sums_) {
      const double c = s.high + s.low;
      sum += c * c;
      terms += c != 0;
    }
    return {sum, static_cast<double>(terms)};
  }

 private:
  struct Sum {
    double high = 0, low = 0;
  };

  void add_exact(std::size_t j, double product, double product_error) {
    Sum& s = sums_[j];
    const double sum = s.high + product, part = sum - s.high;
    s.low += ((s.high - (sum - part)) + (product - part)) + product_error;
    s.high = sum;
  }

  std::vector<Sum> sums_;
};

// a = sum n_k y_k from counts and data alone, in one block of coordinates or one per class.
class CountedSum {
 public:
  CountedSum(std::int64_t n_columns, std::size_t n_blocks)
      : blocks_(n_blocks, CompensatedVector(n_columns)), bias_(n_blocks) {}

  // Counts `n` more updates; the sum of all counts has to be exact.
  void count(std::int64_t n) {
    require(n >= 0 && n <= (std::int64_t{1} << 53) - t_, "counts must be non-negative and add up to at most 2**53");
    t_ += n;
  }

  // Fetches the sums that a row will be added to: an addition takes so many instructions that the CPU looks only a few
  // of them ahead. (77,567 texts of 915,863 words: 14 ms instead of 31.)
  template <class View>
  void prefetch(const View& view, std::int64_t row, std::size_t block) const {
    if (blocks_[block].is_large())
      view.for_each_entry(row, [&](std::int64_t column, double) { blocks_[block].prefetch(column); });
  }

  // Adds `times` times a row, with its augmentation, to a block.
  template <class View>
  void add(const View& view, std::int64_t row, std::size_t block, std::int64_t times) {
    const auto factor = static_cast<double>(times);
    const double high_factor = std::trunc(factor * 0x1p-27) * 0x1p27, low_factor = factor - high_factor;
    CompensatedVector& sums = blocks_[block];
    double size = 0;
    std::int64_t terms = 0;
    view.for_each_entry(row, [&](std::int64_t column, double value) {
      if constexpr (View::is_float32)
        sums.add(column, high_factor, low_factor, static_cast<float>(value));
      else
        sums.add(column, factor, value);
      if constexpr (!knows_lengths<View>) size += std::abs(value);
      ++terms;
    });
    if constexpr (knows_lengths<View>) size = std::sqrt(static_cast<double>(terms)) * view.length(row) * 1.01;
    terms_ += static_cast<double>(terms);
    gross_ += std::abs(factor) * size;
    bias_[block] += times;
  }

  // A row's own coordinate, n Delta_k.
  void extend(std::int64_t n, double penalty) {
    extended_ += static_cast<double>(n) * static_cast<double>(n) / penalty;
  }

  double t() const { return static_cast<double>(t_); }
  std::int64_t bias(std::size_t block) const { return bias_[block]; }

  // ‖a‖ / t, which without counts is 0 / 0 and claims nothing. The norm of a block is a sum of squares, and that of all
  // blocks one of as many as the longest has, and `more_terms`. (Coordinates that are zero do not count: whether
  // columns that do not occur are there must not matter to whoever proves it again.)
  Bound bound(double rho, std::size_t n_counts, std::size_t more_terms) const {
    double norm2 = extended_, most_terms = 0;
    for (std::size_t c = 0; c < blocks_.size(); ++c) {
      const double augmented = static_cast<double>(bias_[c]) * rho;
      const SquaredNorm block = blocks_[c].squared_norm();
      norm2 += block.value + augmented * augmented;
      most_terms = std::max(most_terms, block.terms);
    }
    const double cancelled = (terms_ + 4) * (terms_ + 4) * two_u * two_u * gross_ * 1.01;  // despite the compensation
    return norm_by_t(norm2, t(), most_terms + static_cast<double>(more_terms), extended_, static_cast<double>(n_counts),
                     cancelled);
  }

 private:
  std::vector<CompensatedVector> blocks_;
  std::vector<std::int64_t> bias_;  // whole numbers, exact
  std::int64_t t_ = 0;
  double extended_ = 0, gross_ = 0, terms_ = 0;  // gross: sum |n_k| |x_kj|, which bounds what cancels in the blocks
};

}  // namespace dynmargin
