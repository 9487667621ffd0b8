#include "dynmargin/data/dense_products.hpp"

#include "dynmargin/solve/wide_lanes.hpp"

namespace dynmargin {
namespace {

// What is summed: `at<n>(i)` gives the terms i to i + n - 1.
template <class Value>
struct Products {
  const Value* values;
  const double* w;
  template <std::size_t n>
  DYNMARGIN_PART_OF_A_LOOP Wide<n> at(std::size_t i) const {
    return wide<n>(values + i) * wide<n>(w + i);
  }
};

template <class Value>
struct SizesOfProducts {
  Products<Value> products;
  template <std::size_t n>
  DYNMARGIN_PART_OF_A_LOOP Wide<n> at(std::size_t i) const {
    return sizes_of<n>(products.template at<n>(i));
  }
};

// Every value times the two numbers of a pair.
template <class Value>
struct ProductsWithPairs {
  const Value* values;
  const double* pairs;
  template <std::size_t n>
  DYNMARGIN_PART_OF_A_LOOP Wide<n> at(std::size_t i) const {
    return doubled<n>(values + i / 2) * wide<n>(pairs + i);
  }

 private:
  template <std::size_t n>
  DYNMARGIN_PART_OF_A_LOOP static Wide<n> doubled(const Value* from) {
    if constexpr (n == 2) {
      const double c = *from;
      return Wide<2>{c, c};
    } else {
      const auto v = wide<n / 2>(from);
      if constexpr (n == 4)
        return Wide<4>{v[0], v[0], v[1], v[1]};
      else
        return Wide<8>{v[0], v[0], v[1], v[1], v[2], v[2], v[3], v[3]};
    }
  }
};

// The sum of the first, third, ... of the terms, and that of the second, fourth, ..., without the last one if their
// number is odd.
template <class Terms>
DYNMARGIN_PART_OF_A_LOOP Wide<2> two_sums(std::size_t n, const Terms& terms) {
  Wide<8> first{}, second{};
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    first += terms.template at<8>(i);
    second += terms.template at<8>(i + 8);
  }
  first += second;
  if (n & 8) {
    first += terms.template at<8>(i);
    i += 8;
  }
  Wide<4> four = halves_added<8>(first);
  if (n & 4) {
    four += terms.template at<4>(i);
    i += 4;
  }
  Wide<2> two = halves_added<4>(four);
  if (n & 2) two += terms.template at<2>(i);
  return two;
}

template <class Value>
DYNMARGIN_PART_OF_A_LOOP double dot(const Value* values, const double* w, std::size_t n) {
  const Wide<2> sums = two_sums(n, Products<Value>{values, w});
  return (sums[0] + sums[1]) + (n & 1 ? w[n - 1] * static_cast<double>(values[n - 1]) : 0);
}

// The row is in the cache when it is read again for the sizes.
template <class Value>
DYNMARGIN_PART_OF_A_LOOP SizedSum sized_dot(const Value* values, const double* w, std::size_t n) {
  const Wide<2> sizes = two_sums(n, SizesOfProducts<Value>{{values, w}});
  const double last = n & 1 ? std::abs(w[n - 1] * static_cast<double>(values[n - 1])) : 0;
  return {dot(values, w, n), (sizes[0] + sizes[1]) + last, static_cast<std::int64_t>(n)};
}

template <class Value>
DYNMARGIN_PART_OF_A_LOOP Half dot_both(const Value* values, const Half* w, std::size_t n) {
  const Wide<2> sums = two_sums(2 * n, ProductsWithPairs<Value>{values, reinterpret_cast<const double*>(w)});
  return Half{sums[0], sums[1]};
}

template <class Value>
DYNMARGIN_PART_OF_A_LOOP void add_to(double* __restrict w, const Value* __restrict values, std::size_t n,
                                     double factor) {
  for (std::size_t i = 0; i < n; ++i) w[i] += factor * static_cast<double>(values[i]);
}

}  // namespace

DYNMARGIN_FOR_EVERY_CPU
double dense_dot(const float* values, const double* w, std::size_t n) { return dot(values, w, n); }

DYNMARGIN_FOR_EVERY_CPU
double dense_dot(const double* values, const double* w, std::size_t n) { return dot(values, w, n); }

DYNMARGIN_FOR_EVERY_CPU
SizedSum dense_sized_dot(const float* values, const double* w, std::size_t n) { return sized_dot(values, w, n); }

DYNMARGIN_FOR_EVERY_CPU
SizedSum dense_sized_dot(const double* values, const double* w, std::size_t n) { return sized_dot(values, w, n); }

DYNMARGIN_FOR_EVERY_CPU
Half dense_dot_both(const float* values, const Half* w, std::size_t n) { return dot_both(values, w, n); }

DYNMARGIN_FOR_EVERY_CPU
Half dense_dot_both(const double* values, const Half* w, std::size_t n) { return dot_both(values, w, n); }

DYNMARGIN_FOR_EVERY_CPU
void add_dense_to(double* w, const float* values, std::size_t n, double factor) { add_to(w, values, n, factor); }

DYNMARGIN_FOR_EVERY_CPU
void add_dense_to(double* w, const double* values, std::size_t n, double factor) { add_to(w, values, n, factor); }

}  // namespace dynmargin
