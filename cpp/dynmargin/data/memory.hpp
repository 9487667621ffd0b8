// What is thrown where memory of a known size is not available, so that the message can say how much it was.
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>

namespace dynmargin {

struct NotEnoughMemory : std::bad_alloc {
  NotEnoughMemory(const char* what, double bytes) : purpose(what), bytes(bytes) {}
  const char* what() const noexcept override { return purpose; }
  const char* purpose;  // "packing the rows", say
  double bytes;         // a double, because hostile sizes overflow integers
};

// Calls `allocate`; if it fails for lack of memory, or asks for more than any machine has, the error says how much.
template <class Allocate>
auto allocating(const char* purpose, double bytes, Allocate allocate) {
  try {
    return allocate();
  } catch (const std::bad_alloc&) {
    throw NotEnoughMemory(purpose, bytes);
  } catch (const std::length_error&) {
    throw NotEnoughMemory(purpose, bytes);
  }
}

}  // namespace dynmargin
