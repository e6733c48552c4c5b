/// Reads a CSV file with a header (RFC 4180), cells by column name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace collmark {

struct WholeRange {
  std::int64_t least;
  std::int64_t most;
};

class CsvTable {
 public:
  /// Throws Error{usage} with file:line for an unreadable or empty file, an unclosed quote, or a
  /// row with more or fewer cells than the header.
  [[nodiscard]] static CsvTable read(const std::string& path);
  [[nodiscard]] static CsvTable parse(std::string_view text, const std::string& path);

  [[nodiscard]] std::size_t rows() const { return lines_.size(); }
  [[nodiscard]] bool has(std::string_view column) const;

  /// Throws Error{usage} if there is no such column.
  [[nodiscard]] const std::string& cell(std::size_t row, std::string_view column) const;
  /// Empty for an empty cell. Throws Error{usage} with file:line if it is no number.
  [[nodiscard]] std::optional<double> number(std::size_t row, std::string_view column) const;
  /// The same for a whole number in a range.
  [[nodiscard]] std::optional<std::int64_t> whole(std::size_t row, std::string_view column,
                                                  WholeRange range) const;
  /// "results.csv:17"
  [[nodiscard]] std::string where(std::size_t row) const;

 private:
  [[nodiscard]] std::optional<std::size_t> index(std::string_view column) const;

  std::string path_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> cells_;
  std::vector<std::size_t> lines_;  // of each row in the file, from 1
};

}  // namespace collmark
