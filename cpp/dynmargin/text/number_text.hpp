// Decimal numbers in text, correctly rounded, as Python's float() and C's strtod read them in the C locale.
//
// The text must end with a character that no number contains (the parser's texts end with a line feed), so that no loop
// has to check for the end.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>

// Older standard libraries have std::from_chars for integers only.
#if !defined(__cpp_lib_to_chars) || __cpp_lib_to_chars < 201611L || defined(DYNMARGIN_WITHOUT_FROM_CHARS)
#define DYNMARGIN_STRTOD
#include <locale.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include <string>
#endif

namespace dynmargin {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

struct Number {
  enum class Kind { number, malformed, too_large } kind;
  double value;
  const char* end;  // of a number: the first character after it
};

namespace number_text {

// A number without its sign, as written: digits * 10^exponent.
struct Decimal {
  const char *begin, *end;
  std::uint64_t digits = 0;  // valid if there are at most 19 of them
  std::int64_t n_digits = 0, exponent = 0;
};

// Powers of ten that a double holds exactly.
inline constexpr std::array<double, 23> exact_powers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr std::int64_t huge_exponent = 1'000'000'000'000'000;  // no text has enough digits to compensate

inline void read_digits(const char*& p, Decimal& decimal) {
  const char* begin = p;
  for (; is_digit(*p); ++p) decimal.digits = decimal.digits * 10 + static_cast<std::uint64_t>(*p - '0');
  decimal.n_digits += p - begin;
}

// Whether there is a decimal number at p.
inline bool read_decimal(const char* p, Decimal& decimal) {
  decimal.begin = p;
  read_digits(p, decimal);
  if (*p == '.') {
    const char* point = p++;
    read_digits(p, decimal);
    decimal.exponent = point + 1 - p;
  }
  if (decimal.n_digits == 0) return false;
  if (*p == 'e' || *p == 'E') {
    ++p;
    const bool negative = *p == '-';
    if (*p == '-' || *p == '+') ++p;
    if (!is_digit(*p)) return false;
    std::int64_t exponent = 0;
    for (; is_digit(*p); ++p) exponent = std::min(huge_exponent, exponent * 10 + (*p - '0'));
    decimal.exponent += negative ? -exponent : exponent;
  }
  decimal.end = p;
  return true;
}

// Rounds correctly; false if the number is too large for a double.
inline bool round(const Decimal& decimal, double& value) {
  // Both factors are exact, so a single operation rounds correctly (Clinger 1990).
  constexpr std::uint64_t largest_exact = std::uint64_t{1} << 53;
  if (decimal.n_digits <= 19 && decimal.digits <= largest_exact && decimal.exponent >= -22 && decimal.exponent <= 22) {
    const double digits = static_cast<double>(decimal.digits);
    value = decimal.exponent < 0 ? digits / exact_powers[-decimal.exponent] : digits * exact_powers[decimal.exponent];
    return true;
  }
#ifdef DYNMARGIN_STRTOD
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  value = strtod_l(std::string(decimal.begin, decimal.end).c_str(), nullptr, c_locale);
  return value <= std::numeric_limits<double>::max();
#else
  if (std::from_chars(decimal.begin, decimal.end, value).ec == std::errc()) return true;
  value = 0;  // out of range, which is no error at the lower end
  std::int64_t leading_zeros = 0;
  for (const char* p = decimal.begin; *p == '0' || *p == '.'; ++p) leading_zeros += *p == '0';
  return decimal.n_digits - leading_zeros + decimal.exponent <= 0;
#endif
}

// "nan", "inf" and "infinity", in any case.
inline bool read_word(const char*& p, double& value) {
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  constexpr std::pair<std::string_view, double> words[] = {
      {"infinity", infinity}, {"inf", infinity}, {"nan", std::numeric_limits<double>::quiet_NaN()}};
  for (const auto& [word, meaning] : words) {
    std::size_t n = 0;
    while (n < word.size() && std::tolower(static_cast<unsigned char>(p[n])) == word[n]) ++n;
    if (n < word.size()) continue;
    value = meaning;
    p += n;
    return true;
  }
  return false;
}

}  // namespace number_text

inline Number read_number(const char* p) {
  using enum Number::Kind;
  const bool negative = *p == '-';
  if (*p == '-' || *p == '+') ++p;
  number_text::Decimal decimal;
  double value = 0;
  if (number_text::read_decimal(p, decimal)) {
    if (!number_text::round(decimal, value)) return {too_large, 0, decimal.end};
    p = decimal.end;
  } else if (!number_text::read_word(p, value)) {
    return {malformed, 0, p};
  }
  return {number, negative ? -value : value, p};
}

}  // namespace dynmargin
