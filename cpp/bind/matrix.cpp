// Bindings of the data: borrowed matrices, and rows packed for training.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "dynmargin/data/block_memory.hpp"
#include "dynmargin/data/digest.hpp"
#include "dynmargin/data/packing.hpp"
#include "dynmargin/data/stored_rows.hpp"
#include "patience.hpp"

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

// Counts are digested as doubles, which hold them exactly, but not copied for it.
template <class Value>
void bind_digest_nonzeros(nb::module_& m) {
  m.def(
      "digest_nonzeros",
      [](Vector<Value> values, std::optional<Vector<std::int64_t>> places) {
        require(!places || places->shape(0) == values.shape(0), "values and places differ in number");
        RowDigest digest;
        std::size_t length = 0;
        for (std::size_t j = 0; j < values.shape(0); ++j) {
          if (values(j) == 0) continue;
          digest.append({places ? (*places)(j) : static_cast<std::int64_t>(j), static_cast<double>(values(j))});
          ++length;
        }
        return digest.of_length(length);
      },
      "values"_a.noconvert(), "places"_a = nb::none(),
      "A digest of the numbers that are not zero and of their places, in any order; without places, where they stand.");
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
      .def_ro("n_columns", &PackedRows::n_columns, "Those that are packed.")
      .def_ro("n_matrix_columns", &PackedRows::n_matrix_columns, "All of the matrix.")
      .def_prop_ro(
          "dense",
          [](const PackedRows& self) {
            return std::holds_alternative<DenseRows<float>>(self.rows) ||
                   std::holds_alternative<DenseRows<double>>(self.rows);
          },
          "Whether zeros are packed too.")
      .def_ro("summed", &PackedRows::summed, "Whether a row had repetitions, whose sums may be rounded.")
      .def_prop_ro(
          "columns",
          [](const PackedRows& self) -> std::optional<NumpyArray<std::uint32_t>> {
            if (self.columns.empty() && self.n_columns > 0) return std::nullopt;
            return to_numpy(std::vector(self.columns));
          },
          nb::rv_policy::move,
          "The columns of the matrix that are packed, in the order in which they are; None if all are, as they stand.")
      .def_ro("n_nonzeros", &PackedRows::n_nonzeros)
      .def_prop_ro("nbytes", [](const PackedRows& self) {
        return std::visit([](const auto& rows) { return rows.bytes(); }, self.rows) +
               (self.squared_norms.capacity() + self.digests.capacity()) * sizeof(double);
      });
  m.def(
      "pack",
      [](const Matrix& matrix, unsigned n_threads, double seconds, double least) {
        return patiently(seconds, least, [&](Patience& patience) {
          return std::make_shared<PackedRows>(pack(matrix.view, n_threads, patience));
        });
      },
      "matrix"_a, "n_threads"_a = 1, "seconds"_a = std::numeric_limits<double>::infinity(), "least"_a = 0.0,
      "Pack the rows of a matrix: the only copy of the data that is made. TimeoutError if it takes longer than that, "
      "and at least so many seconds of processor time.");

  m.def(
      "store_rows",
      [](const PackedRows& rows) {
        std::vector<std::byte> bytes;
        {
          nb::gil_scoped_release release;
          bytes = store_rows(rows);
        }
        auto* kept = new std::vector<std::byte>(std::move(bytes));
        nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<std::byte>*>(p); });
        return NumpyArray<std::uint8_t>(reinterpret_cast<std::uint8_t*>(kept->data()), {kept->size()}, owner);
      },
      "rows"_a, "The rows as bytes.");
  m.def(
      "load_rows",
      [](Vector<std::uint8_t> bytes, std::int64_t n_columns, bool trust_digests, bool copy) {
        const auto give_back = [](const Vector<std::uint8_t>* kept) {
          nb::gil_scoped_acquire acquire;
          delete kept;
        };
        const Owner owner = copy ? nullptr : Owner(new Vector<std::uint8_t>(bytes), give_back);
        nb::gil_scoped_release release;
        return std::make_shared<PackedRows>(load_rows(std::as_bytes(span_of(bytes)), n_columns, trust_digests, owner));
      },
      "bytes"_a, "n_columns"_a, "trust_digests"_a = true, "copy"_a = true,
      "Rows from the bytes of `store_rows`, of a matrix with that many columns; they must be memory that nobody else "
      "writes to, as long as the rows exist if there is no copy. Digests that are not trusted are computed anew.");

  nb::class_<BlockMemory>(m, "BlockMemory", "Memory for blocks that are read one after the other.")
      .def(nb::init<>())
      .def(
          "take",
          [](BlockMemory& self, std::size_t nbytes) {
            auto* kept = new std::shared_ptr<std::byte[]>(self.take(nbytes));
            nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::shared_ptr<std::byte[]>*>(p); });
            return NumpyArray<std::uint8_t>(reinterpret_cast<std::uint8_t*>(kept->get()), {nbytes}, owner);
          },
          "nbytes"_a, "Bytes for a block; they come back when nobody refers to them any more.");

  bind_digest_nonzeros<double>(m);
  bind_digest_nonzeros<std::int64_t>(m);

  m.def(
      "digest_words",
      [](const std::vector<Vector<std::uint64_t>>& parts) {
        Digest digest;
        for (const auto& words : parts)
          for (const std::uint64_t word : span_of(words)) digest.append(mix64(word));
        return digest.ordered;
      },
      "parts"_a, nb::sig("def digest_words(parts: collections.abc.Sequence[NDArray[numpy.uint64]]) -> int"),
      "A digest of the words of all parts, one after the other.");
}
