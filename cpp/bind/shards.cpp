// Bindings of what one shard of the rows can compute for a problem over all of them.
#include "dynmargin/proof/shards.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <numeric>

#include "arrays.hpp"
#include "dynmargin/data/row_pool.hpp"
#include "dynmargin/solve/cholesky.hpp"

using namespace nb::literals;
using namespace dynmargin;

namespace {

using Square = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The numbers of a shard as they travel: reals, whole numbers, a vector with one coordinate per column, and what
// rounding has left of it, if that is known.
nb::tuple as_tuple(ShardSums&& sums) {
  std::vector<double> reals{static_cast<double>(sums.finite),
                            sums.loss,
                            sums.loss_error,
                            sums.counted,
                            sums.counted_error,
                            sums.smallest,
                            sums.low,
                            sums.extended,
                            sums.extended_error,
                            sums.cancelled,
                            sums.largest_scale};
  return nb::make_tuple(to_numpy(std::move(reals)), to_numpy(std::vector<std::int64_t>{sums.t, sums.bias}),
                        to_numpy(std::move(sums.a)), to_numpy(std::move(sums.rest)));
}

template <class Data>
nb::tuple shard_sums(const Problem& problem, const Data& data, std::int64_t n_columns, const Vector<double>& w,
                     double b, const Vector<std::int64_t>& places, const Vector<std::int64_t>& counts, bool careful) {
  require(static_cast<std::int64_t>(w.shape(0)) == n_columns, "the weights and the columns differ in number");
  require(places.shape(0) == counts.shape(0), "places and counts differ in length");
  const auto own_places = copy_of(places), own_counts = copy_of(counts);  // another thread may change theirs
  const auto own_w = copy_of(w);
  const auto found = [&] {
    nb::gil_scoped_release release;
    return sums_of_shard(data, problem, own_w, b, own_places, own_counts, careful);
  };
  return as_tuple(found());
}

// Rows as the three arrays of a CSR matrix, by the columns of the matrix that they came from.
template <class Value>
nb::tuple csr_of(const PackedRows& packed, const std::vector<std::int64_t>& places) {
  std::vector<Value> values;
  std::vector<std::int64_t> columns, starts{0};
  {
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& rows) {
          // At once, because a vector that grows takes three times the memory for a moment.
          std::size_t most = 0;
          for (const std::int64_t k : places) most += rows.row(rows.start(k)).length;
          values.reserve(most);
          columns.reserve(most);
          starts.reserve(places.size() + 1);
          for (const std::int64_t k : places) {
            rows.for_each(rows.start(k), [&](auto column, double value) {
              if (value == 0) return;
              values.push_back(static_cast<Value>(value));
              columns.push_back(packed.columns.empty() ? column : packed.columns[column]);
            });
            starts.push_back(std::ssize(values));
          }
        },
        packed.rows);
  }
  return nb::make_tuple(to_numpy(std::move(values)), to_numpy(std::move(columns)), to_numpy(std::move(starts)));
}

}  // namespace

