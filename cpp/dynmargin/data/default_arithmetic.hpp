// Rounding to nearest and gradual underflow, whatever the thread has set.
#pragma once

#include <cfenv>

namespace dynmargin {

// The error analysis presumes both, and packed rows have to hold every value. A library may have switched either off
// for the whole thread (loading one that was built with -ffast-math can do it); while this object lives, both are on.
class DefaultArithmetic {
 public:
  DefaultArithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultArithmetic() { std::fesetenv(&before_); }
  DefaultArithmetic(const DefaultArithmetic&) = delete;
  DefaultArithmetic& operator=(const DefaultArithmetic&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace dynmargin
