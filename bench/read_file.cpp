#include "bench/read_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void refuse(const std::string& path, const char* why) {
  throw Error(ErrorKind::usage, fmt::format("cannot read '{}': {}", path, why));
}

}  // namespace

std::string read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file) refuse(path, std::strerror(errno));
  std::string text;
  std::array<char, 65536> block;
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block.data(), got);
    if (text.size() > kMostBytes) refuse(path, "it is larger than 1 GiB");
  }
  if (std::ferror(file.get()) != 0) refuse(path, std::strerror(errno));
  return text;
}

}  // namespace collmark
