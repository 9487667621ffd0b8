// A two-class problem over the rows: the side of each row, and what its slack costs.
#pragma once

#include <sstream>

#include "dynmargin/data/packed_rows.hpp"
#include "dynmargin/order/threads.hpp"

namespace dynmargin {

enum class Loss {
  squared_hinge,  // the 2-norm soft margin: a slack costs C times its square
  hinge,          // the 1-norm soft margin: a slack costs C times itself
};

struct Problem {
  std::vector<std::int8_t> sides;  // l_k = +1 or -1; 0 for a row of zero weight, which is left out
  double rho = 0;                  // the augmentation (intercept_scaling); 0 without an intercept
  double C_negative = 1, C_positive = 1;
  std::vector<double> sample_weight;  // empty: all ones
  Loss loss = Loss::squared_hinge;
  bool free_bias = false;  // an unregularised intercept: no augmentation, margins are geometric
  unsigned n_threads = 1;  // that a pass over the rows may use; no result depends on it

  void require_valid() const {
    require(rho >= 0 && std::isfinite(rho), "rho must not be negative or infinite");
    require(!free_bias || rho == 0, "a free bias needs no augmentation: rho must be 0");
    require_cost(C_negative);
    require_cost(C_positive);
    require(std::isinf(C_negative) == std::isinf(C_positive), "C must be finite for both classes or for neither");
    require(loss != Loss::hinge || !hard_margin(),
            "the hinge needs a finite C; without slacks both losses are the same");
    for (const int side : sides) require(side >= -1 && side <= 1, "a side is none of -1, 0 and 1");
    for (std::size_t k = 0; k < sample_weight.size(); ++k)
      if (sides[k] != 0) require_cost(sample_weight[k] * (sides[k] > 0 ? C_positive : C_negative));
  }

  // Delta_k^-2 = 2 C weight_k, twice the price of a squared slack (of a slack, for the hinge); infinite for the hard
  // margin.
  double penalty(std::size_t k) const {
    const double C = sides[k] > 0 ? C_positive : C_negative;
    return 2 * (sample_weight.empty() ? C : C * sample_weight[k]);
  }
  // Delta_k²; with the hinge patterns are not extended.
  double delta2(std::size_t k) const { return loss == Loss::hinge ? 0 : 1 / penalty(k); }
  bool has_row(std::int64_t k) const { return k >= 0 && k < std::ssize(sides) && sides[k] != 0; }  // that takes part
  // ‖y_k‖², of a row of squared length `row2`.
  double squared_norm(std::size_t k, double row2) const { return row2 + rho * rho + delta2(k); }
  std::size_t n_members() const { return sides.size() - std::count(sides.begin(), sides.end(), 0); }
  bool hard_margin() const { return std::isinf(C_positive); }

  // Far from where doubles lose their precision, so that errors stay relative.
  static void require_cost(double C) {
    if (C > 1e-290 && (C < 1e290 || std::isinf(C))) return;
    std::ostringstream message;  // as %g, not with 300 digits
    message << "C times a weight must be between 1e-290 and 1e290, or infinite; it is " << C;
    throw std::invalid_argument(message.str());
  }
};

// Whether there are more columns than rows that take part, for either kind of problem.
template <class AnyProblem>
bool is_wide(const PackedRows& packed, const AnyProblem& problem) {
  return packed.n_columns > static_cast<std::int64_t>(problem.n_members());
}

// The non-zeros of the rows that take part.
template <class AnyProblem>
std::int64_t n_nonzeros(const PackedRows& packed, const AnyProblem& problem) {
  if (static_cast<std::int64_t>(problem.n_members()) == packed.n_rows) return packed.n_nonzeros;
  std::int64_t count = 0;
  std::visit(
      [&](const auto& rows) {
        for (std::size_t k = 0; k < problem.sides.size(); ++k)
          if (problem.sides[k] != 0) rows.for_each(rows.start(k), [&](auto, double value) { count += value != 0; });
      },
      packed.rows);
  return count;
}

// R, the length of the longest pattern, for either kind of problem.
template <class AnyProblem>
double largest_norm(const PackedRows& packed, const AnyProblem& problem) {
  const auto of_block = [&](std::size_t begin, std::size_t end) {
    double R2 = 0;
    for (std::size_t k = begin; k < end; ++k)
      if (problem.sides[k] != 0) R2 = std::max(R2, problem.squared_norm(k, packed.squared_norms[k]));
    return R2;
  };
  return std::sqrt(Blocks(problem.sides.size()).sum(problem.n_threads, of_block, [](double& R2, double next) {
    R2 = std::max(R2, next);
  }));
}

// The mean of ‖ybar_k‖² / Delta_k²: how much patterns share with each other, compared with what each has to itself.
// Large values mean that their weights have to be tuned against each other, which takes many passes; infinite for the
// hard margin.
inline double stiffness(const PackedRows& packed, const Problem& problem) {
  const auto of_block = [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t k = begin; k < end; ++k)
      if (problem.sides[k] != 0) sum += (packed.squared_norms[k] + problem.rho * problem.rho) * problem.penalty(k);
    return sum;
  };
  const double sum =
      Blocks(problem.sides.size()).sum(problem.n_threads, of_block, [](double& all, double next) { all += next; });
  return sum / static_cast<double>(problem.n_members());
}

}  // namespace dynmargin
