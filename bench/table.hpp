/// Tables and numbers for people. Widths are set beforehand, so that rows can be printed one by one
/// while a sweep runs.
///
///      size       time    busbw  wrong      a header line, and below it the units
///                   us     GB/s
///    64 KiB       12.3     8.53      0
#pragma once

#include <string>
#include <vector>

#include "collectives/units.hpp"

namespace collmark {

enum class Align { left, right };  // words left, numbers right

struct Column {
  std::string name;
  std::string unit = "";
  int width = 0;  // [characters], at least; the header counts too
  Align align = Align::right;
};

/// Cells wider than their column push the rest of their row to the right; nothing is cut off.
class Table {
 public:
  explicit Table(std::vector<Column> columns);

  /// Names, and a second line of units if any column has one.
  [[nodiscard]] std::string header() const;
  /// One cell per column; ends in a newline, without trailing spaces.
  [[nodiscard]] std::string row(const std::vector<std::string>& cells) const;

 private:
  std::vector<Column> columns_;
};

/// All at once: every column as wide as its widest cell.
[[nodiscard]] std::string fitted(std::vector<Column> columns,
                                 const std::vector<std::vector<std::string>>& rows);

/// Three significant digits, without trailing zeros: "64 KiB", "1.5 GiB", "97.5 MiB"; below 1 KiB
/// exact: "1003 B".
[[nodiscard]] std::string readable(Bytes bytes);
/// "940 ns", "12.3 us", "1.23 ms", "2.5 s".
[[nodiscard]] std::string readable(Seconds time);
/// As a person says it: "12 s", "3 min 20 s", "1 h 05 min".
[[nodiscard]] std::string readable_wait(Seconds time);
/// `digits` significant digits, never an exponent: 12.3, 0.00123, 12345.
[[nodiscard]] std::string rounded(double value, int digits = 3);
/// 102,228,128
[[nodiscard]] std::string grouped(std::int64_t number);

}  // namespace collmark
