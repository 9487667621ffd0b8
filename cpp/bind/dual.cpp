// Bindings of the dual algorithms.
#include "dynmargin/dual/decomposition.hpp"
#include "dynmargin/dual/dual_trainer.hpp"
#include "trainers.hpp"

using namespace nb::literals;
using namespace dynmargin;

void bind_dual(nb::module_& m) {
  nb::class_<CoordinateDescent>(m, "CoordinateDescent", "DCD's step.").def(nb::init<>());

  nb::class_<MarginUnlearning>(m, "MarginUnlearning", "MPU's step.")
      .def(
          "__init__",
          [](MarginUnlearning* self, double b, double db) {
            if (!(b >= 0 && db > 0 && std::isfinite(b + db))) throw std::invalid_argument("b and db must be positive");
            new (self) MarginUnlearning{b, db};
          },
          "b"_a, "db"_a)
      .def_prop_ro("target", &MarginUnlearning::target);

  const GainSchedule usual;
  nb::class_<GainSchedule>(m, "GainSchedule", "In which order patterns are visited: where a visit gains most.")
      .def(
          "__init__",
          [](GainSchedule* self, int depth, int most_rounds, double worthwhile, double above_mean, double near,
             double mix_after) {
            require(depth >= 0, "depth must not be negative");
            require(mix_after >= 0, "mix_after must not be negative");
            new (self) GainSchedule{depth, most_rounds, worthwhile, above_mean, near, mix_after};
          },
          nb::kw_only(), "depth"_a = usual.depth, "most_rounds"_a = usual.most_rounds,
          "worthwhile"_a = usual.worthwhile, "above_mean"_a = usual.above_mean, "near"_a = usual.near,
          "mix_after"_a = usual.mix_after)
      .def_ro("depth", &GainSchedule::depth)
      .def_ro("most_rounds", &GainSchedule::most_rounds)
      .def_ro("worthwhile", &GainSchedule::worthwhile)
      .def_ro("above_mean", &GainSchedule::above_mean)
      .def_ro("near", &GainSchedule::near)
      .def_ro("mix_after", &GainSchedule::mix_after);

  bind_trainer<DualTrainer>(m, "DualTrainer", "A run of a dual algorithm, advanced in slices.")
      .def("__init__", &construct<DualTrainer, Problem, DualStep, GainSchedule, double, double, bool, std::uint64_t>,
           "rows"_a, "problem"_a, "step"_a, "schedule"_a, "epsilon"_a, "tolerance"_a, "certify"_a, "seed"_a)
      .def("pause_at", &DualTrainer::pause_at, "visits"_a, "Let `advance` return after that many visits.")
      .def("visits_for", &DualTrainer::visits_for, "gap"_a,
           "How many more visits it will take to close this gap, as far as the run can tell; infinite if it cannot.")
      .def_prop_ro("target", &DualTrainer::target, "The score that every pattern with a weight should have.")
      .def(
          "weights", [](const DualTrainer& self) { return to_numpy(self.weights()); },
          "Those of the state, the augmented one last.")
      .def(
          "begin",
          [](DualTrainer& self, Vector<double> alpha, Vector<double> w) {
            nb::gil_scoped_release release;
            self.begin(span_of(alpha), span_of(w));
          },
          "alpha"_a, "w"_a,
          "Begin with these dual weights, one per row, and this w, its augmented coordinate last, to which rows "
          "elsewhere may have contributed.")
      .def("dual_weights", [](const DualTrainer& self) { return to_numpy(self.dual_weights()); }, "One per row.");

  bind_trainer<Decomposition>(m, "Decomposition", "A run of a decomposition SVM, advanced in slices.")
      .def(
          "__init__",
          [](Decomposition* self, std::shared_ptr<PackedRows> rows, std::shared_ptr<Problem> problem, double tolerance,
             double epsilon, std::uint64_t seed) {
            require(problem->free_bias, "decomposition needs a problem with a free bias");
            construct(self, std::move(rows), std::move(problem), tolerance, epsilon, seed);
          },
          "rows"_a, "problem"_a, "tolerance"_a, "epsilon"_a, "seed"_a)
      .def_prop_ro("n_active", &Decomposition::n_active)
      .def("dual_weights", [](const Decomposition& self) { return to_numpy(self.dual_weights()); }, "One per row.");
}
