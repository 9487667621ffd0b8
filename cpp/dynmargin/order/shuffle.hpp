// Fresh orders of a list of patterns, from the library's own generator.
#pragma once

#include "dynmargin/data/digest.hpp"
#include "dynmargin/order/members.hpp"

namespace dynmargin {

// Counter-based: the i-th number depends on the key and i alone, on every machine.
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

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    s(drawn_);  // the key is the seed's
  }

 private:
  std::uint64_t key_;
  std::uint64_t drawn_ = 0;
};

// Random, or random with the two sides evenly mixed.
class Order {
 public:
  explicit Order(std::uint64_t seed) : random_(seed) {}

  void shuffle(std::span<Member> members) { random_.shuffle(members); }

  // Each side is shuffled by itself, then the two are merged in proportion. Runs of one side push the bias to and fro,
  // which costs visits: PDM takes 20 per row on Covertype against 14.5 this way. Meanwhile they are kept in `room`,
  // which has two places more than there are members.
  void shuffle_balanced(std::span<Member> members, Member* room) {
    std::uint64_t n_positive = 0, P = 0, N = 0;
    for (const Member m : members) n_positive += !m.negative();
    Member *const positive = room, *const negative = room + n_positive + 1;
    for (const Member m : members) {  // no branch to mispredict, here and below
      positive[P] = negative[N] = m;
      P += !m.negative();
      N += m.negative();
    }
    random_.shuffle(std::span(positive, P));
    random_.shuffle(std::span(negative, N));
    for (std::uint64_t p = 0, n = 0; Member& m : members) {
      const bool positive_lags = (p + 1) * N <= (n + 1) * P;  // behind its share: p / P against n / N
      m = positive_lags ? positive[p] : negative[n];
      p += positive_lags;
      n += !positive_lags;
    }
  }

  template <class Snapshot>
  void snapshot(Snapshot& s) {
    s(random_);
  }

 private:
  Generator random_;
};

}  // namespace dynmargin
