// Products of rows with vectors, the same for every layout, and memory that is fetched ahead.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "dynmargin/solve/lanes.hpp"

namespace dynmargin {

inline void prefetch(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

// Fetches the first cache lines of a row; the CPU continues by itself. Fetching too few cost a seventh of the time on
// 50,000 dense rows of 20 columns, fetching too many a tenth on rows of thousands.
inline void prefetch_lines(const void* begin, std::size_t bytes) {
  constexpr std::size_t line = 64;
  for (std::size_t offset = 0; offset < bytes; offset += line) prefetch(static_cast<const std::byte*>(begin) + offset);
}

// A term of a weighted sum over rows.
struct WeightedRow {
  std::uint64_t start;
  double factor;
};

// A sum, the sum of the absolute values of its terms, and their number.
struct SizedSum {
  double value, size;
  std::int64_t terms;
};

// `Layout` gives a row by where it starts: its length, the column of its i-th entry, and the entry times a factor.
template <class Layout>
class RowProducts {
 public:
  // Four partial sums in a fixed order: the result is the same on every machine, and the additions overlap. Two at a
  // time where there are products to be made; to bring entries together for additions alone does not pay.
  double dot(std::uint64_t start, const double* w) const {
    const auto row = layout().row(start);
    const auto product = [&](auto i) { return row.times(i, w[row.column(i)]); };
    using Pair = std::conditional_t<Layout::all_ones, TwoDoubles, Half>;
    Pair low{}, high{};
    decltype(row.length) i = 0;
    for (; i + 4 <= row.length; i += 4) {
      low += Pair{product(i), product(i + 1)};
      high += Pair{product(i + 2), product(i + 3)};
    }
    if (row.length & 2) low += Pair{product(i), product(i + 1)}, i += 2;
    if (row.length & 1) high += Pair{product(i), 0};
    return (low[0] + low[1]) + (high[0] + high[1]);
  }

  // A dot product with the sum of the absolute values of its terms, which bounds its rounding error.
  SizedSum sized_dot(std::uint64_t start, const double* w) const {
    const auto row = layout().row(start);
    Half even{}, odd{};
    const auto term = [&](auto i) {
      const double product = row.times(i, w[row.column(i)]);
      return Half{product, std::abs(product)};
    };
    decltype(row.length) i = 0;
    for (; i + 2 <= row.length; i += 2) {
      even += term(i);
      odd += term(i + 1);
    }
    if (i < row.length) even += term(i);
    even += odd;
    return {even[0], even[1], static_cast<std::int64_t>(row.length)};
  }

  // Two dot products for little more than the cost of one: each column is read once for both.
  Half dot_both(std::uint64_t start, const Half* w) const {
    const auto row = layout().row(start);
    Half even{}, odd{};
    decltype(row.length) i = 0;
    for (; i + 2 <= row.length; i += 2) {
      even += row.times(i, w[row.column(i)]);
      odd += row.times(i + 1, w[row.column(i + 1)]);
    }
    if (i < row.length) even += row.times(i, w[row.column(i)]);
    return even + odd;
  }

  void add_to(double* w, std::uint64_t start, double factor) const {
    const auto row = layout().row(start);
    for (decltype(row.length) i = 0; i < row.length; ++i) w[row.column(i)] += row.times(i, factor);
  }

  // f(column, value) for every entry.
  template <class F>
  void for_each(std::uint64_t start, const F& f) const {
    const auto row = layout().row(start);
    for (decltype(row.length) i = 0; i < row.length; ++i) f(row.column(i), row.times(i, 1.0));
  }

 private:
  const Layout& layout() const { return static_cast<const Layout&>(*this); }
};

}  // namespace dynmargin
