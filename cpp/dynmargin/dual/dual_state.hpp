// The state of a dual algorithm, which also takes updates back: dual weights alpha_k >= 0, which are the counts of a
// state (perceptron/state.hpp), and w = sum_k alpha_k ybar_k.
//
// All of them maximise  target sum_k alpha_k - ‖a‖²/2,  a = sum_k alpha_k y_k,  one coordinate at a time. The target is
// the score that every pattern with a weight should have: 1 for coordinate descent, whose alpha_k are those of
// LinearSVC's dual; alpha_k / target are in any case.
//
//   squared hinge   y_k is extended by Delta_k (patterns.hpp), alpha_k is not bounded above
//   hinge           y_k is not extended, alpha_k <= C_k target
#pragma once

#include "dynmargin/perceptron/state.hpp"

namespace dynmargin {

using DualPattern = BasicPattern<double>;
using DualState = BasicState<double>;

inline DualState empty_dual_state(const PackedRows& packed, const Problem& problem, double target) {
  DualState state = empty_state<double>(packed, problem);
  if (problem.loss == Loss::hinge)
    for (const Member m : members_of(problem))
      state.patterns[m.row()].delta2 = problem.penalty(m.row()) / 2 * target;  // where the largest alpha_k is
  return state;
}

}  // namespace dynmargin
