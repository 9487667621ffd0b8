// CRAMMA and MICRA, the constant rate and the mistake-controlled rule algorithm for approximate maximum margins
// (Tsampouka and Shawe-Taylor; derived from their titles and abstracts).
//
//   misclassified:     u.y <= beta / t^power                       u = a / ‖a‖, t = 1, 2, ... counts the updates
//   update:            a = u + eta / t^zeta  y / R,  then back to unit length      CRAMMA: zeta = 0, a constant rate
//
// Only when the threshold has fallen below gamma_d, at t_b = (beta / gamma_d)^(1 / power), can it converge. From there
// on an update raises u*.u by about eta_t (gamma_d - threshold - eta_t R / 2) / R, so the nearer it comes to gamma_d
// before it does converge, the smaller eta_t is and the larger eta_t t_b.
#pragma once

#include "dynmargin/rules/totals.hpp"
#include "dynmargin/solve/portable_math.hpp"

namespace dynmargin {

struct MistakeControlled {
  double beta, power, eta, zeta, R;

  double threshold(const Totals& a) const { return beta / portable::pow(t(a), power); }

  Step step(double p, double q, const Totals& a) const {
    const double rate = eta / (R * portable::pow(t(a), zeta));
    const double norm = std::sqrt(std::max(0.0, a.norm2 + rate * (2 * p + rate * q)));
    if (!(norm > 0)) return {1, rate, 0};
    return {1 / norm, rate / norm, 1};
  }

 private:
  static double t(const Totals& a) { return std::max(1.0, a.t); }  // u = y / ‖y‖ of the first pattern is t = 1
};

}  // namespace dynmargin
