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
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace dynmargin {

// Does work(task) for every task below n_tasks, each thread the next one that is left. Of several failures the one of
// the first task is thrown, as it would be without threads.
//
// Threads are started for each call: that takes 22 µs, a pass that is cut into blocks some hundred. No thread is left
// behind that a fork would lose.
template <class Work>
void in_threads(unsigned n_threads, std::size_t n_tasks, const Work& work) {
  const std::size_t n_workers = std::min<std::size_t>(n_threads, n_tasks);
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
  } catch (const std::system_error&) {  // no more threads are available: those that are do the work
  }
  work_on(failures[0]);
  for (std::thread& helper : helpers) helper.join();
  const auto first = std::min_element(failures.begin(), failures.end(),
                                      [](const Failure& a, const Failure& b) { return a.task < b.task; });
  if (first->error) std::rethrow_exception(first->error);
}

// Places 0 to size - 1 in blocks of the same length, but for the last.
class Blocks {
 public:
  // Rows: a pass over so many takes 50 µs or more, which is worth a thread.
  static constexpr std::size_t rows = std::size_t{1} << 13;

  explicit Blocks(std::size_t size, std::size_t length = rows) : size_(size), length_(length) {}

  // Blocks of rows whose vectors are summed: a vector of `width` numbers per block must cost little beside the
  // `entries` of all rows.
  static Blocks for_sums(std::size_t size, double entries, std::size_t width) {
    constexpr double worthwhile = 16;
    const double n_blocks = entries / (worthwhile * static_cast<double>(width)), all = static_cast<double>(size);
    if (!(n_blocks > 1)) return Blocks(size, std::max(rows, size));
    return Blocks(size, std::max(rows, static_cast<std::size_t>(all / n_blocks) + 1));
  }

  std::size_t count() const { return std::max<std::size_t>(1, (size_ + length_ - 1) / length_); }
  std::size_t begin(std::size_t block) const { return block * length_; }
  std::size_t end(std::size_t block) const { return std::min(size_, (block + 1) * length_); }

  // work(block, begin, end) for every block.
  template <class Work>
  void for_each(unsigned n_threads, const Work& work) const {
    in_threads(n_threads, count(), [&](std::size_t block) { work(block, begin(block), end(block)); });
  }

  // The sum over all blocks: sum_of(begin, end) is that of one, and add(sum, next) adds the next one to it.
  template <class SumOf, class Add>
  auto sum(unsigned n_threads, const SumOf& sum_of, const Add& add) const {
    using Sum = decltype(sum_of(std::size_t{}, std::size_t{}));
    if (n_threads <= 1) {
      Sum total = sum_of(begin(0), end(0));
      for (std::size_t block = 1; block < count(); ++block) add(total, sum_of(begin(block), end(block)));
      return total;
    }
    std::vector<std::optional<Sum>> sums(count());
    in_threads(n_threads, count(), [&](std::size_t block) { sums[block].emplace(sum_of(begin(block), end(block))); });
    for (std::size_t block = 1; block < count(); ++block) add(*sums[0], std::move(*sums[block]));
    return std::move(*sums[0]);
  }

 private:
  std::size_t size_, length_;
};

}  // namespace dynmargin