void bind_shards(nb::module_& m) {
  const nb::sig sig_of_sums(
      "def shard_sums(problem: Problem, data: Matrix | PackedRows, w: NDArray[numpy.float64], b: float, "
      "places: NDArray[numpy.int64], counts: NDArray[numpy.int64], careful: bool) -> tuple[NDArray[numpy.float64], "
      "NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64]]");
  m.def(
      "shard_sums",
      [](const Problem& problem, const PackedRows& rows, Vector<double> w, double b, Vector<std::int64_t> places,
         Vector<std::int64_t> counts, bool careful) {
        require_rows(rows, problem);
        return shard_sums(problem, rows, rows.n_columns, w, b, places, counts, careful);
      },
      "problem"_a, "data"_a, "w"_a, "b"_a, "places"_a, "counts"_a, "careful"_a);
  m.def(
      "shard_sums",
      [](const Problem& problem, const Matrix& matrix, Vector<double> w, double b, Vector<std::int64_t> places,
         Vector<std::int64_t> counts, bool careful) {
        require_rows(matrix, problem);
        return shard_sums(problem, matrix.view, n_columns(matrix.view), w, b, places, counts, careful);
      },
      "problem"_a, "data"_a, "w"_a, "b"_a, "places"_a, "counts"_a, "careful"_a, sig_of_sums,
      "What the rows of a shard contribute to the proof of weights and counts.");
  m.def(
      "prove_sums",
      [](const Problem& problem, Vector<double> w, double b, Vector<double> reals, Vector<std::int64_t> whole,
         Vector<double> a, int errors) {
        require(reals.shape(0) == 11 && whole.shape(0) == 2, "the sums of shards are not complete");
        require(w.shape(0) == a.shape(0), "the weights and the columns differ in number");
        const double* r = reals.data();
        ShardSums sums{r[0] == 1,       r[1], r[2], r[3], r[4],  r[5],       r[6], whole.data()[0],
                       whole.data()[1], r[7], r[8], r[9], r[10], copy_of(a), {}};
        const auto own_w = copy_of(w);
        Proof proof = proof_of_sums(problem, own_w, b, std::move(sums));
        const double radius = proof.ball.radius(errors);
        return nb::make_tuple(std::pair{proof.margin.value, proof.margin.error},
                              std::pair{proof.upper_bound.value, proof.upper_bound.error},
                              to_numpy(std::move(proof.ball.centre)), to_numpy(std::move(proof.ball.intercept)),
                              radius);
      },
      "problem"_a, "w"_a, "b"_a, "reals"_a, "whole"_a, "a"_a, "errors"_a,
      nb::sig("def prove_sums(problem: Problem, w: NDArray[numpy.float64], b: float, reals: NDArray[numpy.float64], "
              "whole: NDArray[numpy.int64], a: NDArray[numpy.float64], errors: int) -> tuple[tuple[float, float], "
              "tuple[float, float], NDArray[numpy.float64], NDArray[numpy.float64], float]"),
      "What the sums of all shards prove: both bounds with their errors, and the ball, that many errors outward.");
  m.def(
      "append_digest",
      [](const Problem& problem, const PackedRows& rows, std::uint64_t ordered, std::uint64_t unordered) {
        require_rows(rows, problem);
        nb::gil_scoped_release release;
        const Digest found = digest_data(rows.digests, problem.sides, problem.sample_weight, {ordered, unordered});
        return std::pair{found.ordered, found.unordered};
      },
      "problem"_a, "rows"_a, "ordered"_a, "unordered"_a, "The digest of rows that follow others.");
  m.def(
      "unpack",
      [](const PackedRows& rows, std::optional<Vector<std::int64_t>> places) {
        std::vector<std::int64_t> own_places(static_cast<std::size_t>(places ? 0 : rows.n_rows));
        std::iota(own_places.begin(), own_places.end(), std::int64_t{0});
        if (places) own_places = copy_of(*places);
        for (const std::int64_t k : own_places) require(k >= 0 && k < rows.n_rows, "there is no such row");
        const bool doubles = std::visit(
            [](const auto& packed) { return std::is_same_v<typename std::decay_t<decltype(packed)>::Stored, double>; },
            rows.rows);
        return doubles ? csr_of<double>(rows, own_places) : csr_of<float>(rows, own_places);
      },
      "rows"_a, "places"_a = nb::none(),
      nb::sig("def unpack(rows: PackedRows, places: NDArray[numpy.int64] | None = None) -> "
              "tuple[NDArray[typing.Any], NDArray[numpy.int64], NDArray[numpy.int64]]"),
      "The values, columns and starts of a CSR matrix that packs to the same rows, all or some of them.");
  nb::enum_<RowPool::Layout>(m, "PoolLayout", "How the rows of a pool are packed.")
      .value("ones", RowPool::Layout::ones)
      .value("sparse", RowPool::Layout::sparse)
      .value("dense", RowPool::Layout::dense);
  nb::class_<RowPool>(m, "RowPool", "Some rows of every block, copied into one place, their values as float32.")
      .def(nb::init<RowPool::Layout, std::int64_t, std::int64_t, std::int64_t>(), "layout"_a, "n_columns"_a,
           "most_rows"_a, "most_entries"_a)
      .def(
          "take",
          [](RowPool& self, const PackedRows& rows, Vector<double> gain, double share) {
            const auto chosen = [&] {
              nb::gil_scoped_release release;
              return self.take(rows, span_of(gain), share);
            };
            return to_numpy(chosen());
          },
          "rows"_a, "gain"_a, "share"_a,
          "Copy the rows of a block that have gained most, a share of its rows and of their entries at most; return "
          "which.")
      .def("release", &RowPool::release, "The rows, which leave the pool.");
  m.def("pool_entry_bytes", &RowPool::entry_bytes, "layout"_a, "n_columns"_a,
        "The bytes of an entry in a pool; the entries of a dense row are all its cells.");
  m.def(
      "common_pool_layout", [](Vector<std::uint64_t> layouts) { return RowPool::common(span_of(layouts)); },
      "layouts"_a, "The layout of a pool that can hold rows of all these layouts, as blocks of stored rows begin.");
  m.def(
      "solve_positive_definite",
      [](Square A, Vector<double> b) -> std::optional<NumpyArray<double>> {
        require(A.shape(0) == A.shape(1) && A.shape(0) == b.shape(0), "the system is not square");
        std::vector<double> factor(A.data(), A.data() + A.size()), x = copy_of(b);
        {
          nb::gil_scoped_release release;
          if (!solve_positive_definite(factor, x)) x.clear();
        }
        if (x.empty()) return std::nullopt;
        return to_numpy(std::move(x));
      },
      "A"_a, "b"_a, nb::rv_policy::move,
      "The solution of A x = b from the upper triangle of A; None if A is not positive definite.");
}
