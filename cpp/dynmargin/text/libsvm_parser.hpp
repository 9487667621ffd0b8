// The grammar of LIBSVM / SVMlight text: a line is `label [qid:n] index:value index:value ... # comment`.
#pragma once

#include <cstring>
#include <string>

#include "dynmargin/text/number_text.hpp"

namespace dynmargin {

// Thrown when an index does not fit into 32 bits: the text is parsed again with 64.
struct IndexTooLarge {};

// Rows that are being parsed: where their arrays are, and how far they are filled. `Index` is the type of column
// indices and of positions among the values.
template <class Index>
struct TextRows {
  double* labels;
  Index* ends;  // of each row, counted from the first value here
  Index* columns;
  double* values;
  std::size_t n_rows = 0, n_values = 0;
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
  Parser(Index first_index, const TextRows<Index>& rows) : first_index_(first_index), rows_(rows) {}

  // Whole lines only: end[-1] is a line feed.
  TextRows<Index> parse(const char* p, const char* end) {
    while (p < end) p = line(p);
    return rows_;
  }

 private:
  const char* line(const char* p) {
    p = skip_blanks(p);
    if (!is_end_of_token(*p)) {
      const double label = number(p, "the label");
      p = skip_blanks(p);
      if (std::strncmp(p, "qid:", 4) == 0) query_id(p);
      p = features(skip_blanks(p));
      rows_.labels[rows_.n_rows] = label;
      rows_.ends[rows_.n_rows++] = static_cast<Index>(rows_.n_values);
    }
    while (*p != '\n') ++p;  // a comment
    return p + 1;
  }

  const char* features(const char* p) {
    std::size_t n = rows_.n_values;
    Index previous = -1;
    for (; !is_end_of_token(*p); p = skip_blanks(p), ++n) {
      const char* token = p;
      const Index column = index(p);
      if (column <= previous)
        throw Malformed{token, "index " + std::to_string(column) + " after " + std::to_string(previous) +
                                   ": indices must increase within a line"};
      if (is_end_of_token(*++p)) throw Malformed{token, "there is no value after the colon of " + quoted(token)};
      if (previous < 0) rows_.smallest = std::min(rows_.smallest, column);
      rows_.columns[n] = previous = column;
      rows_.values[n] = number(p, "the value");
    }
    rows_.largest = std::max(rows_.largest, previous);
    rows_.n_values = n;
    return p;
  }

  // Leaves p at the colon.
  Index index(const char*& p) const {
    const char* token = p;
    if (*p == '+') ++p;
    const char* digits = p;
    std::uint64_t column = 0;
    for (; is_digit(*p); ++p) column = column * 10 + static_cast<std::uint64_t>(*p - '0');
    if (p == digits || *p != ':') throw Malformed{token, "expected index:value, found " + quoted(token)};
    if (p - digits > 9) require_size(token, digits, p);
    if (static_cast<Index>(column) < first_index_)
      throw Malformed{token, "index 0 in a file whose indices are to begin with 1: " + quoted(token)};
    return static_cast<Index>(column);
  }

  // Refuses an index of ten digits or more that does not fit; the largest possible one is reserved, since sizes are one
  // larger.
  static void require_size(const char* token, const char* digits, const char* end) {
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

  static double number(const char*& p, const char* what) {
    const Number found = read_number(p);
    if (found.kind == Number::Kind::malformed || !is_end_of_token(*found.end))
      throw Malformed{p, std::string(what) + " is not a number: " + quoted(p)};
    if (found.kind == Number::Kind::too_large)
      throw Malformed{p, std::string(what) + " is too large for a double: " + quoted(p)};
    p = found.end;
    return found.value;
  }

  Index first_index_;
  TextRows<Index> rows_;
};

}  // namespace libsvm_text

}  // namespace dynmargin
