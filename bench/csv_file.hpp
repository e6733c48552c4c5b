/// A CSV file that only ever grows by whole rows, whatever happens to the program or the disk.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace collmark {

class CsvFile {
 public:
  /// Creates `path` with a header. Throws Error{usage} if it exists or cannot be written.
  [[nodiscard]] static CsvFile create(const std::string& path, std::string_view header);
  /// Continues a file whose first line is `header`; half a row at its end, left by a crash, is cut
  /// off. Throws Error{usage} with file:line.
  [[nodiscard]] static CsvFile extend(const std::string& path, std::string_view header);

  CsvFile(CsvFile&& other) noexcept;
  CsvFile& operator=(CsvFile&&) = delete;
  ~CsvFile();

  /// Whole rows, each ending in a newline, in one write. Throws Error{output_failed} after taking
  /// back what was written of them.
  void append(std::string_view rows);

 private:
  CsvFile(std::string path, int descriptor, std::int64_t size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

  std::string path_;
  int descriptor_;
  std::int64_t size_;  // [bytes], of whole rows
};

}  // namespace collmark
