// What a rule that also rescales the weight vector looks at, and what it answers.
#pragma once

namespace dynmargin {

struct Moment {
  double updates = 0;  // made so far
  double norm2 = 0;    // ‖a‖²
};

// a <- keep a + add y_k, both non-negative; with keep = 0 everything before is forgotten.
struct Step {
  double keep, add;
  double norm2;  // ‖a‖² afterwards; 0 says that a has vanished, which only opposite patterns can do
};

}  // namespace dynmargin
