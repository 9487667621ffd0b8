// Bindings of the data: borrowed matrices, and rows packed for training.
#include <nanobind/stl/shared_ptr.h>

#include "arrays.hpp"
#include "dynmargin/data/digest.hpp"

using namespace nb::literals;
using namespace dynmargin;

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
        require(starts.shape(0) >= 1, "CSR matrix: indptr is empty");
        require(columns.shape(0) >= values.shape(0), "CSR matrix: fewer column indices than values");
        const CsrView<Value, Index> view{values.data(), columns.data(),
                                         starts.data(), static_cast<std::int64_t>(starts.shape(0)) - 1,
                                         n_columns,     static_cast<std::int64_t>(values.shape(0))};
        view.require_valid();
        return Matrix{view, {nb::cast(values), nb::cast(columns), nb::cast(starts)}};
      },
      "values"_a.noconvert(), "columns"_a.noconvert(), "starts"_a.noconvert(), "n_columns"_a,
      "Borrow the three arrays of a CSR matrix; read-only is fine, rows may be unsorted.");
}

}  // namespace

void bind_matrix(nb::module_& m) {
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

  m.def(
      "digest_words",
      [](Vector<std::uint64_t> words) {
        Digest digest;
        for (std::uint64_t word : span_of(words)) digest.append(mix64(word));
        return digest.ordered;
      },
      "words"_a);
}
