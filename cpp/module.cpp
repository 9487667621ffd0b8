// Bindings, nothing else: arrays in, arrays out, the GIL released while the core works.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "dynmargin/certificate.hpp"
#include "dynmargin/digest.hpp"
#include "dynmargin/newton.hpp"
#include "dynmargin/trainer.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace dynmargin;

void bind_dual(nb::module_& m);
void bind_joint(nb::module_& m);
void bind_online(nb::module_& m);
void bind_rescaling(nb::module_& m);
void bind_text(nb::module_& m);

namespace {

template <class Value>
void bind_dense(nb::module_& m) {
  m.def(
      "dense",
      [](Table<Value> array) {
        const auto rows = static_cast<std::int64_t>(array.shape(0)),
                   columns = static_cast<std::int64_t>(array.shape(1));
        return Matrix{DenseView<Value>{array.data(), rows, columns, array.stride(0), array.stride(1)},
                      {nb::cast(array)}};
      },
      "array"_a.noconvert(), "Borrow a two-dimensional array; any strides, read-only is fine.");
}

template <class Value, class Index>
void bind_csr(nb::module_& m) {
  m.def(
      "csr",
      [](Vector<Value> values, Vector<Index> columns, Vector<Index> starts, std::int64_t n_columns) {
        if (starts.shape(0) < 1) throw std::invalid_argument("CSR matrix: indptr is empty");
        if (columns.shape(0) < values.shape(0))
          throw std::invalid_argument("CSR matrix: fewer column indices than values");
        const CsrView<Value, Index> view{values.data(), columns.data(),
                                         starts.data(), static_cast<std::int64_t>(starts.shape(0)) - 1,
                                         n_columns,     static_cast<std::int64_t>(values.shape(0))};
        view.require_valid();
        return Matrix{view, {nb::cast(values), nb::cast(columns), nb::cast(starts)}};
      },
      "values"_a.noconvert(), "columns"_a.noconvert(), "starts"_a.noconvert(), "n_columns"_a,
      "Borrow the three arrays of a CSR matrix; read-only is fine, rows may be unsorted.");
}

void require_length(const PackedRows& rows, std::size_t length) {
  if (length != static_cast<std::size_t>(rows.n_columns) + 1)
    throw std::invalid_argument("a vector needs n_columns + 1 coordinates");
}

std::pair<std::uint64_t, std::uint64_t> digests(const std::vector<std::uint64_t>& row_digests, const Problem& problem) {
  const Digest found = digest_data(row_digests, problem.sides, problem.sample_weight);
  return {found.ordered, found.unordered};
}

void bind_data(nb::module_& m) {
  nb::class_<Matrix>(m, "Matrix", "A borrowed matrix.")
      .def_prop_ro("n_rows", [](const Matrix& self) { return n_rows(self.view); })
      .def_prop_ro("n_columns", [](const Matrix& self) { return n_columns(self.view); });
  bind_dense<float>(m);
  bind_dense<double>(m);
  bind_csr<float, std::int32_t>(m);
  bind_csr<float, std::int64_t>(m);
  bind_csr<double, std::int32_t>(m);
  bind_csr<double, std::int64_t>(m);

  nb::class_<PackedRows>(m, "PackedRows", "The rows, packed for training; shared by all classes.")
      .def_ro("n_rows", &PackedRows::n_rows)
      .def_ro("n_columns", &PackedRows::n_columns)
      .def_ro("n_nonzeros", &PackedRows::n_nonzeros)
      .def_prop_ro("nbytes", [](const PackedRows& self) {
        return std::visit([](const auto& rows) { return rows.bytes(); }, self.rows) +
               (self.squared_norms.capacity() + self.digests.capacity()) * sizeof(double);
      });
  m.def(
      "pack",
      [](const Matrix& matrix) {
        nb::gil_scoped_release release;
        return std::make_shared<PackedRows>(pack(matrix.view));
      },
      "matrix"_a, "Pack the rows of a matrix: the only copy of the data that is made.");

  nb::class_<Problem>(m, "Problem", "Sides and slack costs of a two-class problem.")
      .def(
          "__init__",
          [](Problem* self, Vector<std::int8_t> sides, double rho, double C_negative, double C_positive,
             std::optional<Vector<double>> weight, bool hinge, bool free_bias) {
            if (weight && weight->shape(0) != sides.shape(0))
              throw std::invalid_argument("sample_weight and sides differ in length");
            Problem problem{copy_of(sides),
                            rho,
                            C_negative,
                            C_positive,
                            weight ? copy_of(*weight) : std::vector<double>{},
                            hinge ? Loss::hinge : Loss::squared_hinge,
                            free_bias};
            problem.require_valid();
            new (self) Problem(std::move(problem));
          },
          "sides"_a, "rho"_a, "C_negative"_a, "C_positive"_a, "sample_weight"_a = nb::none(), "hinge"_a = false,
          "free_bias"_a = false)
      .def_prop_ro("hard_margin", &Problem::hard_margin)
      .def(
          "digest",
          [](const Problem& self, const PackedRows& rows) {
            require_rows(rows, self);
            nb::gil_scoped_release release;
            return digests(rows.digests, self);
          },
          "rows"_a)
      .def(
          "digest",
          [](const Problem& self, const Matrix& matrix) {
            require_rows(matrix, self);
            nb::gil_scoped_release release;
            return digests(std::visit([](const auto& view) { return digest_rows(view); }, matrix.view), self);
          },
          "matrix"_a, "Digests of rows, sides and weights: with and without the order of the rows.");
  m.def(
      "largest_norm",
      [](const PackedRows& rows, const Problem& problem) {
        require_rows(rows, problem);
        return largest_norm(rows, problem);
      },
      "rows"_a, "problem"_a, "R = max ‖y_k‖.");
  m.def(
      "stiffness",
      [](const PackedRows& rows, const Problem& problem) {
        require_rows(rows, problem);
        return stiffness(rows, problem);
      },
      "rows"_a, "problem"_a, "The mean of ‖ybar_k‖² / Delta_k².");
  m.def(
      "digest_words",
      [](Vector<std::uint64_t> words) {
        Digest digest;
        for (std::uint64_t word : span_of(words)) digest.append(mix64(word));
        return digest.ordered;
      },
      "words"_a);
}

void bind_training(nb::module_& m) {
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

  nb::class_<Schedule>(m, "Schedule", "The order of presentation.")
      .def(
          "__init__",
          [](Schedule* self, std::array<int, 3> rounds, std::array<double, 2> widths, double first_width, bool single,
             bool shuffle, bool balanced, double inner_passes, bool mixing) {
            new (self) Schedule{rounds, widths, first_width, single, shuffle, balanced, inner_passes, mixing};
          },
          "rounds"_a, "widths"_a, "first_width"_a, "single_updates_first"_a, "shuffle_active_sets"_a, "balanced"_a,
          "inner_passes"_a, "mixing"_a);

  nb::enum_<Event>(m, "Event")
      .value("slice_over", Event::slice_over)
      .value("full_pass", Event::full_pass)
      .value("bound_met", Event::bound_met)
      .value("converged", Event::converged)
      .value("max_updates", Event::max_updates)
      .value("infeasible", Event::infeasible)
      .value("exhausted", Event::exhausted);

  nb::class_<Bounds>(m, "Bounds", "What the weights and counts of the moment are worth.")
      .def_ro("margin", &Bounds::margin)
      .def_ro("upper_bound", &Bounds::upper_bound)
      .def_ro("directional_margin", &Bounds::directional_margin);

  nb::class_<Trainer>(m, "Trainer", "A run of a rule over packed rows, advanced in slices.")
      .def(
          "__init__",
          [](Trainer* self, std::shared_ptr<PackedRows> rows, std::shared_ptr<Problem> problem, Rule rule,
             const Schedule& schedule, std::uint64_t seed) {
            require_rows(*rows, *problem);
            nb::gil_scoped_release release;
            new (self) Trainer(std::move(rows), std::move(problem), rule, schedule, seed);
          },
          "rows"_a, "problem"_a, "rule"_a, "schedule"_a, "seed"_a)
      .def(
          "start_from",
          [](Trainer& self, Vector<std::int64_t> rows, Vector<std::int64_t> counts) {
            if (rows.shape(0) != counts.shape(0)) throw std::invalid_argument("rows and counts differ in length");
            nb::gil_scoped_release release;
            self.start_from(span_of(rows), span_of(counts));
          },
          "rows"_a, "counts"_a, "Begin with counts that are known from before.")
      .def("advance", &Trainer::advance, "seconds"_a, "max_updates"_a = largest_count,
           nb::call_guard<nb::gil_scoped_release>(), "Train for about that many seconds, or until something happens.")
      .def("check", &Trainer::check, nb::call_guard<nb::gil_scoped_release>(),
           "Bounds of the moment, in one pass over the rows.")
      .def_prop_ro("renews", &Trainer::renews, "Whether `renew` may do something.")
      .def_prop_ro("extension", &Trainer::extension, "How much of the squared length of a is in the extension.")
      .def("renew", &Trainer::renew, nb::call_guard<nb::gil_scoped_release>(),
           "After a check: go on from the counts that the best weights call for, if that promises more.")
      .def("wait_for", &Trainer::wait_for, "upper_bound"_a, "Come back when the upper bound has fallen to this.")
      .def("set_rule", &Trainer::set_rule, "rule"_a)
      .def("record_updates", &Trainer::record_updates)
      .def_prop_ro("recorded_updates", &Trainer::recorded_updates)
      .def_prop_ro("updates", [](const Trainer& self) { return static_cast<std::int64_t>(self.updates()); })
      .def_prop_ro("full_passes", &Trainer::full_passes)
      .def_prop_ro("visits", &Trainer::visits)
      .def_prop_ro("upper_bound", &Trainer::upper_bound)
      .def_prop_ro("norm2", [](const Trainer& self) { return self.state().totals.norm2; })
      .def(
          "support", [](const Trainer& self) { return nonzeros(self.best_counts()); },
          "Rows with a count, and their counts.")
      .def(
          "model",
          [](const Trainer& self) {
            const LowerBound& found = self.lower_bound();
            return std::pair{to_numpy(found.w()), found.scale()};
          },
          "The best weights found at a check, their augmented coordinate last, and the scale that is best for them.");
}

void bind_certificate(nb::module_& m) {
  m.def(
      "margin_of_weights",
      [](const Matrix& matrix, const Problem& problem, Vector<double> w, double b) {
        require_rows(matrix, problem);
        if (static_cast<std::int64_t>(w.shape(0)) != n_columns(matrix.view))
          throw std::invalid_argument("the weights and the matrix differ in length");
        nb::gil_scoped_release release;
        const Bound bound = margin_of_weights(matrix.view, problem, span_of(w), b);
        return std::pair{bound.value, bound.error};
      },
      "matrix"_a, "problem"_a, "w"_a, "b"_a, "The margin that weights have, and how far rounding may have moved it.");
  m.def(
      "bound_of_counts",
      [](const Matrix& matrix, const Problem& problem, Vector<std::int64_t> rows, Vector<std::int64_t> counts) {
        require_rows(matrix, problem);
        if (rows.shape(0) != counts.shape(0)) throw std::invalid_argument("rows and counts differ in length");
        nb::gil_scoped_release release;
        const Bound bound = bound_of_counts(matrix.view, problem, span_of(rows), span_of(counts));
        return std::pair{bound.value, bound.error};
      },
      "matrix"_a, "problem"_a, "rows"_a, "counts"_a,
      "The bound ‖a‖/t that counts prove, and how far rounding may have moved it.");
}

void bind_newton(nb::module_& m) {
  nb::class_<Newton>(m, "Newton",
                     "LinearSVC's objective at a point that moves, and the passes that Newton's method needs.")
      .def(
          "__init__",
          [](Newton* self, std::shared_ptr<PackedRows> rows, std::shared_ptr<Problem> problem,
             Vector<std::uint32_t> members, Vector<double> w, double scale) {
            require_rows(*rows, *problem);
            require_length(*rows, w.shape(0));
            for (std::uint32_t k : span_of(members))
              if (k >= rows->n_rows) throw std::invalid_argument("a member is no row");
            nb::gil_scoped_release release;
            new (self) Newton(std::move(rows), std::move(problem), copy_of(members), copy_of(w), scale);
          },
          "rows"_a, "problem"_a, "members"_a, "w"_a, "scale"_a = 1.0)
      .def("w", [](const Newton& self) { return to_numpy(self.w()); })
      .def(
          "dual_weights", [](const Newton& self) { return to_numpy(self.dual_weights()); }, "One a member.")
      .def_prop_ro("margin", &Newton::margin)
      .def_prop_ro("upper_bound", &Newton::upper_bound)
      .def("step", &Newton::step, nb::call_guard<nb::gil_scoped_release>(),
           "Go to the lowest point along Newton's direction.");
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of dynmargin.";
  nb::set_leak_warnings(false);  // a fitted classifier that lives as long as the interpreter is no leak
  bind_data(m);
  bind_training(m);
  bind_certificate(m);
  bind_newton(m);
  bind_dual(m);
  bind_joint(m);
  bind_online(m);
  bind_rescaling(m);
  bind_text(m);
}
