// Not part of the loops that call it, which would be slower: packing Covertype took 4 % longer.
#include "dynmargin/data/patience.hpp"

namespace dynmargin {

void Patience::check() {
  const auto now = Clock::now();
  if ((now >= deadline_ && worked() >= least_) || interrupted(now)) over_ = true;
  if (over_) throw OutOfPatience{};
}

bool Patience::interrupted(Time now) {
  if (!has_had_enough_ || std::this_thread::get_id() != waiting_ || now < next_question_) return false;
  next_question_ = now + between_questions;
  return has_had_enough_();
}

}  // namespace dynmargin
