// Bindings of the joint problem of several classes.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "dynmargin/digest.hpp"
#include "dynmargin/joint/joint_certificate.hpp"
#include "dynmargin/joint/joint_trainer.hpp"

using namespace nb::literals;
using namespace dynmargin;

namespace {

using ClassTable = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void require_length(std::int64_t n_rows, const JointProblem& problem) {
  if (static_cast<std::int64_t>(problem.sides.size()) != n_rows)
    throw std::invalid_argument("the problem and the rows differ in length");
}

std::pair<std::uint64_t, std::uint64_t> digests(const std::vector<std::uint64_t>& rows, const JointProblem& problem) {
  const Digest found = digest_data(rows, problem.sides, problem.sample_weight);
  return {found.ordered, found.unordered};
}

void bind_joint_problem(nb::module_& m) {
  nb::class_<JointProblem>(m, "JointProblem", "The classes of the rows, from 1 up, and what slacks cost.")
      .def(
          "__init__",
          [](JointProblem* self, Vector<std::int32_t> sides, double rho, Vector<double> costs,
             std::optional<Vector<double>> weight) {
            if (weight && weight->shape(0) != sides.shape(0))
              throw std::invalid_argument("sample_weight and sides differ in length");
            JointProblem problem{copy_of(sides), rho, copy_of(costs),
                                 weight ? copy_of(*weight) : std::vector<double>{}};
            problem.require_valid();
            new (self) JointProblem(std::move(problem));
          },
          "sides"_a, "rho"_a, "costs"_a, "sample_weight"_a = nb::none())
      .def_prop_ro("hard_margin", &JointProblem::hard_margin)
      .def(
          "digest",
          [](const JointProblem& self, const PackedRows& rows) {
            require_length(rows.n_rows, self);
            nb::gil_scoped_release release;
            return digests(rows.digests, self);
          },
          "rows"_a)
      .def(
          "digest",
          [](const JointProblem& self, const Matrix& matrix) {
            require_length(n_rows(matrix.view), self);
            nb::gil_scoped_release release;
            return digests(std::visit([](const auto& view) { return digest_rows(view); }, matrix.view), self);
          },
          "matrix"_a, "Digests of rows, classes and weights: with and without the order of the rows.");
  m.def(
      "largest_norm",
      [](const PackedRows& rows, const JointProblem& problem) {
        require_length(rows.n_rows, problem);
        return largest_norm(rows, problem);
      },
      "rows"_a, "problem"_a, "R = max ‖z_kr‖.");
}

void bind_joint_trainer(nb::module_& m) {
  nb::class_<JointTrainer>(m, "JointTrainer", "A run of PDM for all classes at once, advanced in slices.")
      .def(
          "__init__",
          [](JointTrainer* self, std::shared_ptr<PackedRows> rows, std::shared_ptr<JointProblem> problem,
             DynamicMargin rule, const Schedule& schedule, std::uint64_t seed) {
            require_length(rows->n_rows, *problem);
            nb::gil_scoped_release release;
            new (self) JointTrainer(std::move(rows), std::move(problem), rule, schedule, seed);
          },
          "rows"_a, "problem"_a, "rule"_a, "schedule"_a, "seed"_a)
      .def("advance", &JointTrainer::advance, "seconds"_a, "max_updates"_a = largest_count,
           nb::call_guard<nb::gil_scoped_release>(), "Train for about that many seconds, or until something happens.")
      .def("check", &JointTrainer::check, nb::call_guard<nb::gil_scoped_release>(),
           "Bounds of the moment, in one pass over the rows.")
      .def("wait_for", &JointTrainer::wait_for, "upper_bound"_a, "Come back when the upper bound has fallen to this.")
      .def("set_rule", &JointTrainer::set_rule, "rule"_a)
      .def("record_updates", &JointTrainer::record_updates)
      .def_prop_ro("recorded_updates", &JointTrainer::recorded_updates)
      .def_prop_ro("updates", [](const JointTrainer& self) { return static_cast<std::int64_t>(self.updates()); })
      .def_prop_ro("full_passes", &JointTrainer::full_passes)
      .def_prop_ro("visits", &JointTrainer::visits)
      .def_prop_ro("upper_bound", &JointTrainer::upper_bound)
      .def_prop_ro("norm2", [](const JointTrainer& self) { return self.state().totals.norm2; })
      .def(
          "support", [](const JointTrainer& self) { return nonzeros(self.state().counts); },
          "The places row * n_classes + wrong class with a count, and their counts.")
      .def(
          "model",
          [](const JointTrainer& self) {
            const ClassWeights& w = self.lower_bound().w();
            const std::size_t K = w.n_classes, lines = w.values.size() / w.stride;
            auto* kept = new std::vector<double>(K * lines);
            for (std::size_t c = 0; c < K; ++c)
              for (std::size_t j = 0; j < lines; ++j) (*kept)[c * lines + j] = w.values[j * w.stride + c];
            nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
            return std::pair{nb::ndarray<nb::numpy, double, nb::ndim<2>>(kept->data(), {K, lines}, owner),
                             self.lower_bound().scale()};
          },
          "The best weights found at a check, a row a class, their augmented coordinate last, and the scale that is "
          "best for them.");
}

void bind_joint_certificate(nb::module_& m) {
  m.def(
      "margin_of_weights",
      [](const Matrix& matrix, const JointProblem& problem, ClassTable w, Vector<double> b) {
        require_length(n_rows(matrix.view), problem);
        const auto K = problem.costs.size();
        if (w.shape(0) != K || b.shape(0) != K || static_cast<std::int64_t>(w.shape(1)) != n_columns(matrix.view))
          throw std::invalid_argument("the weights are not one row a class and one number a feature");
        nb::gil_scoped_release release;
        const Bound bound = margin_of_weights(matrix.view, problem, {w.data(), w.size()}, span_of(b));
        return std::pair{bound.value, bound.error};
      },
      "matrix"_a, "problem"_a, "w"_a, "b"_a, "The joint margin that weights have, and how far rounding may be off.");
  m.def(
      "bound_of_counts",
      [](const Matrix& matrix, const JointProblem& problem, Vector<std::int64_t> places, Vector<std::int64_t> counts) {
        require_length(n_rows(matrix.view), problem);
        if (places.shape(0) != counts.shape(0)) throw std::invalid_argument("places and counts differ in length");
        nb::gil_scoped_release release;
        const Bound bound = bound_of_counts(matrix.view, problem, span_of(places), span_of(counts));
        return std::pair{bound.value, bound.error};
      },
      "matrix"_a, "problem"_a, "places"_a, "counts"_a,
      "The bound ‖A‖/t that counts prove, and how far rounding may have moved it.");
}

}  // namespace

void bind_joint(nb::module_& m) {
  bind_joint_problem(m);
  bind_joint_trainer(m);
  bind_joint_certificate(m);
}
