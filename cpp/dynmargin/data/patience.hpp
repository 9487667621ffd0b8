// How long work that is not done in slices may go on: packing, and the parsing of a text.
#pragma once

#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <thread>
#include <utility>

namespace dynmargin {

// Thrown by work that ends before it is done.
struct OutOfPatience {};

// Work calls `check` about every millisecond, in each of its threads. It ends when the time is over, or when whoever
// waits for it has had enough. The latter is asked only in the thread that waits, which is the one that Python tells
// about Ctrl-C, and seldom: an answer may have to wait for other threads of Python.
class Patience {
 public:
  // `least` are seconds of processor time that the work gets in any case, however busy the machine is.
  Patience(double seconds, double least, std::function<bool()> has_had_enough)
      : deadline_(Clock::now() + Seconds(seconds)), least_(least), has_had_enough_(std::move(has_had_enough)) {}

  void check();

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  using Time = std::chrono::time_point<Clock, Seconds>;
  static constexpr Seconds between_questions{0.05};

  bool interrupted(Time now);

  double worked() const { return static_cast<double>(std::clock() - began_) / CLOCKS_PER_SEC; }

  Time deadline_;
  double least_;
  std::clock_t began_ = std::clock();
  std::function<bool()> has_had_enough_;
  std::thread::id waiting_ = std::this_thread::get_id();
  Time next_question_ = Clock::now() + between_questions;
  std::atomic<bool> over_ = false;
};

}  // namespace dynmargin
