// Fresh counts for weights that are better than the counts are.
//
// At the optimum the counts follow from the weights: n_k Delta_k² is in proportion to the slack of pattern k, and to
// nothing else. PDM's average weights are close to the optimum after a pass or two, but its counts carry noise: each
// was set when its pattern was last visited, by weights that have swung on since. That noise, not the direction of `a`,
// is most of what keeps ‖a‖/t above the margin, and it is outgrown only slowly.
//
// So when it explains the gap, the run goes on from the counts that the best weights call for. (Any counts >= 0 are a
// state that a perceptron may begin with.) They are free of noise, but where the weights are a little off, all counts
// are off together, and `a` is many times too long. To mend that takes additions to many patterns, each small: PDM is
// presented with those that have a count, and of every multiple update only a share is made, such that `a` shrinks
// evenly over one pass. A multiple update may end early: each of its single updates is legitimate.
//
// (Visits a row to a certified 1 %, with and without: 300,000 rows of 5 columns 4 and 15, 50,000 rows of 20 columns
// with much overlap 6 and 32, Adult 7 and 14, Adult at C=10 20 and 60.)
#pragma once

#include <algorithm>
#include <cstddef>

namespace dynmargin {

class Renewal {
 public:
  // Whether to renew, with weights that prove `margin` and counts that prove `bound`; `noise` is the squared distance
  // of the counts, as shares, from those of the weights, in the extension and in units of margin².
  bool decide(double noise, double margin, double bound) {
    const double gap = bound - margin, squared_gap = (bound / margin) * (bound / margin) - 1;
    const bool explained = noise > 0.75 * squared_gap;
    const bool settled = last_margin_ == 0 || margin - last_margin_ < 0.3 * gap;  // if not, better weights are to come
    const bool better = margin - margin_used_ > 0.05 * gap;
    last_margin_ = margin;
    if (!explained || !settled || !better) return false;
    margin_used_ = margin;
    return true;
  }

  // From now on counts are mended, in one visit of `size` patterns, until ‖a‖/t is close to what it was before;
  // `share` of all updates would bring that about if nothing changed meanwhile. What the share has become by then it
  // stays until the end of the next full pass: full updates would bring back the noise at once.
  void begin(std::size_t size, double share, double bound_before, double bound) {
    left_ = size_ = static_cast<double>(size);
    share_ = std::min(share, 1.0);
    goal_ = 1.2 * bound_before;
    bound_ = bound;
  }

  // Keeps to the plan, after so many more visits.
  void control(double bound, std::size_t visits) {
    if (bound < goal_) goal_ = 0;
    if (!mending()) return;
    left_ -= static_cast<double>(visits);
    const double planned = bound * static_cast<double>(visits) / std::max(left_, 0.3 * size_), made = bound_ - bound;
    share_ = std::min(1.0, share_ * (made > 0 ? std::clamp(planned / made, 0.5, 2.0) : 2.0));
    bound_ = bound;
  }

  void end() {
    goal_ = 0;
    share_ = 1;
  }

  bool mending() const { return goal_ > 0; }
  double share() const { return share_; }  // of a multiple update that is to be made

 private:
  double last_margin_ = 0, margin_used_ = 0;  // when last asked, and by the last renewal
  double size_ = 0, left_ = 0;                // patterns to be visited
  double goal_ = 0, bound_ = 0;               // ‖a‖/t, and as it was last
  double share_ = 1;
};

}  // namespace dynmargin
