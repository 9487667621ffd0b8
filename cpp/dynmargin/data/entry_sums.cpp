#include "dynmargin/data/entry_sums.hpp"

#include <algorithm>

#include "dynmargin/data/digest.hpp"
#include "dynmargin/data/every_cpu.hpp"

// Words are integers, and squares are summed in two lanes whatever the registers hold, so all versions do the same.

namespace dynmargin {
namespace {

template <class Value>
DYNMARGIN_PART_OF_A_LOOP void words_of(const Value* __restrict values, const std::uint32_t* __restrict columns,
                                       std::size_t n, std::uint64_t* __restrict words) {
  for (std::size_t i = 0; i < n; ++i) words[i] = RowDigest::word(values[i], columns[i]);
}

// Some entries are digested while the squares of those before are still being added up. (Nanoseconds per entry: 0.5
// with AVX-512, 0.8 with AVX2, 1.2 with neither, and 1.6 entry by entry.)
template <class Value>
DYNMARGIN_PART_OF_A_LOOP EntrySums sums_of(const Value* values, const std::uint32_t* columns, std::size_t n) {
  constexpr std::size_t some = 32;
  EntrySums sums;
  for (std::size_t begin = 0; begin < n; begin += some) {
    const std::size_t end = std::min(n, begin + some);
    std::uint64_t words = 0;
    for (std::size_t i = begin; i < end; ++i) words += RowDigest::word(values[i], columns[i]);
    sums.words += words;
    sums.add_squares(values, begin, end);
  }
  return sums;
}

}  // namespace

DYNMARGIN_FOR_EVERY_CPU
void digest_words(const float* values, const std::uint32_t* columns, std::size_t n, std::uint64_t* words) {
  words_of(values, columns, n, words);
}

DYNMARGIN_FOR_EVERY_CPU
void digest_words(const double* values, const std::uint32_t* columns, std::size_t n, std::uint64_t* words) {
  words_of(values, columns, n, words);
}

DYNMARGIN_FOR_EVERY_CPU
EntrySums sums_of_entries(const float* values, const std::uint32_t* columns, std::size_t n) {
  return sums_of(values, columns, n);
}

DYNMARGIN_FOR_EVERY_CPU
EntrySums sums_of_entries(const double* values, const std::uint32_t* columns, std::size_t n) {
  return sums_of(values, columns, n);
}

}  // namespace dynmargin
