// Bindings of the perceptrons: rules, order of presentation, runs.
#include <nanobind/stl/array.h>

#include "dynmargin/joint/joint_trainer.hpp"
#include "dynmargin/perceptron/rescaling_trainer.hpp"
#include "dynmargin/perceptron/trainer.hpp"
#include "trainers.hpp"

using namespace nb::literals;
using namespace dynmargin;

namespace {

void bind_rules(nb::module_& m) {
  nb::class_<DynamicMargin>(m, "DynamicMargin", "PDM's rule.").def(nb::init<double>(), "eps"_a);
  nb::class_<FixedMargin>(m, "FixedMargin", "PFM's rule.").def(nb::init<double>(), "beta"_a);
  nb::class_<ConstantThreshold>(m, "ConstantThreshold", "The rule of the perceptron, and with b > 0 with margin.")
      .def(nb::init<double>(), "b"_a);
  nb::class_<MargitronUpdates>(m, "MargitronUpdates", "The margitron's rule, the threshold a power of t.")
      .def(nb::init<double, double>(), "b"_a, "power"_a)
      .def_ro("b", &MargitronUpdates::b)
      .def_ro("power", &MargitronUpdates::power);
  nb::class_<MargitronNorm>(m, "MargitronNorm", "The margitron's rule, the threshold a power of ‖a‖.")
      .def(nb::init<double, double>(), "b"_a, "power"_a)
      .def_ro("b", &MargitronNorm::b)
      .def_ro("power", &MargitronNorm::power);
  nb::class_<Romma>(m, "Romma", "ROMMA's rule; bound is 0, or 1 - delta for the aggressive variant.")
      .def(nb::init<double>(), "bound"_a);
  nb::class_<Alma>(m, "Alma", "ALMA's rule.").def(nb::init<double, double>(), "alpha"_a, "R"_a);
  nb::class_<MistakeControlled>(m, "MistakeControlled", "The rule of MICRA, and with zeta = 0 of CRAMMA.")
      .def(nb::init<double, double, double, double, double>(), "beta"_a, "power"_a, "eta"_a, "zeta"_a, "R"_a);
}

}  // namespace

void bind_perceptrons(nb::module_& m) {
  bind_rules(m);

  nb::class_<Schedule>(m, "Schedule", "The order of presentation.")
      .def(
          "__init__",
          [](Schedule* self, std::array<int, 3> rounds, std::array<double, 2> widths, double first_width, bool multiple,
             bool single, bool shuffle_first, bool shuffle, bool balanced, double inner_passes, bool taking_back,
             bool mixing, bool renewal, bool polish) {
            for (const int n : rounds)
              if (n < 0) throw std::invalid_argument("rounds must not be negative");
            for (const double number : {widths[0], widths[1], first_width, inner_passes})
              if (!(number > 0)) throw std::invalid_argument("widths and inner_passes must be positive");
            new (self) Schedule{rounds,   widths,       first_width, multiple, single,  shuffle_first, shuffle,
                                balanced, inner_passes, taking_back, mixing,   renewal, polish};
          },
          "rounds"_a, "widths"_a, "first_width"_a, "multiple_updates"_a, "single_updates_first"_a, "shuffle_first"_a,
          "shuffle_active_sets"_a, "balanced"_a, "inner_passes"_a, "taking_back"_a, "mixing"_a, "renewal"_a,
          "polish"_a);

  bind_trainer<Trainer>(m, "Trainer", "A run of a rule over packed rows, advanced in slices.")
      .def("__init__", &construct<Trainer, Problem, Rule, Schedule, double, std::uint64_t>, "rows"_a, "problem"_a,
           "rule"_a, "schedule"_a, "epsilon"_a, "seed"_a)
      .def(
          "start_from",
          [](Trainer& self, Vector<std::int64_t> rows, Vector<std::int64_t> counts) {
            require(rows.shape(0) == counts.shape(0), "rows and counts differ in length");
            nb::gil_scoped_release release;
            self.start_from(span_of(rows), span_of(counts));
          },
          "rows"_a, "counts"_a, "Begin with counts that are known from before.")
      .def("pause_at", &Trainer::pause_at, "visits"_a, "Let `advance` return after that many visits.")
      .def("set_rule", &Trainer::set_rule, "rule"_a)
      .def_prop_ro("renews", &Trainer::renews, "Whether `renew` may do something.")
      .def_prop_ro("polishing", &Trainer::polishing, "Whether Newton's steps for the best weights are under way.")
      .def_prop_ro("polish_work", &Trainer::polish_work, "Of all of these steps so far, in multiplications.")
      .def_prop_ro("norm2", &Trainer::norm2);

  bind_trainer<JointTrainer>(m, "JointTrainer", "A run of PDM for all classes at once, advanced in slices.")
      .def("__init__", &construct<JointTrainer, JointProblem, DynamicMargin, Schedule, double, std::uint64_t>, "rows"_a,
           "problem"_a, "rule"_a, "schedule"_a, "epsilon"_a, "seed"_a)
      .def("set_rule", &JointTrainer::set_rule, "rule"_a)
      .def_prop_ro("norm2", &JointTrainer::norm2);

  bind_trainer<RescalingTrainer>(m, "RescalingTrainer", "A run of a rule that rescales, advanced in slices.")
      .def("__init__", &construct<RescalingTrainer, Problem, RescalingRule, Schedule, double, std::uint64_t>, "rows"_a,
           "problem"_a, "rule"_a, "schedule"_a, "epsilon"_a, "seed"_a)
      .def("set_rule", &RescalingTrainer::set_rule, "rule"_a);
}
