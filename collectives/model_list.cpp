#include "collectives/model_list.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "collectives/error.hpp"
#include "collectives/suggest.hpp"

namespace collmark {
namespace {

constexpr std::string_view kHeader = "name,shape,numel";
constexpr std::string_view kHeaderWithDtype = "name,shape,numel,dtype";
// Far above any tensor.
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
// Of a whole list: its bytes on a thousand ranks, with copies, still fit 63 bits.
constexpr std::int64_t kMostInAll = std::int64_t{1} << 42;
constexpr std::size_t kMostBytes = std::size_t{1} << 26;  // of a file: some million tensors

/// As much of a text from a file as a message can show.
std::string shortened(std::string_view text) {
  constexpr std::size_t kShown = 60;
  return text.size() <= kShown ? std::string(text) : fmt::format("{}...", text.substr(0, kShown));
}

/// One line of the list, and where it stands, for messages.
struct Line {
  std::string_view path;
  int number;  // from 1
  std::string_view text;

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::usage, fmt::format("{}:{}: {}", path, number, why));
  }

  void require_text() const {
    for (std::size_t i = 0; i < text.size(); ++i)
      if (const auto c = static_cast<unsigned char>(text[i]); c < 0x20 || c == 0x7F)
        refuse(fmt::format("control character 0x{:02X} in column {}; expected text", c, i + 1));
  }
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::int64_t> positive(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

std::int64_t product_of(const Line& line, std::string_view shape) {
  std::int64_t product = 1;
  for (const std::string_view side : split(shape, 'x')) {
    const auto length = positive(side);
    if (!length)
      line.refuse(
          fmt::format("shape '{}': expected positive whole numbers joined by x, as 64x3x7x7",
                      shortened(shape)));
    if (*length > kMostElements / product)
      line.refuse(fmt::format("shape '{}' has more than 2^40 elements", shortened(shape)));
    product *= *length;
  }
  return product;
}

bool is_floating(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f64 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

Dtype dtype_of(const Line& line, std::string_view text) {
  const auto dtype = parse_dtype(text);
  if (!dtype || !is_floating(*dtype))
    line.refuse(fmt::format("dtype '{}': expected f32, f64, f16 or bf16", shortened(text)));
  return *dtype;
}

Tensor tensor_of(const Line& line, std::string_view header, Dtype dtype) {
  const auto fields = split(line.text, ',');
  const auto expected = split(header, ',').size();
  if (fields.size() != expected)
    line.refuse(fmt::format("expected {} fields ({}), got {}: '{}'", expected, header,
                            fields.size(), shortened(line.text)));
  if (fields[0].empty()) line.refuse("expected a tensor name before the first comma");
  const auto numel = positive(fields[2]);
  if (!numel)
    line.refuse(fmt::format("numel '{}': expected a positive whole number", shortened(fields[2])));
  const std::int64_t product = product_of(line, fields[1]);
  if (*numel != product)
    line.refuse(fmt::format("numel {} is not the product of shape {}, {}", *numel,
                            shortened(fields[1]), product));
  return {.name = std::string(fields[0]),
          .count = {*numel},
          .dtype = expected == 4 ? dtype_of(line, fields[3]) : dtype};
}

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error(ErrorKind::usage, fmt::format("{}: is a directory; expected a model list", path));
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(ErrorKind::usage,
                fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  std::string text;
  std::array<char, 65536> block;
  while (file.read(block.data(), block.size()), file.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMostBytes)
      throw Error(ErrorKind::usage,
                  fmt::format("{}: is larger than 64 MiB; expected a model list", path));
  }
  return text;
}

}  // namespace

std::vector<Tensor> parse_model_list(std::string_view text, std::string_view path, Dtype dtype) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.ends_with('\n')) text.remove_suffix(1);

  std::vector<Tensor> tensors;
  std::map<std::string, int, std::less<>> line_of_name;
  std::string_view header;
  int number = 0;
  std::int64_t in_all = 0;  // elements so far
  for (std::string_view line_text : split(text, '\n')) {
    if (line_text.ends_with('\r')) line_text.remove_suffix(1);
    const Line line{.path = path, .number = ++number, .text = line_text};
    line.require_text();
    if (number == 1) {
      header = line_text;
      if (header != kHeader && header != kHeaderWithDtype)
        line.refuse(fmt::format("expected the header {} (or {}), got '{}'", kHeader,
                                kHeaderWithDtype, shortened(header)));
      continue;
    }
    tensors.push_back(tensor_of(line, header, dtype));
    in_all += tensors.back().count.value;
    if (in_all > kMostInAll) line.refuse("the list has more than 2^42 elements up to here");
    const auto [earlier, is_new] = line_of_name.emplace(tensors.back().name, number);
    if (!is_new)
      line.refuse(fmt::format("tensor '{}' is already on line {}; names must differ",
                              shortened(earlier->first), earlier->second));
  }
  if (tensors.empty())
    throw Error(ErrorKind::usage,
                fmt::format("{}:{}: the list ends after its header; expected at least one tensor",
                            path, number + 1));
  return tensors;
}

ModelList load_model(std::string_view name_or_path, Dtype dtype) {
  const std::string text(name_or_path);
  if (text.ends_with(".csv") || text.find('/') != std::string::npos)
    return {.name = std::filesystem::path(text).stem().string(),
            .tensors = parse_model_list(read_file(text), text, dtype)};
  std::vector<std::string> names;
  for (const BuiltInModel& model : built_in_models()) {
    if (model.name == text)
      return {.name = text, .tensors = parse_model_list(model.text, text + ".csv", dtype)};
    names.emplace_back(model.name);
  }
  throw Error(ErrorKind::usage,
              fmt::format("unknown model '{}'{}; built in: {}; or give a path ending in .csv", text,
                          did_you_mean(text, names), fmt::join(names, ", ")));
}

Bytes bytes_of(const Tensor& tensor) {
  return {tensor.count.value * static_cast<std::int64_t>(size_of(tensor.dtype))};
}

Bytes bytes_of(std::span<const Tensor> tensors) {
  Bytes sum{};
  for (const Tensor& tensor : tensors) sum += bytes_of(tensor);
  return sum;
}

}  // namespace collmark
