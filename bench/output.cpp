#include "bench/output.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "bench/launcher.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

[[noreturn]] void cannot_write(ErrorKind kind, std::string_view what) {
  throw Error(kind, fmt::format("cannot write {}: {}", what, std::strerror(errno)));
}

/// Of the processes of a launched job rank 0 speaks: what the others would say, it says too.
bool speaks() {
  static const std::optional<Launcher> job = launcher();
  return !job || job->rank == 0;
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

/// Beside the target, so that the rename stays on one file system.
std::string temporary_name(const std::string& path) {
  return fmt::format("{}.{}.tmp", path, getpid());
}

File open_for_writing(const std::string& path, const std::string& asked) {
  struct stat info {};
  if (stat(asked.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    cannot_write(ErrorKind::usage, "'" + asked + "'");
  }
  File file(std::fopen(path.c_str(), "wb"));
  if (!file) cannot_write(ErrorKind::usage, "'" + asked + "'");
  return file;
}

void write_all(File file, std::string_view text, const std::string& path) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  const bool closed = std::fclose(file.release()) == 0;
  if (!whole || !closed) cannot_write(ErrorKind::output_failed, "'" + path + "'");
}

}  // namespace

void put(std::string_view text) {
  if (!speaks()) return;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() || errno == EPIPE) return;
  cannot_write(ErrorKind::output_failed, "to stdout");
}

void flush_output() {
  if (std::fflush(stdout) == 0 || errno == EPIPE) return;
  cannot_write(ErrorKind::output_failed, "to stdout");
}

void say(std::string_view text) {
  if (!speaks()) return;
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

bool is_special(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

void require_writable(const std::string& path) {
  if (is_special(path)) return void(open_for_writing(path, path));
  const std::string temporary = temporary_name(path);
  open_for_writing(temporary, path).reset();
  std::remove(temporary.c_str());
  if (access(path.c_str(), F_OK) == 0 && access(path.c_str(), W_OK) != 0)
    cannot_write(ErrorKind::usage, "'" + path + "'");
}

void replace_file(const std::string& path, std::string_view text) {
  if (is_special(path)) return write_all(open_for_writing(path, path), text, path);
  const std::string temporary = temporary_name(path);
  File file = open_for_writing(temporary, path);
  try {
    write_all(std::move(file), text, path);
    if (std::rename(temporary.c_str(), path.c_str()) != 0)
      cannot_write(ErrorKind::output_failed, "'" + path + "'");
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
}

}  // namespace collmark
