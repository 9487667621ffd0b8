// Four doubles that are processed at once. This fixes the order of all additions, not the compiler or the CPU,
// so the result is the same on every machine.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dynmargin {

inline constexpr std::size_t n_lanes = 4;

struct TwoDoubles {
  double lane[2] = {};
  double operator[](std::size_t i) const { return lane[i]; }
  friend TwoDoubles operator+(TwoDoubles a, TwoDoubles b) { return {a[0] + b[0], a[1] + b[1]}; }
  friend TwoDoubles operator-(TwoDoubles a) { return {-a[0], -a[1]}; }
  friend TwoDoubles operator-(TwoDoubles a, TwoDoubles b) { return {a[0] - b[0], a[1] - b[1]}; }
  friend TwoDoubles operator*(TwoDoubles a, TwoDoubles b) { return {a[0] * b[0], a[1] * b[1]}; }
  friend TwoDoubles operator*(TwoDoubles a, double b) { return {a[0] * b, a[1] * b}; }
  TwoDoubles& operator+=(TwoDoubles b) { return *this = *this + b; }
};

// Two and two, because that is what every 64-bit CPU has; where the compiler knows no vectors, an array is enough.
#if defined(__GNUC__) || defined(__clang__)
using Half = double __attribute__((vector_size(2 * sizeof(double))));
using HalfBits = std::int64_t __attribute__((vector_size(2 * sizeof(std::int64_t))));
inline Half where_positive(Half condition, Half value) { return condition > 0.0 ? value : Half{}; }
inline Half magnitude(Half v) { return std::bit_cast<Half>(std::bit_cast<HalfBits>(v) & INT64_MAX); }
inline Half with_sign_of(Half positive, Half v) {
  return std::bit_cast<Half>((std::bit_cast<HalfBits>(v) & INT64_MIN) | std::bit_cast<HalfBits>(positive));
}
#else
using Half = TwoDoubles;
inline Half where_positive(Half condition, Half value) {
  return {condition[0] > 0 ? value[0] : 0.0, condition[1] > 0 ? value[1] : 0.0};
}
inline Half magnitude(Half v) { return {std::abs(v[0]), std::abs(v[1])}; }
inline Half with_sign_of(Half positive, Half v) {
  return {std::copysign(positive[0], v[0]), std::copysign(positive[1], v[1])};
}
#endif

struct Lanes {
  Half low{}, high{};
  friend Lanes operator*(const Lanes& a, const Lanes& b) { return {a.low * b.low, a.high * b.high}; }
  Lanes& operator+=(const Lanes& b) { return *this = {low + b.low, high + b.high}; }
  Lanes& operator-=(const Lanes& b) { return *this = {low - b.low, high - b.high}; }
};

inline Lanes where_positive(const Lanes& condition, const Lanes& value) {
  return {where_positive(condition.low, value.low), where_positive(condition.high, value.high)};
}

inline Lanes magnitude(const Lanes& v) { return {magnitude(v.low), magnitude(v.high)}; }

// `positive`, which must not be negative, with the signs of `v`.
inline Lanes with_sign_of(const Lanes& positive, const Lanes& v) {
  return {with_sign_of(positive.low, v.low), with_sign_of(positive.high, v.high)};
}

inline Lanes all_lanes(double value) { return {Half{value, value}, Half{value, value}}; }

inline Lanes load_lanes(const double* from) { return {Half{from[0], from[1]}, Half{from[2], from[3]}}; }

// Vectors are padded with zeros to this length.
inline std::size_t whole_lanes(std::size_t size) { return (size + n_lanes - 1) / n_lanes * n_lanes; }

inline double sum(const Lanes& l) { return (l.low[0] + l.low[1]) + (l.high[0] + l.high[1]); }

// The sum of term(0) to term(n - 1), in four parts whose additions do not wait for each other.
template <class Term>
double sum_in_lanes(std::size_t n, const Term& term) {
  Lanes parts;
  const std::size_t whole = n / n_lanes * n_lanes;
  for (std::size_t i = 0; i < whole; i += n_lanes)
    parts += Lanes{Half{term(i), term(i + 1)}, Half{term(i + 2), term(i + 3)}};
  double rest = 0;
  for (std::size_t i = whole; i < n; ++i) rest += term(i);
  return sum(parts) + rest;
}

inline double squared_in_lanes(std::span<const double> v) {
  return sum_in_lanes(v.size(), [&](std::size_t j) { return v[j] * v[j]; });
}

}  // namespace dynmargin
