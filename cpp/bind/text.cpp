// Bindings of the text parser.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "dynmargin/text/libsvm_text.hpp"
#include "patience.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace dynmargin;

namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::object owned(std::unique_ptr<T[]> values, std::size_t n) {
  T* data = values.get();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  values.release();
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {n}, owner));
}

struct ParsedText {
  std::optional<TextError> error;
  nb::object labels = nb::none(), starts = nb::none(), columns = nb::none(), values = nb::none();
  std::int64_t smallest = 0, largest = -1, query_ids = 0;
};

template <class Index>
ParsedText parse(std::string_view text, bool from_one, unsigned n_threads, std::size_t chunk_bytes) {
  ParsedText parsed;
  std::optional<LibsvmText<Index>> read;
  patiently(std::numeric_limits<double>::infinity(), 0, [&](Patience& patience) {
    read.emplace(text, from_one ? 1 : 0, n_threads, chunk_bytes, patience);
    parsed.error = read->error();
  });
  if (parsed.error) return parsed;
  auto& table = read->table();
  parsed.labels = owned(std::move(table.labels), table.n_rows);
  parsed.starts = owned(std::move(table.starts), table.n_rows + 1);
  parsed.columns = owned(std::move(table.columns), table.n_values);
  parsed.values = owned(std::move(table.values), table.n_values);
  parsed.smallest = table.n_values > 0 ? table.smallest : 0;
  parsed.largest = table.largest;
  parsed.query_ids = table.query_ids;
  return parsed;
}

}  // namespace

void bind_text(nb::module_& m) {
  nb::class_<ParsedText>(m, "ParsedText", "The rows of a text, or what is wrong with it.")
      .def_prop_ro(
          "error",
          [](const ParsedText& self) -> std::optional<std::tuple<std::int64_t, std::int64_t, std::string>> {
            if (!self.error) return std::nullopt;
            return std::tuple{self.error->line, self.error->column, self.error->message};
          },
          "Line, column and message.")
      .def_ro("labels", &ParsedText::labels)
      .def_ro("starts", &ParsedText::starts)
      .def_ro("columns", &ParsedText::columns)
      .def_ro("values", &ParsedText::values)
      .def_ro("smallest", &ParsedText::smallest, "The smallest index, 0 without any.")
      .def_ro("largest", &ParsedText::largest, "The largest index, -1 without any.")
      .def_ro("query_ids", &ParsedText::query_ids, "How many lines have one.");
  m.def(
      "parse_libsvm",
      [](Bytes bytes, bool from_one, unsigned n_threads, std::size_t chunk_bytes) {
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.shape(0));
        try {
          return parse<std::int32_t>(text, from_one, n_threads, chunk_bytes);
        } catch (const IndexTooLarge&) {
          return parse<std::int64_t>(text, from_one, n_threads, chunk_bytes);
        }
      },
      "text"_a, "from_one"_a, "n_threads"_a, "chunk_bytes"_a, "Parse LIBSVM text, indices as they are written.");
}
