#include "bench/size_grammar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "collectives/error.hpp"

namespace collmark {
namespace {

using Value = std::int64_t;

constexpr ListKind kSize{.noun = "size",
                         .step_wanted = "a range of sizes needs a step such as ':x2' or ':+1M'"};
constexpr ListKind kRankCount{
    .noun = "rank count", .least = 1, .most = std::numeric_limits<int>::max()};

constexpr int kMostFractionDigits = 9;  // 10^9 * 2^30 still fits a Value

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads one list from left to right; `at_` is where the caret of an error stands.
class Reader {
 public:
  Reader(std::string_view text, const ListKind& kind) : text_(text), kind_(kind) {}

  Value single() {
    const Value value = bounded_value();
    if (!done()) fail(at_, "expected nothing after it");
    return value;
  }

  std::vector<Value> list() {
    items([this] { item(); });
    return std::move(values_);
  }

  std::vector<std::optional<Value>> list_or_auto() {
    items([this] {
      if (!text_.substr(at_).starts_with(kAuto)) return item();
      add(kAutomatic, at_);
      at_ += kAuto.size();
    });
    std::vector<std::optional<Value>> all;
    for (const Value v : values_)
      all.push_back(v == kAutomatic ? std::nullopt : std::optional<Value>(v));
    return all;
  }

 private:
  [[noreturn]] void fail(std::size_t at, std::string_view expected) const {
    throw Error(ErrorKind::usage, fmt::format("cannot read {} '{}': {}\n  {}\n  {:>{}}", kind_.noun,
                                              text_, expected, text_, '^', at + 1));
  }

  [[nodiscard]] bool done() const { return at_ == text_.size(); }
  [[nodiscard]] bool next_is(char c) const { return !done() && text_[at_] == c; }
  bool take(char c) { return next_is(c) ? (++at_, true) : false; }

  template <class Item>
  void items(Item next) {
    next();
    while (!done()) {
      if (!take(',')) fail(at_, "expected ',', ':' or the end here; units are K, M and G (1024)");
      next();
    }
  }

  void item() {
    const std::size_t from = at_;
    const Value start = bounded_value();
    if (!take(':')) return add(start, from);
    const std::size_t at_end = at_;
    const Value end = bounded_value();
    if (end < start) fail(at_end, "the end of a range is not below its start");
    if (!take(':')) {
      if (!kind_.step_wanted.empty()) fail(at_, kind_.step_wanted);
      return add_range({start, end, from}, [](Value v) { return v + 1; });
    }
    if (take('x')) return multiplied({start, end, from});
    if (take('+')) return added({start, end, from});
    fail(at_, "expected a step such as 'x2' or '+1M'");
  }

  struct Range {
    Value start, end;
    std::size_t from;  // where it stands in the text
  };

  void multiplied(const Range& r) {
    const std::size_t at_factor = at_;
    const Value factor = whole();
    if (next_is('.')) fail(at_, "a factor is a whole number");
    if (factor < 2) fail(at_factor, "a factor is at least 2");
    if (r.start == 0) fail(r.from, "0 times anything stays 0: start at 1 or more, or use '+'");
    const auto grown = [=](Value v) { return v > r.end / factor ? kBeyond : v * factor; };
    add_range(r, grown);
  }

  void added(const Range& r) {
    const std::size_t at_step = at_;
    const Value step = value();
    if (step == 0) fail(at_step, "a step of 0 never arrives");
    add_range(r, [=](Value v) { return step > r.end - v ? kBeyond : v + step; });
  }

  template <class Next>
  void add_range(const Range& r, Next next) {
    for (Value v = r.start; v != kBeyond && v <= r.end; v = next(v)) add(v, r.from);
  }

  void add(Value v, std::size_t from) {
    if (!seen_.insert(v).second) return;
    if (values_.size() == kMostValues) fail(from, fmt::format("more than {} values", kMostValues));
    values_.push_back(v);
  }

  Value bounded_value() {
    const std::size_t from = at_;
    const Value v = value();
    if (v < kind_.least) fail(from, fmt::format("the least {} is {}", kind_.noun, kind_.least));
    if (v > kind_.most) fail(from, fmt::format("the largest {} is {}", kind_.noun, kind_.most));
    return v;
  }

  /// digits [ '.' digits ] [ unit ]
  Value value() {
    const std::size_t from = at_;
    const Value integer = whole();
    const Fraction part = fraction();
    const Value scale = unit();
    if (part.numerator * scale % part.denominator != 0)
      fail(from, "does not come to a whole number");
    const Value rest = part.numerator * scale / part.denominator;
    if (integer > (std::numeric_limits<Value>::max() - rest) / scale)
      fail(from, "the number is too large");
    return integer * scale + rest;
  }

  Value whole() {
    const std::size_t from = at_;
    if (done() || !is_digit(text_[at_])) fail(at_, "expected a number here");
    Value v = 0;
    for (; !done() && is_digit(text_[at_]); ++at_) {
      const Value digit = text_[at_] - '0';
      if (v > (std::numeric_limits<Value>::max() - digit) / 10)
        fail(from, "the number is too large");
      v = v * 10 + digit;
    }
    return v;
  }

  struct Fraction {
    Value numerator = 0, denominator = 1;
  };

  Fraction fraction() {
    if (!take('.')) return {};
    if (done() || !is_digit(text_[at_])) fail(at_, "expected a digit after '.'");
    Fraction f;
    for (int digits = 0; !done() && is_digit(text_[at_]); ++at_, ++digits) {
      if (digits == kMostFractionDigits) fail(at_, "too many digits after '.'");
      f = {f.numerator * 10 + (text_[at_] - '0'), f.denominator * 10};
    }
    return f;
  }

  Value unit() {
    constexpr std::string_view kUnits = "KMG";
    const std::size_t power = done() ? std::string_view::npos : kUnits.find(text_[at_]);
    if (power == std::string_view::npos) return 1;
    ++at_;
    if (take('i')) take('B');
    return Value{1} << (10 * (power + 1));
  }

  static constexpr Value kBeyond = -1;     // the end of a range
  static constexpr Value kAutomatic = -2;  // both are no value: none is below 0
  static constexpr std::string_view kAuto = "auto";

  std::string_view text_;
  const ListKind& kind_;
  std::size_t at_ = 0;
  std::vector<Value> values_ = {};
  std::unordered_set<Value> seen_ = {};
};

}  // namespace

Bytes parse_size(std::string_view text) { return {Reader(text, kSize).single()}; }

std::string spelled(Bytes size) {
  constexpr std::string_view kUnits = "KMG";
  std::int64_t value = size.value;
  std::size_t unit = 0;
  for (; unit < kUnits.size() && value > 0 && value % 1024 == 0; ++unit) value /= 1024;
  return fmt::format("{}{}", value, unit > 0 ? kUnits.substr(unit - 1, 1) : "");
}

std::vector<Bytes> parse_sizes(std::string_view text) {
  const std::vector<Value> values = Reader(text, kSize).list();
  std::vector<Bytes> sizes;
  sizes.reserve(values.size());
  for (const Value v : values) sizes.push_back({v});
  return sizes;
}

std::vector<std::optional<std::int64_t>> parse_numbers_or_auto(std::string_view text,
                                                               const ListKind& kind) {
  return Reader(text, kind).list_or_auto();
}

std::vector<int> parse_ranks(std::string_view text) {
  const std::vector<Value> values = Reader(text, kRankCount).list();
  std::vector<int> ranks;
  ranks.reserve(values.size());
  for (const Value v : values) ranks.push_back(static_cast<int>(v));
  return ranks;
}

}  // namespace collmark
