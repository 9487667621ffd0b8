// Bindings of what is solved exactly: Newton's method, and the best scale of given weights.
#include "dynmargin/solve/newton.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include "dynmargin/proof/pull.hpp"
#include "dynmargin/solve/portable_math.hpp"
#include "trainers.hpp"

using namespace nb::literals;
using namespace dynmargin;

void bind_newton(nb::module_& m) {
  nb::class_<Newton> newton(m, "Newton",
                            "LinearSVC's objective at a point that moves, and the passes that Newton's method needs.");
  bind_snapshots(newton);
  newton
      .def(
          "__init__",
          [](Newton* self, std::shared_ptr<PackedRows> rows, std::shared_ptr<Problem> problem,
             Vector<std::uint32_t> members, Vector<double> w, double scale) {
            require_rows(*rows, *problem);
            require(w.shape(0) == static_cast<std::size_t>(rows->n_columns) + 1, "w needs n_columns + 1 coordinates");
            auto own_members = copy_of(members);  // another thread may change theirs
            auto own_w = copy_of(w);
            for (std::uint32_t k : own_members) require(problem->has_row(k), "a member is not a row that takes part");
            nb::gil_scoped_release release;
            new (self) Newton(std::move(rows), std::move(problem), std::move(own_members), std::move(own_w), scale);
          },
          "rows"_a, "problem"_a, "members"_a, "w"_a, "scale"_a = 1.0)
      .def("w", [](const Newton& self) { return to_numpy(self.w()); })
      .def(
          "dual_weights", [](const Newton& self) { return to_numpy(self.dual_weights()); }, "One per member.")
      .def_prop_ro("margin", &Newton::margin)
      .def_prop_ro("upper_bound", &Newton::upper_bound)
      .def_prop_ro("true_margin", &Newton::true_margin, "At the full price of slacks.")
      .def_prop_ro("true_upper_bound", &Newton::true_upper_bound, "At the full price of slacks.")
      .def_prop_ro("work", &Newton::work, "Of all steps so far, in multiplications.")
      .def("reprice", &Newton::reprice, "price"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Let slacks cost that fraction of what they do.")
      .def("gradient", [](const Newton& self) { return to_numpy(self.gradient()); })
      .def_prop_ro("loss", &Newton::loss)
      .def_prop_ro("total", &Newton::total, "The sum of the dual weights.")
      .def_prop_ro("n_active", &Newton::n_active)
      .def(
          "active_sum",
          [](Newton& self) {
            const std::size_t n = self.w().size();
            const auto sum = [&] {
              nb::gil_scoped_release release;
              return self.active_sum();
            };
            return to_numpy(sum(), std::array{n, n});
          },
          "The sum of c_k ybar_k ybar_k^T over the rows with a slack, upper triangle.")
      .def(
          "active_product",
          [](const Newton& self, Vector<double> v) {
            require(v.shape(0) == self.w().size(), "v needs n_columns + 1 coordinates");
            std::vector<double> sum(v.shape(0));
            {
              const auto own_v = copy_of(v);
              nb::gil_scoped_release release;
              self.add_product_to(sum, own_v);
            }
            return to_numpy(std::move(sum));
          },
          "v"_a, "That sum times a vector.")
      .def(
          "diagonal",
          [](const Newton& self) {
            const auto found = [&] {
              nb::gil_scoped_release release;
              return self.diagonal();
            };
            return to_numpy(found());
          },
          "Of the Hessian; ones where it is close to that.")
      .def(
          "aim",
          [](Newton& self, Vector<double> direction) {
            require(direction.shape(0) == self.w().size(), "a direction needs n_columns + 1 coordinates");
            const auto own_direction = copy_of(direction);
            nb::gil_scoped_release release;
            return self.aim(own_direction);
          },
          "direction"_a, "Score a direction; whether all numbers are finite.")
      .def(
          "go",
          [](Newton& self, double along_w, Vector<double> direction, double along_direction) {
            require(direction.shape(0) == self.w().size(), "a direction needs n_columns + 1 coordinates");
            const auto own_direction = copy_of(direction);
            nb::gil_scoped_release release;
            self.go(along_w, own_direction, along_direction);
          },
          "along_w"_a, "direction"_a, "along_direction"_a, "Go along the direction that was aimed at.")
      .def("step", &Newton::step, nb::call_guard<nb::gil_scoped_release>(),
           "Go to the lowest point along Newton's direction.")
      .def("iterate", &Newton::iterate, nb::call_guard<nb::gil_scoped_release>(),
           "Make one iteration of conjugate gradients; return whether that completes a step.")
      .def_prop_ro("most_iterations", &Newton::most_iterations, "In the next step of that kind.");

  m.def(
      "best_scale",
      [](Vector<double> scores, Vector<double> penalties, double norm2) {
        require(scores.shape(0) == penalties.shape(0), "scores and penalties differ in length");
        nb::gil_scoped_release release;
        return best_scale(copy_of(scores), copy_of(penalties), norm2);
      },
      "scores"_a, "penalties"_a, "norm2"_a,
      "The v >= 0 that minimises v² norm2 + sum penalties_k max(0, 1 - v scores_k)²; 0 where no weights are better "
      "than none.");

  m.def(
      "pull",
      [](const PackedRows& rows, const Problem& problem, Vector<double> w) {
        require_rows(rows, problem);
        require(w.shape(0) == static_cast<std::size_t>(rows.n_columns) + 1, "w needs n_columns + 1 coordinates");
        require(problem.loss == Loss::squared_hinge && !problem.hard_margin() && !problem.free_bias,
                "a pull needs squared slacks with a price, and a regularised intercept");
        Pull found;
        {
          const auto own_w = copy_of(w);  // another thread may change it
          nb::gil_scoped_release release;
          found = pull_of(rows, problem, own_w);
        }
        return std::tuple(to_numpy(std::move(found.shortfalls)), to_numpy(std::move(found.v)), found.error);
      },
      "rows"_a, "problem"_a, "w"_a,
      "1 - s_k per row, v = sum_k c_k max(0, 1 - s_k) ybar_k, and how far rounding may have moved them.");
  m.def(
      "leverages",
      [](const PackedRows& rows, const Problem& problem) {
        require_rows(rows, problem);
        return to_numpy(leverages(rows, problem));
      },
      "rows"_a, "problem"_a, "c_k ‖ybar_k‖ per row, by how much a slack of it pulls; 0 for rows that are left out.");

  m.def("made_at_once", &made_at_once, "dense"_a,
        "How many multiplications of a Hessian are made in the time of one of a pass over rows, dense or not.");
  m.def("solve_work", &solve_work, "n"_a, "dense"_a,
        "The work of solving a system of n unknowns, in multiplications of a pass over rows, dense or not.");
  m.attr("MOST_HESSIAN_COLUMNS") = Newton::largest_hessian;
  m.attr("FIND_ROW") = Newton::find_row;
  m.attr("PER_COORDINATE") = Newton::per_coordinate;
  m.def(
      "hessian_pays_at_once",
      [](double summed, std::size_t n, double product, bool dense) {
        return Newton::hessian_pays(Newton::hessian_work(summed, n, dense), product, 0);
      },
      "summed"_a, "n"_a, "product"_a, "dense"_a,
      "Whether Newton's method forms a Hessian of n unknowns without conjugate gradients first, given what its sum "
      "over "
      "rows and a product with it cost.");
  m.def("log", &portable::log, "x"_a, "The logarithm, the same on every machine.");
  m.def("exp", &portable::exp, "x"_a, "The exponential, the same on every machine.");
  m.def("pow", &portable::pow, "x"_a, "p"_a, "x^p for x >= 0, the same on every machine.");
}
