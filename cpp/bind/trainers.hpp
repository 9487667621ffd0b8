// The interface that every trainer has in Python.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arrays.hpp"
#include "dynmargin/order/snapshot.hpp"
#include "dynmargin/proof/witnesses.hpp"
#include "dynmargin/rules/totals.hpp"

// Makes a trainer, with the GIL released: it takes a pass over the rows.
template <class T, class Problem, class... Args>
void construct(T* self, std::shared_ptr<dynmargin::PackedRows> rows, std::shared_ptr<Problem> problem, Args... args) {
  require_rows(*rows, *problem);
  nb::gil_scoped_release release;
  new (self) T(std::move(rows), std::move(problem), args...);
}

// Whatever can be continued elsewhere gets `snapshot` and `restore`.
template <class T>
void bind_snapshots(nb::class_<T>& bound) {
  using namespace nb::literals;
  bound
      .def(
          "snapshot",
          [](T& self) {
            dynmargin::SnapshotWriter writer;
            {
              nb::gil_scoped_release release;
              self.snapshot(writer);
            }
            return to_numpy(writer.take());
          },
          "The state as bytes: whatever does not follow from the data and the parameters.")
      .def(
          "restore",
          [](T& self, Vector<std::uint8_t> bytes) {
            nb::gil_scoped_release release;
            std::vector<dynmargin::Member> members;
            if constexpr (requires { self.members(); }) members = self.members();
            dynmargin::SnapshotReader reader(span_of(bytes), members);
            self.snapshot(reader);
            reader.require_end();
          },
          "snapshot"_a, "Continue from a snapshot of a run with the same data and parameters.");
}

template <class T>
nb::class_<T> bind_trainer(nb::module_& m, const char* name, const char* doc) {
  using namespace nb::literals;
  using Released = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<T> bound(m, name, doc);
  bind_snapshots(bound);
  return bound
      .def(
          "advance", [](T& self, double seconds, double max_updates) { return self.advance(seconds, max_updates); },
          "seconds"_a, "max_updates"_a = dynmargin::largest_count, Released(),
          "Train for about that many seconds, or until something happens.")
      .def(
          "check", [](T& self) { return self.check(); }, Released(),
          "Give the current bounds, in one pass over the rows.")
      .def(
          "checked", [](T& self, double gap, std::optional<double> enough) { self.checked(gap, enough); }, "gap"_a,
          "enough"_a = nb::none(),
          "Report what a check has found: the gap that is left to close, and the upper bound that would be enough for "
          "the margin found so far, so that `advance` returns when that is reached.")
      .def(
          "renew", [](T& self) { self.renew(); }, Released(),
          "After a check: continue from the counts that the best weights imply, if that promises more.")
      .def(
          "support",
          [](const T& self) {
            dynmargin::Support found = self.support();
            nb::object weights =
                std::visit([](auto& values) { return nb::cast(to_numpy(std::move(values))); }, found.weights);
            return std::pair{to_numpy(std::move(found.places)), weights};
          },
          nb::sig("def support(self) -> tuple[NDArray[numpy.int64], NDArray[typing.Any]]"),
          "Rows with a count, and their counts; where weights are not whole numbers, all rows and their weights.")
      .def(
          "model",
          [](const T& self) {
            dynmargin::Model found = self.model();
            const std::size_t K = found.n_vectors, size = found.weights.size();
            nb::object w = K == 0 ? nb::cast(to_numpy(std::move(found.weights)))
                                  : nb::cast(to_numpy(std::move(found.weights), std::array{K, size / K}));
            return std::pair{w, found.scale};
          },
          nb::sig("def model(self) -> tuple[NDArray[numpy.float64], float]"),
          "The best weights found at a check, their augmented coordinate last, and the scale that is best for them.")
      .def("record_updates", [](T& self) { self.record_updates(); })
      .def_prop_ro("recorded_updates", [](const T& self) { return self.recorded_updates(); })
      .def_prop_ro("updates", [](const T& self) { return self.updates(); })
      .def_prop_ro("full_passes", [](const T& self) { return self.full_passes(); })
      .def_prop_ro("visits", [](const T& self) { return self.visits(); })
      .def_prop_ro(
          "upper_bound", [](const T& self) { return self.upper_bound(); },
          "The current one, before any proof; infinite where it is known at a check only.");
}
