// Bindings of the algorithms that rescale the weight vector.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "dynmargin/rescaling_trainer.hpp"

using namespace nb::literals;
using namespace dynmargin;

void bind_rescaling(nb::module_& m) {
  nb::class_<Romma>(m, "Romma", "ROMMA's rule; bound is 0, or 1 - delta for the aggressive variant.")
      .def(nb::init<double>(), "bound"_a);
  nb::class_<Alma>(m, "Alma", "ALMA's rule.").def(nb::init<double, double>(), "alpha"_a, "R"_a);
  nb::class_<MistakeControlled>(m, "MistakeControlled", "The rule of MICRA, and with zeta = 0 of CRAMMA.")
      .def(nb::init<double, double, double, double, double>(), "beta"_a, "power"_a, "eta"_a, "zeta"_a, "R"_a);

  nb::class_<RescalingTrainer>(m, "RescalingTrainer", "A run of a rule that rescales, advanced in slices.")
      .def(
          "__init__",
          [](RescalingTrainer* self, std::shared_ptr<PackedRows> rows, std::shared_ptr<Problem> problem,
             RescalingRule rule, const Schedule& schedule, std::uint64_t seed) {
            require_rows(*rows, *problem);
            new (self) RescalingTrainer(std::move(rows), std::move(problem), rule, schedule, seed);
          },
          "rows"_a, "problem"_a, "rule"_a, "schedule"_a, "seed"_a)
      .def("advance", &RescalingTrainer::advance, "seconds"_a, "max_updates"_a = largest_count,
           nb::call_guard<nb::gil_scoped_release>(), "Train for about that many seconds, or until something happens.")
      .def("check", &RescalingTrainer::check, nb::call_guard<nb::gil_scoped_release>(),
           "Bounds of the moment, in one pass over the rows.")
      .def("wait_for", &RescalingTrainer::wait_for, "upper_bound"_a,
           "Come back when the upper bound has fallen to this.")
      .def_prop_ro("upper_bound", &RescalingTrainer::upper_bound)
      .def("set_rule", &RescalingTrainer::set_rule, "rule"_a)
      .def("record_updates", &RescalingTrainer::record_updates)
      .def_prop_ro("recorded_updates", &RescalingTrainer::recorded_updates)
      .def_prop_ro("updates", &RescalingTrainer::updates)
      .def_prop_ro("full_passes", &RescalingTrainer::full_passes)
      .def_prop_ro("visits", &RescalingTrainer::visits)
      .def(
          "coefficients",
          [](const RescalingTrainer& self) {
            std::vector<double> coefficients;
            for (const auto& y : self.coefficients().patterns) coefficients.push_back(self.scale() * y.count);
            return to_numpy(std::move(coefficients));
          },
          "The coefficient of every pattern in the weight vector.")
      .def(
          "model",
          [](const RescalingTrainer& self) {
            const LowerBound& found = self.lower_bound();
            return std::pair{to_numpy(found.w()), found.scale()};
          },
          "The best weights found at a check, their augmented coordinate last, and the scale that is best for them.");
}
