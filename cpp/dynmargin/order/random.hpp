// The library's own counter-based generator: the i-th number depends on the key and i alone, on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "dynmargin/data/digest.hpp"

namespace dynmargin {

class Generator {
 public:
  explicit Generator(std::uint64_t key) : key_(mix64(key)) {}

  std::uint64_t operator()() { return mix64(key_ + ++drawn_ * 0x9e3779b97f4a7c15u); }

  // Fisher and Yates. 32 random bits times a bound below 2^32 need no 128-bit product; the bias is below bound / 2^32.
  template <class Item>
  void shuffle(std::span<Item> items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      const std::uint64_t j = ((*this)() >> 32) * i >> 32;
      std::swap(items[i - 1], items[j]);
    }
  }

 private:
  std::uint64_t key_;
  std::uint64_t drawn_ = 0;
};

}  // namespace dynmargin
