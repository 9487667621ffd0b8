// Refusal of what a caller must not pass, with a message that says why.
#pragma once

#include <stdexcept>

namespace dynmargin {

inline void require(bool condition, const char* otherwise) {
  if (!condition) throw std::invalid_argument(otherwise);
}

}  // namespace dynmargin
