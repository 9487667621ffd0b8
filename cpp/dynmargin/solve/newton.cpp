// The passes of Newton's method over the rows. Compiled by themselves: in one translation unit with the perceptrons,
// PDM's own loops become slower.
#include "dynmargin/solve/newton.hpp"

namespace dynmargin {

namespace {

double dot(const std::vector<double>& v, const std::vector<double>& w) {
  return sum_in_lanes(v.size(), [&](std::size_t j) { return v[j] * w[j]; });
}

double squared(const std::vector<double>& v) { return dot(v, v); }

// Cuts the lines of a Hessian into as many parts as there are threads, of about the same work; a few rows tell how much
// it is. What the parts are does not matter to the result.
template <class Rows>
std::vector<std::size_t> shared_lines(const Rows& rows, std::span<const WeightedRow> summed, std::size_t n,
                                      unsigned n_threads) {
  std::vector<std::size_t> ends{0};
  if (n_threads > 1) {
    std::vector<double> work(n);
    const std::size_t stride = summed.size() / 256 + 1;
    for (std::size_t i = 0; i < summed.size(); i += stride) rows.add_outer_work_to(work.data(), summed[i].start);
    const double all = std::accumulate(work.begin(), work.end(), 0.0);
    double before = 0;
    for (std::size_t line = 0; line < n; ++line) {
      const double share = all / n_threads * static_cast<double>(ends.size());
      if (before > 0 && before + work[line] / 2 > share && ends.size() < n_threads) ends.push_back(line);
      before += work[line];
    }
  }
  ends.push_back(n);
  return ends;
}

void add(std::vector<double>& sum, const std::vector<double>& next) {
  for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += next[j];
}

}  // namespace

// On a subset, rows do not lie side by side; they are fetched while the ones before are visited.
template <class F>
void Newton::for_members(std::size_t begin, std::size_t end, const F& f) const {
  constexpr std::size_t ahead = 8;
  std::visit(
      [&](const auto& rows) {
        for (std::size_t i = begin; i < end; ++i) {
          if (i + ahead < end) rows.prefetch_row(rows.start(members_[i + ahead]));
          f(i, rows, rows.start(members_[i]));
        }
      },
      packed_->rows);
}

Newton::Newton(std::shared_ptr<const PackedRows> packed, std::shared_ptr<const Problem> problem,
               std::vector<std::uint32_t> members, std::vector<double> w, double scale)
    : packed_(std::move(packed)),
      problem_(std::move(problem)),
      members_(std::move(members)),
      w_(std::move(w)),
      penalties_(whole_lanes(members_.size())),
      scores_{std::vector<double>(penalties_.size()), std::vector<double>(penalties_.size())},
      active_(members_.size(), 0),
      n_nonzeros_(static_cast<double>(dynmargin::n_nonzeros(*packed_, *problem_)) *
                  static_cast<double>(members_.size()) / static_cast<double>(problem_->n_members())),
      stiffness_(stiffness(*packed_, *problem_)) {
  rows_ = Blocks::of_rows(members_.size(), n_nonzeros_);
  sums_ = Blocks::of_sums(members_.size(), n_nonzeros_, w_.size());
  set_price(scale);
  multiply(w_, scores_[0]);
  evaluate();
}

void Newton::reprice(double price) {
  for (double& c : upper_) c *= price / price_;
  set_price(price);
  evaluate();
}

void Newton::restart(std::vector<double> w) {
  w_ = std::move(w);
  gradients_ = {};
  multiply(w_, scores_[0]);
  evaluate();
}

std::vector<double> Newton::dual_weights() const {
  std::vector<double> alpha(members_.size());
  for (std::size_t i = 0; i < alpha.size(); ++i) alpha[i] = penalties_[i] * std::max(0.0, 1 - scores_[0][i]);
  return alpha;
}

void Newton::step() {
  if (hessian_pays()) {
    move_along(exact_direction());
  } else {
    const double before = work_;
    while (!iterate()) {
    }
    iterated_ += work_ - before;
  }
}

bool Newton::hessian_pays() const {
  if (w_.size() > largest_hessian + 1) return false;
  if (!upper_.empty()) return true;  // to keep it up to date costs little
  const double summed = Blocks(members_.size())
                            .sum(
                                problem_->n_threads,
                                [&](std::size_t begin, std::size_t end) {
                                  double work = 0;
                                  for_members(begin, end, [&](std::size_t i, const auto& rows, std::uint64_t start) {
                                    if (scores_[0][i] < 1) work += rows.outer_work(start, w_.size() - 1);
                                  });
                                  return work;
                                },
                                [](double& sum, double next) { sum += next; });
  return hessian_pays(hessian_work(summed, w_.size(), is_dense(*packed_)), work_of_product(), iterated_);
}

bool Newton::iterate() {
  if (!gradients_.begun()) gradients_ = ConjugateGradients(gradient_, diagonal());
  if (!gradients_.within(0.5)) refine(gradients_);
  if (!gradients_.within(0.5) && gradients_.iterations() < most_iterations_) return false;
  const int made = gradients_.iterations();
  const double length = move_along(gradients_.solution());
  if (!(length > 0.6))
    most_iterations_ = std::max(fewest_iterations, made / 2);
  else if (made >= most_iterations_)
    most_iterations_ = std::min(2 * made, 1 << 20);
  gradients_ = {};
  return true;
}

void Newton::set_price(double price) {
  price_ = price;
  Blocks(members_.size()).for_each(problem_->n_threads, [&](std::size_t /*block*/, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) penalties_[i] = price * problem_->penalty(members_[i]);
  });
}

