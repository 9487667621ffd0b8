// The scores of a row for all classes at once.
//
// The weights of the classes for one feature are side by side, filled up with zeros to whole pairs: one access to an
// entry of a row serves all classes, two at a time. Sums run over the entries in their order, so the result is the same
// on every machine.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "dynmargin/solve/lanes.hpp"

namespace dynmargin {

// A line of weights per feature; the last line is that of the augmented coordinate.
struct ClassWeights {
  std::size_t n_classes, stride;
  std::vector<double> values;

  ClassWeights(std::int64_t n_columns, std::size_t classes)
      : n_classes(classes), stride((classes + 1) / 2 * 2), values((n_columns + 1) * stride) {}

  const double* bias() const { return values.data() + values.size() - stride; }
  double* bias() { return values.data() + values.size() - stride; }

  // lambda [x, rho] to the weights of one class, and away from those of another.
  template <class P, class Y>
  void add(const P& patterns, const Y& y, std::size_t to, std::size_t from, double lambda) {
    bias()[to] += lambda * patterns.rho();
    bias()[from] -= lambda * patterns.rho();
    patterns.for_each_entry(y, [&](auto column, double value) {
      double* line = values.data() + static_cast<std::size_t>(column) * stride;
      line[to] += lambda * value;
      line[from] -= lambda * value;
    });
  }
};

// N pairs of classes, whose sums stay in registers.
template <std::size_t N, class P, class Y>
void score_pairs(const P& patterns, const Y& y, const ClassWeights& w, std::size_t first, double* scores) {
  Half sum[N];
  const auto load = [](const double* from) {
    Half pair;
    std::memcpy(&pair, from, sizeof pair);
    return pair;
  };
  for (std::size_t n = 0; n < N; ++n) sum[n] = load(w.bias() + first + 2 * n) * patterns.rho();
  const double* const lines = w.values.data() + first;
  patterns.for_each_entry(y, [&](auto column, double value) {
    const double* line = lines + static_cast<std::size_t>(column) * w.stride;
    for (std::size_t n = 0; n < N; ++n) sum[n] += load(line + 2 * n) * value;
  });
  std::memcpy(scores + first, sum, sizeof sum);
}

// w_c.[x, rho] for every class c; `scores` has room for whole pairs.
template <class P, class Y>
void score_classes(const P& patterns, const Y& y, const ClassWeights& w, double* scores) {
  constexpr std::size_t most = 8;  // as many as there are registers for
  const std::size_t pairs = w.stride / 2, parts = (pairs + most - 1) / most;
  for (std::size_t part = 0, pair = 0; part < parts; ++part) {
    const std::size_t count = pairs * (part + 1) / parts - pair;
    [&]<std::size_t... N>(std::index_sequence<N...>) {
      (void)((count == N + 1 && (score_pairs<N + 1>(patterns, y, w, 2 * pair, scores), true)) || ...);
    }(std::make_index_sequence<most>());
    pair += count;
  }
}

// The wrong class with the highest score.
inline std::size_t nearest_wrong_class(const double* scores, std::size_t n_classes, std::size_t right) {
  std::size_t nearest = right == 0 ? 1 : 0;
  for (std::size_t c = nearest + 1; c < n_classes; ++c)
    if (c != right && scores[c] > scores[nearest]) nearest = c;
  return nearest;
}

}  // namespace dynmargin
