// Bindings of the two kinds of problem: what is asked, and what is proven about it.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>

#include "arrays.hpp"
#include "dynmargin/data/canonical_rows.hpp"
#include "dynmargin/joint/joint_certificate.hpp"
#include "dynmargin/joint/joint_trainer.hpp"
#include "dynmargin/perceptron/online.hpp"
#include "dynmargin/perceptron/trainer.hpp"
#include "dynmargin/proof/certificate.hpp"
#include "dynmargin/proof/scored_rows.hpp"
#include "dynmargin/proof/witnesses.hpp"

using namespace nb::literals;
using namespace dynmargin;

namespace {

using ClassTable = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::pair<double, double> as_pair(const Bound& bound) { return {bound.value, bound.error}; }

const UnsetVector<std::uint64_t>& row_digests(const PackedRows& rows, unsigned /*n_threads*/) { return rows.digests; }
std::vector<std::uint64_t> row_digests(const Matrix& matrix, unsigned n_threads) {
  return std::visit([&](const auto& view) { return digest_rows(view, n_threads); }, matrix.view);
}

template <class Rows, class P>
std::pair<std::uint64_t, std::uint64_t> digest(const P& problem, const Rows& rows) {
  require_rows(rows, problem);
  nb::gil_scoped_release release;
  const Digest found = digest_data(row_digests(rows, problem.n_threads), problem.sides, problem.sample_weight);
  return {found.ordered, found.unordered};
}

template <class Rows>
NumpyArray<std::uint64_t> row_keys(const Problem& problem, const Rows& rows) {
  require_rows(rows, problem);
  std::vector<std::uint64_t> keys;
  {
    nb::gil_scoped_release release;
    for (const std::uint64_t digest : row_digests(rows, problem.n_threads))
      keys.push_back(row_key(digest, problem.sides[keys.size()]));
  }
  return to_numpy(std::move(keys));
}

// Both bounds with their errors, and the ball: centre, intercepts, radius.
nb::tuple as_tuple(Proof&& proof, int errors) {
  const DefaultArithmetic arithmetic;
  const double radius = proof.ball.radius(errors);
  return nb::make_tuple(as_pair(proof.margin), as_pair(proof.upper_bound), to_numpy(std::move(proof.ball.centre)),
                        to_numpy(std::move(proof.ball.intercept)), radius);
}

constexpr int errors_to_publish = 3, errors_to_confirm = 1;

template <class Data>
nb::tuple prove_two(const Problem& self, const Data& data, std::int64_t n_columns, const Vector<double>& w, double b,
                    const Vector<std::int64_t>& places, const Vector<std::int64_t>& counts, bool confirming,
                    double epsilon) {
  require(static_cast<std::int64_t>(w.shape(0)) == n_columns, "the weights and the columns differ in number");
  require(places.shape(0) == counts.shape(0), "places and counts differ in length");
  const auto own_places = copy_of(places), own_counts = copy_of(counts);  // another thread may change theirs
  const auto own_w = copy_of(w);
  const auto found = [&] {
    nb::gil_scoped_release release;
    return prove(data, self, own_w, b, own_places, own_counts, confirming, epsilon);
  };
  return as_tuple(found(), confirming ? errors_to_confirm : errors_to_publish);
}

const nb::sig sig_of_prove(
    "def prove(self, data: Matrix | PackedRows, w: NDArray[numpy.float64], b: float | NDArray[numpy.float64], "
    "places: NDArray[numpy.int64], counts: NDArray[numpy.int64], confirming: bool, epsilon: float = 0.0) -> "
    "tuple[tuple[float, float], tuple[float, float], NDArray[numpy.float64], NDArray[numpy.float64], float]");

Bound margin(const Problem& self, const Matrix& matrix, const Vector<double>& w, double b) {
  require(static_cast<std::int64_t>(w.shape(0)) == n_columns(matrix.view),
          "the weights and the matrix differ in length");
  nb::gil_scoped_release release;
  return margin_of_weights(matrix.view, self, span_of(w), b);
}

void require_fitting(const JointProblem& self, const Matrix& matrix, const ClassTable& w, const Vector<double>& b) {
  const auto K = self.costs.size();
  require(w.shape(0) == K && b.shape(0) == K && static_cast<std::int64_t>(w.shape(1)) == n_columns(matrix.view),
          "the weights are not one row per class and one number per feature");
}

Bound margin(const JointProblem& self, const Matrix& matrix, const ClassTable& w, const Vector<double>& b) {
  require_fitting(self, matrix, w, b);
  nb::gil_scoped_release release;
  return margin_of_weights(matrix.view, self, {w.data(), w.size()}, span_of(b));
}

// What both kinds of problem can do. `T` is the trainer of perceptrons, `Rule` what it takes, and the weights of a
// model are W and b.
template <class P, class T, class Rule, class W, class b>
nb::class_<P> bind_problem(nb::module_& m, const char* name, const char* doc) {
  return nb::class_<P>(m, name, doc)
      .def_prop_ro("hard_margin", &P::hard_margin)
      .def_prop_ro("n_members", &P::n_members, "How many rows take part.")
      .def("digest", &digest<PackedRows, P>, "rows"_a)
      .def("digest", &digest<Matrix, P>, "matrix"_a,
           "Digests of rows, sides and weights: with and without the order of the rows.")
      .def(
          "largest_norm",
          [](const P& self, const PackedRows& rows) {
            require_rows(rows, self);
            nb::gil_scoped_release release;
            return largest_norm(rows, self);
          },
          "rows"_a, "R, the length of the longest pattern.")
      .def(
          "n_nonzeros",
          [](const P& self, const PackedRows& rows) {
            require_rows(rows, self);
            nb::gil_scoped_release release;
            return n_nonzeros(rows, self);
          },
          "rows"_a, "The non-zeros of the rows that take part.")
      .def(
          "margin_of_weights",
          [](const P& self, const Matrix& matrix, W w, b intercept) {
            require_rows(matrix, self);
            return as_pair(margin(self, matrix, w, intercept));
          },
          "matrix"_a, "w"_a, "b"_a,
          nb::sig("def margin_of_weights(self, matrix: Matrix, w: NDArray[numpy.float64], "
                  "b: float | NDArray[numpy.float64]) -> tuple[float, float]"),
          "The margin that weights have, and how far rounding may have moved it.")
      .def(
          "bound_of_counts",
          [](const P& self, const Matrix& matrix, Vector<std::int64_t> places, Vector<std::int64_t> counts) {
            require_rows(matrix, self);
            require(places.shape(0) == counts.shape(0), "places and counts differ in length");
            const auto own_places = copy_of(places), own_counts = copy_of(counts);  // another thread may change theirs
            nb::gil_scoped_release release;
            return as_pair(bound_of_counts(matrix.view, self, own_places, own_counts).bound);
          },
          "matrix"_a, "places"_a, "counts"_a,
          "The bound ‖a‖/t that counts prove, and how far rounding may have moved it.")
      .def(
          "start",
          [](std::shared_ptr<P> self, std::shared_ptr<PackedRows> rows, Rule rule, const Schedule& schedule,
             double epsilon, std::uint64_t seed) {
            require_rows(*rows, *self);
            nb::gil_scoped_release release;
            return std::make_unique<T>(std::move(rows), std::move(self), rule, schedule, epsilon, seed);
          },
          "rows"_a, "rule"_a, "schedule"_a, "epsilon"_a, "seed"_a,
          "A run of a rule that adds patterns, to close a gap of epsilon.");
}

template <class P>
void make_problem(P* self, const std::optional<Vector<double>>& weight, std::size_t n_rows, P problem) {
  require(!weight || weight->shape(0) == n_rows, "sample_weight and sides differ in length");
  if (weight) problem.sample_weight = copy_of(*weight);
  problem.require_valid();
  new (self) P(std::move(problem));
}

}  // namespace

