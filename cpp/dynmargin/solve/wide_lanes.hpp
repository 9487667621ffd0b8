// Vectors of four or two doubles, for loops that exist once for every kind of CPU (every_cpu.hpp).
//
// This fixes the order of all additions, so the result is the same whatever registers the CPU has. A compiler that
// knows no such vectors gets arrays.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dynmargin/data/every_cpu.hpp"

#ifdef __GNUC__
// Vectors that are wider than the registers of the default CPU are never passed to a function that is not inlined.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace dynmargin {

// `n` doubles that are processed at once.
#if defined(__GNUC__) || defined(__clang__)
template <std::size_t n>
struct WideType {
  typedef double Doubles __attribute__((vector_size(n * sizeof(double))));
  typedef float Floats __attribute__((vector_size(n * sizeof(float))));
  typedef std::int64_t Bits __attribute__((vector_size(n * sizeof(double))));
};
template <std::size_t n>
using Wide = typename WideType<n>::Doubles;

template <std::size_t n>
DYNMARGIN_PART_OF_A_LOOP Wide<n> wide(const double* from) {
  Wide<n> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <std::size_t n>
DYNMARGIN_PART_OF_A_LOOP Wide<n> wide(const float* from) {
  typename WideType<n>::Floats v;
  std::memcpy(&v, from, sizeof v);
  return __builtin_convertvector(v, Wide<n>);
}
template <std::size_t n>
DYNMARGIN_PART_OF_A_LOOP Wide<n> sizes_of(Wide<n> v) {
  return (Wide<n>)((typename WideType<n>::Bits)v & INT64_MAX);
}
#else
template <std::size_t n>
struct Wide {
  double lane[n] = {};
  double operator[](std::size_t i) const { return lane[i]; }
  Wide& operator+=(const Wide& other) {
    for (std::size_t i = 0; i < n; ++i) lane[i] += other[i];
    return *this;
  }
  friend Wide operator+(Wide a, const Wide& b) { return a += b; }
  friend Wide operator*(Wide a, const Wide& b) {
    for (std::size_t i = 0; i < n; ++i) a.lane[i] *= b[i];
    return a;
  }
  friend Wide operator*(Wide a, double b) {
    for (double& c : a.lane) c *= b;
    return a;
  }
};

template <std::size_t n, class Value>
Wide<n> wide(const Value* from) {
  Wide<n> v;
  for (std::size_t i = 0; i < n; ++i) v.lane[i] = from[i];
  return v;
}
template <std::size_t n>
Wide<n> sizes_of(Wide<n> v) {
  for (double& c : v.lane) c = std::abs(c);
  return v;
}
#endif

template <std::size_t n>
DYNMARGIN_PART_OF_A_LOOP void store(double* to, const Wide<n>& v) {
  std::memcpy(to, &v, sizeof v);
}

template <std::size_t n>
DYNMARGIN_PART_OF_A_LOOP Wide<n / 2> halves_added(const Wide<n>& v) {
  std::array<Wide<n / 2>, 2> halves;
  std::memcpy(&halves, &v, sizeof v);
  return halves[0] + halves[1];
}

}  // namespace dynmargin
