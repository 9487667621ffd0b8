// LIBSVM / SVMlight text, parsed into a CSR matrix with its labels.
//
// The text is cut into chunks of whole lines, which threads parse independently and which are then put together.
// Malformed text is refused with its position; nothing is skipped but blank lines, comments and query ids.
//
// The arrays are as large as the first pass over the text has counted, and the second fills them: the text must be
// memory that nobody else writes to, never a mapped file.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "dynmargin/data/memory.hpp"
#include "dynmargin/data/patience.hpp"
#include "dynmargin/order/threads.hpp"
#include "dynmargin/text/libsvm_parser.hpp"

namespace dynmargin {

struct TextError {
  std::int64_t line, column;  // from 1; columns are bytes
  std::string message;
};

// std::count in half the time: sums of at most 255 ones fit into bytes, which compilers add up sixteen at a time.
inline std::size_t count_characters(const char* p, const char* end, char wanted) {
  std::size_t n = 0;
  while (p < end) {
    const char* pause = p + std::min<std::ptrdiff_t>(255, end - p);
    std::uint8_t few = 0;
    for (; p < pause; ++p) few = static_cast<std::uint8_t>(few + (*p == wanted));
    n += few;
  }
  return n;
}

// A text, parsed into a CSR matrix with its labels.
template <class Index>
class LibsvmText {
 public:
  LibsvmText(std::string_view text, Index first_index, unsigned n_threads, std::size_t chunk_bytes, Patience& patience)
      : text_(text), first_index_(first_index), n_threads_(n_threads), patience_(patience) {
    cut(std::max<std::size_t>(1, chunk_bytes));
    for_each_chunk([](Chunk& chunk) {
      chunk.n_lines = count_characters(chunk.begin, chunk.end, '\n');
      chunk.n_colons = count_characters(chunk.begin, chunk.end, ':');
    });
    std::size_t n_lines = 0, n_colons = 0;
    for (const Chunk& chunk : chunks_) {
      n_lines += chunk.n_lines;
      n_colons += chunk.n_colons;
    }
    if (n_colons > static_cast<std::size_t>(std::numeric_limits<Index>::max())) throw IndexTooLarge{};
    const double bytes = static_cast<double>(n_lines + n_colons) * (sizeof(double) + sizeof(Index));
    allocating("parsing the text", bytes, [&] {
      table_.labels = std::make_unique_for_overwrite<double[]>(n_lines);
      table_.starts = std::make_unique_for_overwrite<Index[]>(n_lines + 1);
      table_.columns = std::make_unique_for_overwrite<Index[]>(n_colons);
      table_.values = std::make_unique_for_overwrite<double[]>(n_colons);
    });
    table_.starts[0] = 0;
    give_places();
    for_each_chunk([this](Chunk& chunk) {
      try {
        chunk.rows = libsvm_text::Parser<Index>(first_index_, chunk.rows).parse(chunk.begin, chunk.end);
      } catch (libsvm_text::Malformed& found) {
        chunk.malformed = std::move(found);
      }
    });
    if (!error()) close_gaps();
  }

  struct Table {
    std::unique_ptr<double[]> labels, values;
    std::unique_ptr<Index[]> starts, columns;
    std::size_t n_rows = 0, n_values = 0;
    Index smallest = std::numeric_limits<Index>::max(), largest = -1;
    std::int64_t query_ids = 0;
  };
  Table& table() { return table_; }

  // The first error, if there is one.
  std::optional<TextError> error() const {
    for (const Chunk& chunk : chunks_) {
      if (!chunk.malformed) continue;
      // The last line may be a copy; positions count from where it is in the text.
      const std::size_t place = chunk.offset + static_cast<std::size_t>(chunk.malformed->place - chunk.begin);
      const std::string_view before = text_.substr(0, place);
      const std::size_t feed = before.rfind('\n');
      const std::size_t line_begin = feed == std::string_view::npos ? 0 : feed + 1;
      return TextError{std::count(before.begin(), before.end(), '\n') + 1,
                       static_cast<std::int64_t>(place - line_begin) + 1, chunk.malformed->message};
    }
    return std::nullopt;
  }

 private:
  struct Chunk {
    const char *begin, *end;
    std::size_t offset;  // of its begin, in the text
    std::size_t n_lines = 0, n_colons = 0;
    TextRows<Index> rows{};
    std::optional<libsvm_text::Malformed> malformed{};
  };

  void cut(std::size_t chunk_bytes) {
    const std::size_t last_feed = text_.rfind('\n');
    const std::size_t whole = last_feed == std::string_view::npos ? 0 : last_feed + 1;
    for (std::size_t begin = 0; begin < whole;) {
      const std::size_t end = text_.find('\n', std::min(whole, begin + chunk_bytes) - 1) + 1;
      chunks_.push_back({text_.data() + begin, text_.data() + end, begin});
      begin = end;
    }
    if (whole == text_.size()) return;
    last_line_.assign(text_.substr(whole)) += '\n';
    chunks_.push_back({last_line_.data(), last_line_.data() + last_line_.size(), whole});
  }

  void give_places() {
    std::size_t line = 0, colon = 0;
    for (Chunk& chunk : chunks_) {
      chunk.rows.labels = table_.labels.get() + line;
      chunk.rows.ends = table_.starts.get() + 1 + line;
      chunk.rows.columns = table_.columns.get() + colon;
      chunk.rows.values = table_.values.get() + colon;
      line += chunk.n_lines;
      colon += chunk.n_colons;
    }
  }

  // Moves every chunk to where the one before it ends, and counts the ends of rows from the first chunk on.
  void close_gaps() {
    for (Chunk& chunk : chunks_) {
      patience_.check();
      const TextRows<Index>& rows = chunk.rows;
      for (std::size_t k = 0; k < rows.n_rows; ++k)
        table_.starts[table_.n_rows + 1 + k] = static_cast<Index>(table_.n_values) + rows.ends[k];
      move_down(rows.labels, rows.n_rows, table_.labels.get() + table_.n_rows);
      move_down(rows.columns, rows.n_values, table_.columns.get() + table_.n_values);
      move_down(rows.values, rows.n_values, table_.values.get() + table_.n_values);
      table_.n_rows += rows.n_rows;
      table_.n_values += rows.n_values;
      table_.smallest = std::min(table_.smallest, rows.smallest);
      table_.largest = std::max(table_.largest, rows.largest);
      table_.query_ids += rows.query_ids;
    }
  }

  template <class T>
  static void move_down(const T* from, std::size_t n, T* to) {
    if (from != to) std::copy(from, from + n, to);
  }

  // Works on all chunks, each thread on the next one that is left.
  template <class Work>
  void for_each_chunk(Work work) {
    in_threads(n_threads_, chunks_.size(), [&](std::size_t i) {
      patience_.check();
      work(chunks_[i]);
    });
  }

  std::string_view text_;
  Index first_index_;
  unsigned n_threads_;
  Patience& patience_;
  std::string last_line_;
  std::vector<Chunk> chunks_;
  Table table_;
};

}  // namespace dynmargin
