// Arrays in, arrays out: what all bindings share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "dynmargin/problem.hpp"
#include "dynmargin/rows.hpp"

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using NumpyVector = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

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

template <class T>
NumpyVector<T> to_numpy(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return NumpyVector<T>(kept->data(), {kept->size()}, owner);
}

// The places of what is not zero, and what stands there.
inline std::pair<NumpyVector<std::int64_t>, NumpyVector<std::int64_t>> nonzeros(const std::vector<std::int64_t>& all) {
  std::vector<std::int64_t> places, values;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == 0) continue;
    places.push_back(static_cast<std::int64_t>(i));
    values.push_back(all[i]);
  }
  return {to_numpy(std::move(places)), to_numpy(std::move(values))};
}

inline void require_rows(const dynmargin::PackedRows& rows, const dynmargin::Problem& problem) {
  if (static_cast<std::int64_t>(problem.sides.size()) != rows.n_rows)
    throw std::invalid_argument("the problem and the rows differ in length");
}

inline void require_rows(const Matrix& matrix, const dynmargin::Problem& problem) {
  if (static_cast<std::int64_t>(problem.sides.size()) != n_rows(matrix.view))
    throw std::invalid_argument("the problem and the matrix differ in length");
}
