// Arrays in, arrays out: what all bindings share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "dynmargin/data/packed_rows.hpp"

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T, std::size_t N = 1>
using NumpyArray = nb::ndarray<nb::numpy, T, nb::ndim<N>>;

// A view together with the arrays it borrows.
struct Matrix {
  dynmargin::MatrixView view;
  std::vector<nb::object> owners;
};

template <class T>
std::span<const T> span_of(const Vector<T>& array) {
  return {array.data(), array.shape(0)};
}

template <class T>
std::vector<T> copy_of(const Vector<T>& array) {
  return {array.data(), array.data() + array.shape(0)};
}

template <class T, std::size_t N>
NumpyArray<T, N> to_numpy(std::vector<T> values, const std::array<std::size_t, N>& shape) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return NumpyArray<T, N>(kept->data(), N, shape.data(), owner);
}

template <class T>
NumpyArray<T> to_numpy(std::vector<T> values) {
  const std::array<std::size_t, 1> shape{values.size()};
  return to_numpy(std::move(values), shape);
}

inline std::int64_t row_count(const dynmargin::PackedRows& rows) { return rows.n_rows; }
inline std::int64_t row_count(const Matrix& matrix) { return n_rows(matrix.view); }

template <class Rows, class Problem>
void require_rows(const Rows& rows, const Problem& problem) {
  dynmargin::require(static_cast<std::int64_t>(problem.sides.size()) == row_count(rows),
                     "the problem and the rows differ in length");
}
