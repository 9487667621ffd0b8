// Bindings of the algorithms that also take back.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "dynmargin/dual/decomposition.hpp"
#include "dynmargin/dual/dual_trainer.hpp"

using namespace nb::literals;
using namespace dynmargin;

void bind_dual(nb::module_& m) {
  nb::class_<CoordinateDescent>(m, "CoordinateDescent", "DCD's step.").def(nb::init<>());

  nb::class_<MarginUnlearning>(m, "MarginUnlearning", "MPU's step.")
      .def(
          "__init__", [](MarginUnlearning* self, double b, double db) { new (self) MarginUnlearning{b, db}; }, "b"_a,
          "db"_a)
      .def_prop_ro("target", &MarginUnlearning::target);

  nb::class_<GainSchedule>(m, "GainSchedule", "In which order patterns are visited: where a visit gains most.")
      .def(nb::init<>())
      .def(
          "__init__",
          [](GainSchedule* self, int depth, int most_rounds, double worthwhile, double above_mean, double near) {
            if (depth < 0) throw std::invalid_argument("depth must not be negative");
            new (self) GainSchedule{depth, most_rounds, worthwhile, above_mean, near};
          },
          "depth"_a, "most_rounds"_a, "worthwhile"_a, "above_mean"_a, "near"_a)
      .def_ro("depth", &GainSchedule::depth)
      .def_ro("most_rounds", &GainSchedule::most_rounds)
      .def_ro("worthwhile", &GainSchedule::worthwhile)
      .def_ro("above_mean", &GainSchedule::above_mean)
      .def_ro("near", &GainSchedule::near);

  nb::class_<DualTrainer>(m, "DualTrainer", "A run of an algorithm that also takes back, advanced in slices.")
      .def(
          "__init__",
          [](DualTrainer* self, std::shared_ptr<PackedRows> rows, std::shared_ptr<Problem> problem, DualStep step,
             const GainSchedule& schedule, double gap, double tolerance, std::uint64_t seed) {
            require_rows(*rows, *problem);
            nb::gil_scoped_release release;
            new (self) DualTrainer(std::move(rows), std::move(problem), step, schedule, gap, tolerance, seed);
          },
          "rows"_a, "problem"_a, "step"_a, "schedule"_a, "gap"_a, "tolerance"_a, "seed"_a)
      .def("advance", &DualTrainer::advance, "seconds"_a, "max_updates"_a = largest_count,
           nb::call_guard<nb::gil_scoped_release>(), "Train for about that many seconds, or until something happens.")
      .def("check", &DualTrainer::check, nb::call_guard<nb::gil_scoped_release>(),
           "Bounds of the moment, in one pass over the rows.")
      .def("refine", &DualTrainer::refine, "factor"_a, "Let MPU go on with a finer rule; False when it cannot.")
      .def_prop_ro("target", &DualTrainer::target, "The score that every pattern with a weight should have.")
      .def("record_updates", &DualTrainer::record_updates)
      .def_prop_ro("recorded_updates", &DualTrainer::recorded_updates)
      .def_prop_ro("updates", [](const DualTrainer& self) { return static_cast<std::int64_t>(self.updates()); })
      .def_prop_ro("full_passes", &DualTrainer::full_passes)
      .def_prop_ro("visits", &DualTrainer::visits)
      .def(
          "dual_weights",
          [](const DualTrainer& self) {
            std::vector<double> alpha;
            for (const DualPattern& y : self.state().patterns) alpha.push_back(y.alpha);
            return to_numpy(std::move(alpha));
          },
          "One a row.")
      .def(
          "model",
          [](const DualTrainer& self) { return std::pair{to_numpy(self.bounds().w()), self.bounds().scale()}; },
          "The best weights found at a check, their augmented coordinate last, and the scale that is best for them.");

  nb::class_<Decomposition>(m, "Decomposition", "A run of a decomposition SVM, advanced in slices.")
      .def(
          "__init__",
          [](Decomposition* self, std::shared_ptr<PackedRows> rows, std::shared_ptr<Problem> problem, double tolerance,
             std::uint64_t seed) {
            require_rows(*rows, *problem);
            if (!problem->free_bias) throw std::invalid_argument("decomposition needs a problem with a free bias");
            new (self) Decomposition(std::move(rows), std::move(problem), tolerance, seed);
          },
          "rows"_a, "problem"_a, "tolerance"_a, "seed"_a)
      .def("advance", &Decomposition::advance, "seconds"_a, "max_updates"_a = largest_count,
           nb::call_guard<nb::gil_scoped_release>(), "Train for about that many seconds, or until something happens.")
      .def("check", &Decomposition::check, nb::call_guard<nb::gil_scoped_release>(),
           "Bounds of the moment, in one pass over the rows.")
      .def_prop_ro("updates", &Decomposition::iterations)
      .def_prop_ro("full_passes", &Decomposition::full_passes)
      .def_prop_ro("visits", &Decomposition::visits)
      .def_prop_ro("n_active", &Decomposition::n_active)
      .def(
          "dual_weights", [](const Decomposition& self) { return to_numpy(self.dual_weights()); }, "One a row.")
      .def(
          "model", [](const Decomposition& self) { return std::pair{to_numpy(self.best_w()), self.best_scale()}; },
          "The best weights found at a check, their bias last, and the scale that is best for them.");
}
