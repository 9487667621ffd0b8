// The module: bindings and nothing else, arrays in, arrays out, the GIL released while the core works.
#include <nanobind/nanobind.h>

#include "dynmargin/order/run.hpp"
#include "dynmargin/proof/witnesses.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace dynmargin;

void bind_memory(nb::module_& m);
void bind_matrix(nb::module_& m);
void bind_problems(nb::module_& m);
void bind_perceptrons(nb::module_& m);
void bind_dual(nb::module_& m);
void bind_newton(nb::module_& m);
void bind_online(nb::module_& m);
void bind_text(nb::module_& m);
void bind_shards(nb::module_& m);

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of dynmargin.";
  nb::set_leak_warnings(false);  // a fitted classifier that lives as long as the interpreter is no leak

  nb::enum_<Event>(m, "Event", "Why a trainer's `advance` returned.")
      .value("slice_over", Event::slice_over)
      .value("budget_spent", Event::budget_spent)
      .value("check_due", Event::check_due)
      .value("bound_met", Event::bound_met)
      .value("converged", Event::converged)
      .value("max_updates", Event::max_updates)
      .value("infeasible", Event::infeasible)
      .value("exhausted", Event::exhausted);

  nb::class_<Bounds>(m, "Bounds", "What the current weights and counts are worth.")
      .def(nb::init<double, double, double>(), "margin"_a, "upper_bound"_a, "directional_margin"_a)
      .def_ro("margin", &Bounds::margin)
      .def_ro("upper_bound", &Bounds::upper_bound)
      .def_ro("directional_margin", &Bounds::directional_margin);

  bind_memory(m);
  bind_matrix(m);
  bind_problems(m);
  bind_perceptrons(m);
  bind_dual(m);
  bind_newton(m);
  bind_online(m);
  bind_text(m);
  bind_shards(m);
}
