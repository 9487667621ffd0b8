// Logarithm, exponential and power from operations that IEEE 754 fixes, so that they are the same on every machine.
//
// The C library's differ in the last digit from one system to another. That digit decides now and then whether a check
// is due or a pattern is misclassified, and from there on two runs part. These are within a few units in the last
// place.
#pragma once

#include <cmath>
#include <limits>

namespace dynmargin::portable {

inline constexpr double ln2_high = 0x1.62e42fefa38p-1;   // ln 2 in 42 bits: times an exponent it is exact,
inline constexpr double ln2_low = 0x1.ef35793c7673p-45;  // and the rest

// With x = 2^e m, m between sqrt(1/2) and sqrt(2): ln m = 2 artanh s = 2 (s + s³/3 + s⁵/5 + ...), s = (m - 1) / (m +
// 1).
inline double log(double x) {
  if (!(x > 0)) return x == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(x)) return x;
  int e = 0;
  double m = std::frexp(x, &e);
  if (m < 0x1.6a09e667f3bcdp-1) m *= 2, --e;
  const double s = (m - 1) / (m + 1), z = s * s;
  double series = 0;
  for (int k = 12; k > 0; --k) series = (series + 1.0 / (2 * k + 1)) * z;
  return e * ln2_high + (2 * s + (2 * s * series + e * ln2_low));
}

// With x = n ln 2 + r, |r| <= ln 2 / 2: e^x = 2^n (1 + r (1 + r/2 (1 + r/3 (...)))).
inline double exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 710) return std::numeric_limits<double>::infinity();
  if (x < -746) return 0;
  const double n = std::floor(x * 0x1.71547652b82fep+0 + 0.5), r = (x - n * ln2_high) - n * ln2_low;
  double series = 1;
  for (int k = 15; k > 0; --k) series = 1 + r * series / k;
  return std::ldexp(series, static_cast<int>(n));
}

// x^p for x >= 0. The error grows with |p ln x|: 1e-14 at 2^53.
inline double pow(double x, double p) {
  if (p == 0) return 1;
  if (p == 1) return x;
  if (p == 0.5) return std::sqrt(x);
  if (x == 0) return p > 0 ? 0 : std::numeric_limits<double>::infinity();
  return exp(p * log(x));
}

}  // namespace dynmargin::portable
