// LIBSVM / SVMlight text: a line is `label [qid:n] index:value index:value ... # comment`.
//
// The text is cut into chunks of whole lines, which threads parse independently and which are then put together. What
// is malformed is refused with its place; nothing is skipped but blank lines, comments and query ids.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "number_text.hpp"

namespace dynmargin {

struct TextError {
  std::int64_t line, column;  // from 1; columns are bytes
  std::string message;
};

// Thrown when an index does not fit into 32 bits: the text is parsed again with 64.
struct IndexTooLarge {};

// The rows of some lines; `Index` is the type of column indices and of positions among the values.
template <class Index>
struct TextRows {
  std::vector<double> labels;
  std::vector<std::int64_t> ends;  // of each row, counted from the first value here
  std::vector<Index> columns;
  std::vector<double> values;
  Index smallest = std::numeric_limits<Index>::max(), largest = -1;
  std::int64_t query_ids = 0;
};

namespace libsvm_text {

struct Malformed {
  const char* place;
  std::string message;
};

inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }
inline bool is_end_of_token(char c) { return is_blank(c) || c == '\n' || c == '#'; }

inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}

// The token at p, for a message: short and printable.
inline std::string quoted(const char* p) {
  constexpr std::size_t longest = 40;
  constexpr char hex[] = "0123456789abcdef";
  std::string text = "'";
  for (; !is_end_of_token(*p); ++p) {
    if (text.size() > longest) return text + "...'";
    const auto byte = static_cast<unsigned char>(*p);
    if (byte >= 0x20 && byte < 0x7f)
      text += *p;
    else
      (text += "\\x") += {hex[byte >> 4], hex[byte & 15]};
  }
  return text + "'";
}

template <class Index>
class Parser {
 public:
  explicit Parser(Index first_index) : first_index_(first_index) {}

  // Whole lines only: end[-1] is a line feed.
  TextRows<Index> parse(const char* p, const char* end) {
    const auto n_lines = static_cast<std::size_t>(std::count(p, end, '\n'));
    const auto n_colons = static_cast<std::size_t>(std::count(p, end, ':'));
    rows_.labels.reserve(n_lines);
    rows_.ends.reserve(n_lines);
    rows_.columns.reserve(n_colons);
    rows_.values.reserve(n_colons);
    while (p < end) p = line(p);
    return std::move(rows_);
  }

 private:
  const char* line(const char* p) {
    p = skip_blanks(p);
    if (!is_end_of_token(*p)) {
      rows_.labels.push_back(number(p, "the label"));
      p = skip_blanks(p);
      if (std::strncmp(p, "qid:", 4) == 0) query_id(p);
      previous_ = -1;
      for (p = skip_blanks(p); !is_end_of_token(*p); p = skip_blanks(p)) feature(p);
      rows_.ends.push_back(static_cast<std::int64_t>(rows_.values.size()));
    }
    while (*p != '\n') ++p;  // a comment
    return p + 1;
  }

  void feature(const char*& p) {
    const char* token = p;
    const Index column = index(p);
    const char* value_begin = ++p;
    if (is_end_of_token(*value_begin)) throw Malformed{token, "there is no value after the colon of " + quoted(token)};
    rows_.values.push_back(number(p, "the value"));
    rows_.columns.push_back(column);
    rows_.smallest = std::min(rows_.smallest, column);
    rows_.largest = std::max(rows_.largest, column);
  }

  // Leaves p at the colon.
  Index index(const char*& p) {
    const char* token = p;
    if (*p == '+') ++p;
    const char* digits = p;
    std::uint64_t column = 0;
    for (; is_digit(*p); ++p) column = column * 10 + static_cast<std::uint64_t>(*p - '0');
    if (p == digits || *p != ':') throw Malformed{token, "expected index:value, found " + quoted(token)};
    if (p - digits > 9) require_size(token, digits, p);
    const Index found = static_cast<Index>(column);
    if (found < first_index_)
      throw Malformed{token, "index 0 in a file whose indices are to begin with 1: " + quoted(token)};
    if (found <= previous_)
      throw Malformed{token, "index " + std::to_string(found) + " after " + std::to_string(previous_) +
                                 ": indices must increase within a line"};
    return previous_ = found;
  }

  // Whether an index of ten digits or more fits; the largest possible one is left to those who count from it.
  void require_size(const char* token, const char* digits, const char* end) const {
    while (*digits == '0') ++digits;
    constexpr std::string_view largest = "9223372036854775807";
    const std::string_view text(digits, static_cast<std::size_t>(end - digits));
    if (text.size() > largest.size() || (text.size() == largest.size() && text >= largest))
      throw Malformed{token, "the index is too large: " + quoted(token)};
    std::uint64_t column = 0;
    for (char c : text) column = column * 10 + static_cast<std::uint64_t>(c - '0');
    if (column >= static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) throw IndexTooLarge{};
  }

  void query_id(const char*& p) {
    const char* token = p;
    p += 4;
    if (*p == '-' || *p == '+') ++p;
    const char* digits = p;
    while (is_digit(*p)) ++p;
    if (p == digits || !is_end_of_token(*p))
      throw Malformed{token, "the query id is not a whole number: " + quoted(token)};
    ++rows_.query_ids;
  }

  double number(const char*& p, const char* what) {
    const Number found = read_number(p);
    if (found.kind == Number::Kind::malformed || !is_end_of_token(*found.end))
      throw Malformed{p, std::string(what) + " is not a number: " + quoted(p)};
    if (found.kind == Number::Kind::too_large)
      throw Malformed{p, std::string(what) + " is too large for a double: " + quoted(p)};
    p = found.end;
    return found.value;
  }

