// A fresh order of a list of patterns: random, or random with the two sides evenly mixed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dynmargin/order/members.hpp"
#include "dynmargin/order/random.hpp"

namespace dynmargin {

class Order {
 public:
  explicit Order(std::uint64_t seed) : random_(seed) {}

  void shuffle(std::span<Member> members) { random_.shuffle(members); }

  // Each side shuffled by itself, then the two merged in proportion. Runs of one side push the bias to and fro, which
  // costs visits: PDM takes 20 a row on Covertype against 14.5 this way.
  void shuffle_balanced(std::span<Member> members) {
    for (auto* side : {&positive_, &negative_})
      if (side->size() <= members.size()) side->resize(members.size() + 1, Member(0, false));
    std::uint64_t P = 0, N = 0;
    for (const Member m : members) {  // no branch to mispredict, here and below
      positive_[P] = negative_[N] = m;
      P += !m.negative();
      N += m.negative();
    }
    random_.shuffle(std::span(positive_.data(), P));
    random_.shuffle(std::span(negative_.data(), N));
    for (std::uint64_t p = 0, n = 0; Member& m : members) {
      const bool positive_lags = (p + 1) * N <= (n + 1) * P;  // behind its share: p / P against n / N
      m = positive_lags ? positive_[p] : negative_[n];
      p += positive_lags;
      n += !positive_lags;
    }
  }

 private:
  Generator random_;
  std::vector<Member> positive_, negative_;
};

}  // namespace dynmargin