void bind_problems(nb::module_& m) {
  m.def(
      "rounded_counts",
      [](Vector<std::int64_t> rows, Vector<double> weights, double factor) {
        require(rows.shape(0) == weights.shape(0), "rows and weights differ in number");
        auto [kept, counts] = rounded_counts(span_of(rows), span_of(weights), factor);
        return std::pair{to_numpy(std::move(kept)), to_numpy(std::move(counts))};
      },
      "rows"_a.noconvert(), "weights"_a.noconvert(), "factor"_a,
      "Rows whose weight times a factor, rounded to the nearest whole number, is positive, and these numbers.");

  m.def(
      "score_rows",
      [](const Matrix& matrix, const ClassTable& weights, unsigned n_threads) {
        require(static_cast<std::int64_t>(weights.shape(1)) == n_columns(matrix.view),
                "the weights and the matrix differ in length");
        const auto score = [&] {
          nb::gil_scoped_release release;
          return score_rows(matrix.view, {weights.data(), weights.size()}, weights.shape(0), n_threads);
        };
        ScoredRows found = score();
        const std::array<std::size_t, 2> shape{found.lengths.size(), weights.shape(0)};
        return nb::make_tuple(to_numpy(std::move(found.scores), shape), to_numpy(std::move(found.lengths)),
                              to_numpy(std::move(found.terms)));
      },
      "matrix"_a, "weights"_a, "n_threads"_a = 1,
      nb::sig("def score_rows(matrix: Matrix, weights: NDArray[numpy.float64], n_threads: int = 1) -> "
              "tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]"),
      "The product of rows and weights, the lengths of the rows, rounded up, and how many products may be rounded.");
  m.def(
      "settled_rows",
      [](const Matrix& matrix, const ClassTable& weights, const Vector<double>& intercepts,
         const Vector<double>& lengths, double radius, double rho, unsigned n_threads) {
        require(static_cast<std::int64_t>(weights.shape(1)) == n_columns(matrix.view),
                "the weights and the matrix differ in length");
        require(weights.shape(0) == 2 && intercepts.shape(0) == 2 && lengths.shape(0) == 2,
                "there must be a centre and weights");
        const TwoPlanes planes{
            {intercepts.data()[0], intercepts.data()[1]}, {lengths.data()[0], lengths.data()[1]}, radius, rho};
        const auto settle = [&] {
          nb::gil_scoped_release release;
          return settled_rows(matrix.view, {weights.data(), weights.size()}, planes, n_threads);
        };
        return to_numpy(settle());
      },
      "matrix"_a, "weights"_a, "intercepts"_a, "lengths"_a, "radius"_a, "rho"_a, "n_threads"_a = 1,
      nb::sig("def settled_rows(matrix: Matrix, weights: NDArray[numpy.float64], intercepts: NDArray[numpy.float64], "
              "lengths: NDArray[numpy.float64], radius: float, rho: float, n_threads: int = 1) -> "
              "NDArray[numpy.uint8]"),
      "Which rows a ball of weights and the weights that predict put on the same side; for two classes.");
  bind_problem<Problem, Trainer, Rule, Vector<double>, double>(m, "Problem",
                                                               "Sides and slack costs of a two-class problem.")
      .def(
          "__init__",
          [](Problem* self, Vector<std::int8_t> sides, double rho, double C_negative, double C_positive,
             std::optional<Vector<double>> weight, bool hinge, bool free_bias, unsigned n_threads) {
            const Loss loss = hinge ? Loss::hinge : Loss::squared_hinge;
            make_problem(self, weight, sides.shape(0),
                         Problem{copy_of(sides), rho, C_negative, C_positive, {}, loss, free_bias, n_threads});
          },
          "sides"_a, "rho"_a, "C_negative"_a, "C_positive"_a, "sample_weight"_a = nb::none(), "hinge"_a = false,
          "free_bias"_a = false, "n_threads"_a = 1)
      .def(
          "stiffness",
          [](const Problem& self, const PackedRows& rows) {
            require_rows(rows, self);
            nb::gil_scoped_release release;
            return stiffness(rows, self);
          },
          "rows"_a, "The mean of ‖ybar_k‖² / Delta_k².")
      .def(
          "margin_of_weights",
          [](const Problem& self, const PackedRows& rows, Vector<double> w, double b) {
            require_rows(rows, self);
            require(static_cast<std::int64_t>(w.shape(0)) == rows.n_columns,
                    "the weights and the packed columns differ in number");
            nb::gil_scoped_release release;
            return as_pair(margin_of_weights(rows, self, span_of(w), b));
          },
          "rows"_a, "w"_a, "b"_a, "Of weights of the packed columns.")
      .def(
          "bound_of_counts",
          [](const Problem& self, const PackedRows& rows, Vector<std::int64_t> places, Vector<std::int64_t> counts,
             double margin) {
            require_rows(rows, self);
            require(places.shape(0) == counts.shape(0), "places and counts differ in length");
            const auto own_places = copy_of(places), own_counts = copy_of(counts);  // another thread may change theirs
            nb::gil_scoped_release release;
            return as_pair(bound_of_counts(rows, self, own_places, own_counts, margin).bound);
          },
          "rows"_a, "places"_a, "counts"_a, "margin"_a = 0.0,
          "If it is far enough from this margin for rounding not to matter, it takes less time.")
      .def(
          "prove",
          [](const Problem& self, const PackedRows& rows, Vector<double> w, double b, Vector<std::int64_t> places,
             Vector<std::int64_t> counts, bool confirming, double epsilon) {
            require_rows(rows, self);
            return prove_two(self, rows, rows.n_columns, w, b, places, counts, confirming, epsilon);
          },
          "data"_a, "w"_a, "b"_a, "places"_a, "counts"_a, "confirming"_a, "epsilon"_a = 0.0)
      .def(
          "prove",
          [](const Problem& self, const Matrix& matrix, Vector<double> w, double b, Vector<std::int64_t> places,
             Vector<std::int64_t> counts, bool confirming, double epsilon) {
            require_rows(matrix, self);
            return prove_two(self, matrix.view, n_columns(matrix.view), w, b, places, counts, confirming, epsilon);
          },
          "data"_a, "w"_a, "b"_a, "places"_a, "counts"_a, "confirming"_a, "epsilon"_a = 0.0, sig_of_prove,
          "All that weights and counts prove together: both bounds with their errors, and the ball that contains the "
          "optimum (centre, intercept, radius), rounded outward to publish it or to confirm it. What rounding adds may "
          "be a small part of epsilon, the gap that was asked for.")
      .def("row_keys", &row_keys<PackedRows>, "rows"_a)
      .def("row_keys", &row_keys<Matrix>, "matrix"_a,
           "A word per row, from its values and its side, to recognise it by when it comes again.");

  bind_problem<JointProblem, JointTrainer, DynamicMargin, ClassTable, Vector<double>>(
      m, "JointProblem", "The classes of the rows, from 1 up, and what slacks cost.")
      .def(
          "__init__",
          [](JointProblem* self, Vector<std::int32_t> sides, double rho, Vector<double> costs,
             std::optional<Vector<double>> weight, unsigned n_threads) {
            make_problem(self, weight, sides.shape(0),
                         JointProblem{copy_of(sides), rho, copy_of(costs), {}, n_threads});
          },
          "sides"_a, "rho"_a, "costs"_a, "sample_weight"_a = nb::none(), "n_threads"_a = 1)
      .def(
          "prove",
          [](const JointProblem& self, const Matrix& matrix, ClassTable w, Vector<double> b,
             Vector<std::int64_t> places, Vector<std::int64_t> counts, bool confirming, double /*epsilon*/) {
            require_rows(matrix, self);
            require_fitting(self, matrix, w, b);
            require(places.shape(0) == counts.shape(0), "places and counts differ in length");
            const auto own_places = copy_of(places), own_counts = copy_of(counts);
            const std::vector<double> own_w(w.data(), w.data() + w.size()), own_b = copy_of(b);
            const auto found = [&] {
              nb::gil_scoped_release release;
              return prove(matrix.view, self, own_w, own_b, own_places, own_counts);
            };
            return as_tuple(found(), confirming ? errors_to_confirm : errors_to_publish);
          },
          "data"_a, "w"_a, "b"_a, "places"_a, "counts"_a, "confirming"_a, "epsilon"_a = 0.0, sig_of_prove,
          "As for two classes, but epsilon makes no difference.");
}