  Index first_index_;
  Index previous_ = -1;
  TextRows<Index> rows_;
};

}  // namespace libsvm_text

// A text cut into chunks of whole lines, parsed by some threads.
template <class Index>
class LibsvmText {
 public:
  LibsvmText(std::string_view text, Index first_index, unsigned n_threads, std::size_t chunk_bytes)
      : text_(text), first_index_(first_index) {
    cut(std::max<std::size_t>(1, chunk_bytes));
    rows_.resize(pieces_.size());
    malformed_.resize(pieces_.size());
    const auto n_workers = std::min<std::size_t>(std::max(1u, n_threads), pieces_.size());
    failures_.resize(std::max<std::size_t>(1, n_workers));
    std::vector<std::thread> helpers;
    try {
      for (std::size_t i = 1; i < n_workers; ++i) helpers.emplace_back([this, i] { work(failures_[i]); });
    } catch (const std::system_error&) {  // no more threads to be had: those that are there do the work
    }
    work(failures_[0]);
    for (std::thread& helper : helpers) helper.join();
    for (const std::exception_ptr& failure : failures_)
      if (failure) std::rethrow_exception(failure);
  }

  std::vector<TextRows<Index>>& chunks() { return rows_; }

  // The first thing that is wrong, if anything is.
  std::optional<TextError> error() const {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (!malformed_[i]) continue;
      const auto [begin, message] = *malformed_[i];
      // The last line may have been copied; its place counts from where it stands in the text.
      const std::size_t place = pieces_[i].offset + static_cast<std::size_t>(begin - pieces_[i].begin);
      const std::string_view before = text_.substr(0, place);
      const std::size_t feed = before.rfind('\n');
      const std::size_t line_begin = feed == std::string_view::npos ? 0 : feed + 1;
      return TextError{std::count(before.begin(), before.end(), '\n') + 1,
                       static_cast<std::int64_t>(place - line_begin) + 1, message};
    }
    return std::nullopt;
  }

 private:
  struct Piece {
    const char *begin, *end;
    std::size_t offset;  // of its begin, in the text
  };

  void cut(std::size_t chunk_bytes) {
    const std::size_t last_feed = text_.rfind('\n');
    const std::size_t whole = last_feed == std::string_view::npos ? 0 : last_feed + 1;
    for (std::size_t begin = 0; begin < whole;) {
      const std::size_t end = text_.find('\n', std::min(whole, begin + chunk_bytes) - 1) + 1;
      pieces_.push_back({text_.data() + begin, text_.data() + end, begin});
      begin = end;
    }
    if (whole == text_.size()) return;
    last_line_.assign(text_.substr(whole)) += '\n';
    pieces_.push_back({last_line_.data(), last_line_.data() + last_line_.size(), whole});
  }

  void work(std::exception_ptr& failure) {
    try {
      for (std::size_t i = next_++; i < pieces_.size(); i = next_++) {
        try {
          rows_[i] = libsvm_text::Parser<Index>(first_index_).parse(pieces_[i].begin, pieces_[i].end);
        } catch (libsvm_text::Malformed& found) {
          malformed_[i] = std::move(found);
        }
      }
    } catch (...) {
      failure = std::current_exception();
    }
  }

  std::string_view text_;
  Index first_index_;
  std::string last_line_;
  std::vector<Piece> pieces_;
  std::vector<TextRows<Index>> rows_;
  std::vector<std::optional<libsvm_text::Malformed>> malformed_;
  std::vector<std::exception_ptr> failures_;
  std::atomic<std::size_t> next_ = 0;
};

// A CSR matrix with its labels, put together from chunks.
template <class Index>
struct TextTable {
  std::vector<double> labels;
  std::unique_ptr<Index[]> starts, columns;
  std::unique_ptr<double[]> values;
  std::int64_t n_values = 0, query_ids = 0;
  Index smallest = std::numeric_limits<Index>::max(), largest = -1;

  // Empties the chunks one after the other, so that little of the data is held twice.
  explicit TextTable(std::vector<TextRows<Index>>& chunks) {
    std::size_t n_rows = 0;
    for (const auto& chunk : chunks) {
      n_rows += chunk.labels.size();
      n_values += static_cast<std::int64_t>(chunk.values.size());
      query_ids += chunk.query_ids;
      smallest = std::min(smallest, chunk.smallest);
      largest = std::max(largest, chunk.largest);
    }
    if (n_values > static_cast<std::int64_t>(std::numeric_limits<Index>::max())) throw IndexTooLarge{};
    labels.reserve(n_rows);
    starts = std::make_unique_for_overwrite<Index[]>(n_rows + 1);
    columns = std::make_unique_for_overwrite<Index[]>(static_cast<std::size_t>(n_values));
    values = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(n_values));
    starts[0] = 0;
    std::int64_t before = 0;
    for (auto& chunk : chunks) {
      Index* start = starts.get() + labels.size();
      for (const std::int64_t end : chunk.ends) *++start = static_cast<Index>(before + end);
      labels.insert(labels.end(), chunk.labels.begin(), chunk.labels.end());
      std::copy(chunk.columns.begin(), chunk.columns.end(), columns.get() + before);
      std::copy(chunk.values.begin(), chunk.values.end(), values.get() + before);
      before += static_cast<std::int64_t>(chunk.values.size());
      chunk = {};
    }
  }
};

}  // namespace dynmargin
