// Digests that distinguish "other data" and "altered" from "not proven".
//
// They are not cryptographic and prove nothing: the proof is the recomputation in proof/certificate.hpp. Dense and
// sparse input with the same values have the same digest, because rows are digested in canonical form.
#pragma once

#include <span>

#include "dynmargin/data/matrix_view.hpp"

namespace dynmargin {

// A bijection of 64-bit words that spreads every input bit over the output (the finaliser of SplitMix64).
inline std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

inline std::uint64_t digest_bits(double value) { return std::bit_cast<std::uint64_t>(value); }

// Of a canonical row: entry by entry, in any order, and then as a whole.
class RowDigest {
 public:
  // What is added up, of an entry.
  static std::uint64_t word(double value, std::uint64_t column) {
    std::uint64_t x = digest_bits(value) + column * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 32)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 29);
  }

  // Of a row, given the sum of its words.
  static std::uint64_t of(std::uint64_t sum, std::size_t length) { return mix64(sum + length); }

  void append(const Entry& e) { sum_ += word(e.value, static_cast<std::uint64_t>(e.column)); }
  std::uint64_t of_length(std::size_t length) const { return of(sum_, length); }

 private:
  std::uint64_t sum_ = 0;
};

template <class Row>
std::uint64_t digest_row(const Row& entries) {
  RowDigest digest;
  const auto length = static_cast<std::size_t>(entries.size());
  for (std::size_t i = 0; i < length; ++i) digest.append(entries[i]);
  return digest.of_length(length);
}

struct Digest {
  std::uint64_t ordered = 0;    // changes when two different rows change places
  std::uint64_t unordered = 0;  // does not

  void append(std::uint64_t word) {
    ordered = mix64(ordered + 0x9e3779b97f4a7c15u) ^ word;
    unordered += mix64(word);
  }
};

// Of rows, sides (or classes) and weights: with the order of the rows, and without. The weight of a row on side 0,
// which is left out, does not matter. The rows may follow others, whose digest is given.
template <class Side>
Digest digest_data(std::span<const std::uint64_t> row_digests, const std::vector<Side>& sides,
                   const std::vector<double>& sample_weight, Digest digest = {}) {
  for (std::size_t k = 0; k < row_digests.size(); ++k) {
    const double weight = sides[k] == 0 || sample_weight.empty() ? 1 : sample_weight[k];
    digest.append(mix64(row_digests[k] + static_cast<std::uint64_t>(sides[k] + 2)) ^ mix64(digest_bits(weight)));
  }
  return digest;
}

}  // namespace dynmargin
