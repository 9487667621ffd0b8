// Work in threads, whose result does not depend on how many there are.
//
// Rows are cut into blocks by their number alone. Whatever is summed is summed block by block, and the sums of blocks
// are added in the order of the blocks: the result is the same bit for bit for any number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace dynmargin {

// Does work(task) for every task below n_tasks, each thread the next one that is left. Of several failures the one of
// the first task is thrown, as it would be without threads.
//
// Threads are started for each call: no thread is left behind that a fork would lose. That takes 22 µs, so a thread is
// to have as many tasks as are worth it. What a task counts it is to keep to itself until the end: numbers of several
// tasks side by side share a cache line, which then travels between the cores (packing with two threads took 1.5 times
// the CPU time of one).
template <class Work>
void in_threads(unsigned n_threads, std::size_t n_tasks, const Work& work, std::size_t worthwhile = 1) {
  const std::size_t n_workers = std::min<std::size_t>(n_threads, n_tasks / worthwhile);
  if (n_workers <= 1) {
    for (std::size_t task = 0; task < n_tasks; ++task) work(task);
    return;
  }
  struct Failure {
    std::size_t task = std::numeric_limits<std::size_t>::max();
    std::exception_ptr error;
  };
  std::atomic<std::size_t> next = 0;
  std::vector<Failure> failures(n_workers);
  const auto work_on = [&](Failure& failure) {
    std::size_t task = 0;
    try {
      while ((task = next++) < n_tasks) work(task);
    } catch (...) {
      failure = {task, std::current_exception()};
      next = n_tasks;  // whatever comes before this task has begun already
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(n_workers);
  try {
    for (std::size_t i = 1; i < n_workers; ++i) helpers.emplace_back([&, i] { work_on(failures[i]); });
  } catch (...) {  // no more threads are available, or no memory for one: those that are do the work
  }
  work_on(failures[0]);
  for (std::thread& helper : helpers) helper.join();
  const auto first = std::min_element(failures.begin(), failures.end(),
                                      [](const Failure& a, const Failure& b) { return a.task < b.task; });
  if (first->error) std::rethrow_exception(first->error);
}

// Lets a vector leave new elements as they are, so that the threads which set them are the first to touch the memory.
template <class T>
struct Unset : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Unset<U>;
  };
  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }
};

template <class T>
using UnsetVector = std::vector<T, Unset<T>>;

// Places 0 to size - 1 in blocks of the same length, but for the last.
class Blocks {
 public:
  // A block takes 20 µs or more, and two of them are worth a thread.
  static constexpr std::size_t worthwhile = 2;
  // Places where there is next to nothing to do, a few nanoseconds each.
  static constexpr std::size_t short_work = std::size_t{1} << 14;

  explicit Blocks(std::size_t size, std::size_t length = short_work) : size_(size), length_(length) {}

  // Rows that have so many entries in all.
  static Blocks of_rows(std::size_t size, double entries) {
    constexpr double most_rows = 1 << 13, most_entries = 1 << 17;
    const double per_row = size > 0 ? entries / static_cast<double>(size) : 0;
    return Blocks(size, static_cast<std::size_t>(std::clamp(most_entries / std::max(per_row, 1.0), 1.0, most_rows)));
  }

  // The same where vectors are summed: one of `width` numbers per block must cost little beside the entries.
  static Blocks of_sums(std::size_t size, double entries, std::size_t width) {
    constexpr double entries_per_number = 16;
    const double most = entries / (entries_per_number * static_cast<double>(width));
    if (!(most > 1)) return Blocks(size, std::max<std::size_t>(1, size));
    const auto least = static_cast<std::size_t>(static_cast<double>(size) / most) + 1;
    constexpr std::size_t most_sums = 64;  // all of them are in memory at once
    return Blocks(size, std::max({least, (size + most_sums - 1) / most_sums, of_rows(size, entries).length_}));
  }

  std::size_t count() const { return std::max<std::size_t>(1, (size_ + length_ - 1) / length_); }
  std::size_t begin(std::size_t block) const { return block * length_; }
  std::size_t end(std::size_t block) const { return std::min(size_, (block + 1) * length_); }

  // work(block, begin, end) for every block.
  template <class Work>
  void for_each(unsigned n_threads, const Work& work) const {
    in_threads(n_threads, count(), [&](std::size_t block) { work(block, begin(block), end(block)); }, worthwhile);
  }

  // The sum over all blocks: sum_of(begin, end) is that of one, and add(sum, next) adds the next one to it.
  template <class SumOf, class Add>
  auto sum(unsigned n_threads, const SumOf& sum_of, const Add& add) const {
    using Sum = decltype(sum_of(std::size_t{}, std::size_t{}));
    if (n_threads <= 1 || count() < 2 * worthwhile) {
      Sum total = sum_of(begin(0), end(0));
      for (std::size_t block = 1; block < count(); ++block) add(total, sum_of(begin(block), end(block)));
      return total;
    }
    std::vector<std::optional<Sum>> sums(count());
    for_each(n_threads,
             [&](std::size_t block, std::size_t first, std::size_t last) { sums[block].emplace(sum_of(first, last)); });
    for (std::size_t block = 1; block < count(); ++block) add(*sums[0], std::move(*sums[block]));
    return std::move(*sums[0]);
  }

 private:
  std::size_t size_, length_;
};

}  // namespace dynmargin
