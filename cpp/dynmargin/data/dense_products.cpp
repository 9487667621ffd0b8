#include "dynmargin/data/dense_products.hpp"

#include "dynmargin/data/every_cpu.hpp"
#include "dynmargin/solve/wide_lanes.hpp"

namespace dynmargin {
namespace {

// What is summed: `one(i)` is a term, `at<n>(i)` are the terms i to i + n - 1.
template <class Value>
struct Products {
  const Value* values;
  const double* w;
  DYNMARGIN_PART_OF_A_LOOP double one(std::size_t i) const { return w[i] * static_cast<double>(values[i]); }
  template <std::size_t n>
  DYNMARGIN_PART_OF_A_LOOP Wide<n> at(std::size_t i) const {
    return wide<n>(w + i) * wide<n>(values + i);
  }
};

template <class Value>
struct SizesOfProducts {
  Products<Value> products;
  DYNMARGIN_PART_OF_A_LOOP double one(std::size_t i) const { return std::abs(products.one(i)); }
  template <std::size_t n>
  DYNMARGIN_PART_OF_A_LOOP Wide<n> at(std::size_t i) const {
    return sizes_of<n>(products.template at<n>(i));
  }
};

// The compiler makes the most of the lanes for each kind of CPU. Vectors of eight doubles, which not every CPU has
// registers for, take eight times as long with AVX2.
template <class Terms>
DYNMARGIN_PART_OF_A_LOOP double sum(std::size_t n, const Terms& terms) {
  double lanes[16] = {};
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (std::size_t l = 0; l < 16; ++l) lanes[l] += terms.one(i + l);
  Wide<4> low = wide<4>(lanes) + wide<4>(lanes + 8), high = wide<4>(lanes + 4) + wide<4>(lanes + 12);
  if (n & 8) {
    low += terms.template at<4>(i);
    high += terms.template at<4>(i + 4);
    i += 8;
  }
  Wide<4> four = low + high;
  if (n & 4) {
    four += terms.template at<4>(i);
    i += 4;
  }
  Wide<2> two = halves_added<4>(four);
  if (n & 2) two += terms.template at<2>(i);
  return (two[0] + two[1]) + (n & 1 ? terms.one(n - 1) : 0);
}

template <class Value>
DYNMARGIN_PART_OF_A_LOOP double dot(const Value* values, const double* w, std::size_t n) {
  return sum(n, Products<Value>{values, w});
}

// The row is in the cache when it is read again for the sizes.
template <class Value>
DYNMARGIN_PART_OF_A_LOOP SizedSum sized_dot(const Value* values, const double* w, std::size_t n) {
  return {dot(values, w, n), sum(n, SizesOfProducts<Value>{{values, w}}), static_cast<std::int64_t>(n)};
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
void add_dense_to(double* w, const float* values, std::size_t n, double factor) { add_to(w, values, n, factor); }

DYNMARGIN_FOR_EVERY_CPU
void add_dense_to(double* w, const double* values, std::size_t n, double factor) { add_to(w, values, n, factor); }

}  // namespace dynmargin