void Newton::multiply(const std::vector<double>& v, std::vector<double>& out) const {
  const double bias = problem_->rho * v.back();
  rows_.for_each(problem_->n_threads, [&](std::size_t /*block*/, std::size_t begin, std::size_t end) {
    for_members(begin, end, [&](std::size_t i, const auto& rows, std::uint64_t start) {
      const double score = rows.dot(start, v.data()) + bias;
      out[i] = problem_->sides[members_[i]] > 0 ? score : -score;
    });
  });
}

template <class Rows>
UnsetVector<WeightedRow> Newton::changed_rows(const Rows& rows) {
  const Blocks blocks(members_.size());
  std::vector<std::size_t> first(blocks.count() + 1);  // of each block, in the result
  blocks.for_each(problem_->n_threads, [&](std::size_t block, std::size_t begin, std::size_t end) {
    std::size_t n_changed = 0;
    for (std::size_t i = begin; i < end; ++i) n_changed += (scores_[0][i] < 1) != (active_[i] != 0);
    first[block + 1] = n_changed;
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  UnsetVector<WeightedRow> changed(first.back());
  std::vector<double> work(blocks.count());
  blocks.for_each(problem_->n_threads, [&](std::size_t block, std::size_t begin, std::size_t end) {
    WeightedRow* next = changed.data() + first[block];
    double added = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const char now = scores_[0][i] < 1;
      if (now == active_[i]) continue;
      active_[i] = now;
      *next++ = {rows.start(members_[i]), now ? penalties_[i] : -penalties_[i]};
      added += rows.outer_work(rows.start(members_[i]), w_.size() - 1);
    }
    work[block] = added;
  });
  work_ = std::accumulate(work.begin(), work.end(), work_);
  return changed;
}

const std::vector<double>& Newton::active_sum() {
  constexpr std::size_t few_numbers = std::size_t{1} << 15;  // so that a sum per block stays in the cache
  const std::size_t n = w_.size();
  upper_.resize(n * n);
  std::visit(
      [&](const auto& rows) {
        const double before = work_;
        const auto changed = changed_rows(rows);
        if (n * n <= few_numbers) {
          const auto sum_of = [&](std::size_t begin, std::size_t end) {
            std::vector<double> sum = begin == 0 ? std::move(upper_) : std::vector<double>(n * n);
            rows.add_outers_to(sum.data(), n, std::span(changed).subspan(begin, end - begin), problem_->rho, 0, n);
            return sum;
          };
          upper_ = Blocks::of_sums(changed.size(), work_ - before, n * n).sum(problem_->n_threads, sum_of, add);
          return;
        }
        // Every thread adds all rows to lines of its own, so every entry is summed in the same order.
        const std::vector<std::size_t> lines = shared_lines(rows, changed, n, problem_->n_threads);
        in_threads(problem_->n_threads, lines.size() - 1, [&](std::size_t part) {
          rows.add_outers_to(upper_.data(), n, changed, problem_->rho, lines[part], lines[part + 1]);
        });
      },
      packed_->rows);
  return upper_;
}

std::vector<double> Newton::exact_direction() {
  const std::size_t n = w_.size();
  std::vector<double> hessian(active_sum()), direction(n);
  work_ += solve_work(n, is_dense(*packed_));
  for (std::size_t i = 0; i < n; ++i) {
    hessian[i * n + i] += 1;
    direction[i] = -gradient_[i];
  }
  return solve_positive_definite(hessian, direction) && std::isfinite(squared(direction)) ? direction
                                                                                          : approximate_direction();
}

std::vector<double> Newton::approximate_direction() {
  ConjugateGradients gradients(gradient_, diagonal());
  for (std::size_t i = 0; i < w_.size() && !gradients.within(0.1); ++i) refine(gradients);
  return gradients.solution();
}

void Newton::refine(ConjugateGradients& gradients) {
  work_ += work_of_product();
  gradients.iterate([&](const std::vector<double>& v) { return hessian_times(v); });
}

double Newton::work_of_product() const {
  return n_active_ * (find_row + 2 * n_nonzeros_ / static_cast<double>(members_.size())) +
         per_coordinate * static_cast<double>(w_.size());
}

std::vector<double> Newton::diagonal() const {
  if (price_ * stiffness_ < 1) return std::vector<double>(w_.size(), 1.0);
  const auto sum_of = [&](std::size_t begin, std::size_t end) {
    std::vector<double> sums(w_.size(), begin == 0 ? 1.0 : 0.0);
    double bias = 0;
    for_members(begin, end, [&](std::size_t i, const auto& rows, std::uint64_t start) {
      if (!(scores_[0][i] < 1)) return;
      const double c = penalties_[i];
      rows.for_each(start, [&](auto column, double value) { sums[column] += c * value * value; });
      bias += c;
    });
    sums.back() += problem_->rho * problem_->rho * bias;
    return sums;
  };
  return sums_.sum(problem_->n_threads, sum_of, add);
}

bool Newton::aim(const std::vector<double>& direction) {
  work_ +=
      2 * n_nonzeros_ + 20 * static_cast<double>(members_.size()) + per_coordinate * static_cast<double>(w_.size());
  multiply(direction, scores_[1]);
  return std::isfinite(squared(direction)) && std::isfinite(squared_in_threads(scores_[1]));
}

void Newton::go(double along_w, const std::vector<double>& direction, double along_direction) {
  for (std::size_t j = 0; j < w_.size(); ++j) w_[j] = along_w * w_[j] + along_direction * direction[j];
  evaluate([&](std::size_t i) { scores_[0][i] = along_w * scores_[0][i] + along_direction * scores_[1][i]; });
}

double Newton::move_along(const std::vector<double>& direction) {
  if (!aim(direction)) return 0;
  const double mixed = dot(w_, direction);
  const SlackRepair<2>::Gram gram{{{squared(w_), mixed}, {mixed, squared(direction)}}};
  // To the last digit: a step may hardly raise the margin, which is flat at the optimum, and still lower the upper
  // bound a lot.
  const auto [along_w, along_direction] =
      SlackRepair<2>(scores_, penalties_, gram, problem_->n_threads).best({1, 1}, 0).c;
  go(along_w, direction, along_direction);
  return along_direction / along_w;
}

std::vector<double> Newton::hessian_times(const std::vector<double>& v) const {
  std::vector<double> product(v);
  add_product_to(product, v);
  return product;
}

void Newton::add_product_to(std::vector<double>& sum, const std::vector<double>& v) const {
  const double v_bias = problem_->rho * v.back();
  const auto sum_of = [&](std::size_t begin, std::size_t end) {
    std::vector<double> product = begin == 0 ? std::move(sum) : std::vector<double>(v.size());
    double bias = 0;
    for_members(begin, end, [&](std::size_t i, const auto& rows, std::uint64_t start) {
      if (!(scores_[0][i] < 1)) return;
      const double factor = penalties_[i] * (rows.dot(start, v.data()) + v_bias);
      rows.add_to(product.data(), start, factor);
      bias += factor;
    });
    product.back() += problem_->rho * bias;
    return product;
  };
  sum = sums_.sum(problem_->n_threads, sum_of, add);
}

double Newton::squared_in_threads(const std::vector<double>& v) const {
  return Blocks(v.size()).sum(
      problem_->n_threads,
      [&](std::size_t begin, std::size_t end) {
        return sum_in_lanes(end - begin, [&](std::size_t i) { return v[begin + i] * v[begin + i]; });
      },
      [](double& sum, double next) { sum += next; });
}

void Newton::evaluate() {
  evaluate([](std::size_t /*i*/) {});
}

template <class Before>
void Newton::evaluate(const Before& before) {
  struct Sums {
    std::vector<double> combination;
    double loss = 0, total = 0, n_active = 0;
  };
  const auto sum_of = [&](std::size_t begin, std::size_t end) {
    std::vector<double> combination(w_.size());
    double bias = 0, loss = 0, total = 0, n_active = 0;
    for_members(begin, end, [&](std::size_t i, const auto& rows, std::uint64_t start) {
      before(i);
      const double slack = 1 - scores_[0][i];
      if (!(slack > 0)) return;
      const double alpha = penalties_[i] * slack;
      ++n_active;
      loss += alpha * slack;  // also alpha² Delta², the extension's share of ‖a‖²
      total += alpha;
      const double factor = problem_->sides[members_[i]] > 0 ? alpha : -alpha;
      rows.add_to(combination.data(), start, factor);
      bias += factor;
    });
    combination.back() += problem_->rho * bias;
    return Sums{std::move(combination), loss, total, n_active};
  };
  const Sums all = sums_.sum(problem_->n_threads, sum_of, [](Sums& sum, const Sums& next) {
    add(sum.combination, next.combination);
    sum.loss += next.loss;
    sum.total += next.total;
    sum.n_active += next.n_active;
  });
  loss_ = all.loss;
  total_ = all.total;
  n_active_ = all.n_active;
  norm2_ = squared(w_);
  combination2_ = squared(all.combination);
  gradient_.resize(w_.size());
  for (std::size_t j = 0; j < w_.size(); ++j) gradient_[j] = w_[j] - all.combination[j];
}

}  // namespace dynmargin
