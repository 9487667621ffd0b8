// Bindings of the strictly online perceptron.
#include "dynmargin/perceptron/online.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"

using namespace nb::literals;
using namespace dynmargin;

namespace {

using Numbers =
    std::tuple<double, double, std::int64_t, double, double, double, double, double, double, std::int64_t, bool>;
using Pickled = std::tuple<Numbers, Vector<double>, Vector<double>, Vector<std::uint64_t>, Vector<std::int64_t>>;

Numbers numbers_of(const OnlineSums& s) {
  return {s.rho,   s.bias_moment, s.signed_t,  s.totals.t,    s.totals.norm2, s.extended,
          s.gross, s.additions,   s.rows_seen, s.since_fresh, s.keep_counts};
}

void require_columns(const OnlineState& state, const Matrix& matrix) {
  require(n_columns(matrix.view) == static_cast<std::int64_t>(state.sums().w.size()),
          "the matrix and the state differ in their columns");
}

}  // namespace

void bind_online(nb::module_& m) {
  nb::class_<OnlineState>(m, "OnlineState", "PDM strictly online: what is remembered of the rows that have passed.")
      .def(nb::init<std::int64_t, double, bool>(), "n_columns"_a, "rho"_a, "keep_counts"_a)
      .def(
          "present",
          [](OnlineState& self, const Matrix& matrix, const Problem& problem, std::optional<Vector<double>> repeats,
             double eps) {
            require_rows(matrix, problem);
            require_columns(self, matrix);
            require(problem.rho == self.sums().rho, "the problem and the state differ in rho");
            require(!repeats || repeats->shape(0) == problem.sides.size(), "repeats and sides differ in length");
            nb::gil_scoped_release release;
            self.present(matrix.view, problem, repeats ? span_of(*repeats) : std::span<const double>{}, eps);
          },
          "matrix"_a, "problem"_a, "repeats"_a.none(), "eps"_a, "Present the rows once, in their order.")
      .def(
          "take_over",
          [](OnlineState& self, const Matrix& matrix, const Problem& problem, Vector<std::int64_t> rows,
             Vector<std::int64_t> counts, Vector<std::uint64_t> keys, Vector<double> model) {
            require_rows(matrix, problem);
            require_columns(self, matrix);
            require(self.sums().rows_seen == 0, "the state has seen rows already");
            require(rows.shape(0) == counts.shape(0), "rows and counts differ in length");
            require(model.shape(0) == self.sums().w.size() + 1, "the model and the state differ in their columns");
            require(keys.shape(0) == problem.sides.size(), "keys and sides differ in length");
            const auto own_rows = copy_of(rows);  // another thread may change theirs after the check
            for (const std::int64_t k : own_rows) require(problem.has_row(k), "a count belongs to no row of this data");
            nb::gil_scoped_release release;
            self.take_over(matrix.view, problem, own_rows, span_of(counts), span_of(keys), span_of(model));
          },
          "matrix"_a, "problem"_a, "rows"_a, "counts"_a, "keys"_a, "model"_a,
          "Begin with the counts and the model of a finished fit, the augmented coordinate last.")
      .def(
          "upper_bound",
          [](const OnlineState& self) {
            const Bound bound = self.upper_bound();
            return std::pair{bound.value, bound.error};
          },
          "The bound ‖a‖/t for all rows seen, and how far rounding may have moved it.")
      .def(
          "model", [](const OnlineState& self) { return to_numpy(self.model()); },
          "The average of the weights over the rows presented, the augmented coordinate last.")
      .def(
          "weights", [](const OnlineState& self) { return to_numpy(self.sums().w); },
          "sum n_k l_k x_k, the perceptron's own weights.")
      .def_prop_ro("updates", [](const OnlineState& self) { return static_cast<std::int64_t>(self.sums().totals.t); })
      .def_prop_ro("norm2", [](const OnlineState& self) { return self.sums().totals.norm2; })
      .def_prop_ro("rows_seen",
                   [](const OnlineState& self) { return static_cast<std::int64_t>(self.sums().rows_seen); })
      .def_prop_ro("keep_counts", [](const OnlineState& self) { return self.sums().keep_counts; })
      .def(
          "counted",
          [](const OnlineState& self) { return std::pair{to_numpy(self.sums().keys), to_numpy(self.sums().counts)}; },
          "Keys of the rows with a count, in the order of their updates, and the counts.")
      .def("__getstate__",
           [](const OnlineState& self) {
             const OnlineSums& s = self.sums();
             return std::tuple{numbers_of(s), to_numpy(s.w), to_numpy(s.moment), to_numpy(s.keys), to_numpy(s.counts)};
           })
      .def("__setstate__", [](OnlineState& self, const Pickled& pickled) {
        const auto& [numbers, w, moment, keys, counts] = pickled;
        OnlineSums s;
        std::tie(s.rho, s.bias_moment, s.signed_t, s.totals.t, s.totals.norm2, s.extended, s.gross, s.additions,
                 s.rows_seen, s.since_fresh, s.keep_counts) = numbers;
        s.w = copy_of(w), s.moment = copy_of(moment), s.keys = copy_of(keys), s.counts = copy_of(counts);
        new (&self) OnlineState(std::move(s));
      });
}
