// What entries add to the digest and to the squared length of their row, several entries at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dynmargin/solve/lanes.hpp"

namespace dynmargin {

// words[i] = RowDigest::word(values[i], columns[i])
void digest_words(const float* values, const std::uint32_t* columns, std::size_t n, std::uint64_t* words);
void digest_words(const double* values, const std::uint32_t* columns, std::size_t n, std::uint64_t* words);

struct EntrySums {
  std::uint64_t words = 0;
  Half squares{};  // two partial sums in any case, one of them over the entries at even places

  template <class Value>
  void add_squares(const Value* values, std::size_t begin, std::size_t end) {
    std::size_t i = begin;
    for (; i + 2 <= end; i += 2) {
      const Half pair{static_cast<double>(values[i]), static_cast<double>(values[i + 1])};
      squares += pair * pair;
    }
    if (i < end) {
      const auto last = static_cast<double>(values[i]);
      squares += Half{last * last, 0};
    }
  }
};

// Both sums over a row that is long enough for the registers.
EntrySums sums_of_entries(const float* values, const std::uint32_t* columns, std::size_t n);
EntrySums sums_of_entries(const double* values, const std::uint32_t* columns, std::size_t n);

}  // namespace dynmargin
