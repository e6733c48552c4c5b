#include "bench/csv_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "bench/read_file.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw Error(ErrorKind::usage, fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

/// Two runs that write one file would each do the other's cases again. The lock ends with the
/// descriptor, however the program ends; a file system without locks is none of our business.
void lock(const std::string& path, int descriptor) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(descriptor);
  throw Error(ErrorKind::usage, fmt::format("'{}' is being written by another run", path));
}

}  // namespace

CsvFile CsvFile::create(const std::string& path, std::string_view header) {
  struct stat info {};
  const bool special =
      stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);  // /dev/stdout, a pipe
  const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | (special ? 0 : O_CREAT | O_EXCL);
  const int descriptor = open(path.c_str(), flags, 0666);
  if (descriptor < 0 && errno == EEXIST)
    throw Error(ErrorKind::usage,
                fmt::format("'{}' exists; --resume finishes it, --append adds to it", path));
  if (descriptor < 0) refuse(path);
  if (!special) lock(path, descriptor);
  CsvFile file(path, descriptor, 0);
  try {
    file.append(header);
  } catch (const Error& e) {  // seen before anything was measured
    if (!special) unlink(path.c_str());
    throw Error(ErrorKind::usage, e.what());
  }
  return file;
}

CsvFile CsvFile::extend(const std::string& path, std::string_view header) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) refuse(path);
  lock(path, descriptor);
  CsvFile file(path, descriptor, 0);
  const std::string all = read_file(path);
  if (!std::string_view(all).starts_with(header))
    throw Error(
        ErrorKind::usage,
        fmt::format("{}:1: expected the header that this version writes, starting with '{}'", path,
                    header.substr(0, header.find(',', header.find(',') + 1))));
  file.size_ = static_cast<std::int64_t>(all.rfind('\n') + 1);
  if (ftruncate(descriptor, file.size_) != 0) refuse(path);
  return file;
}

CsvFile::CsvFile(CsvFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

CsvFile::~CsvFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void CsvFile::append(std::string_view rows) {
  ssize_t written = 0;
  do written = write(descriptor_, rows.data(), rows.size());
  while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(rows.size())) {
    size_ += written;
    return;
  }
  const int why = written < 0 ? errno : ENOSPC;  // a short write says no reason; the disk is full
  const bool whole = written <= 0 || ftruncate(descriptor_, size_) == 0;
  throw Error(ErrorKind::output_failed,
              fmt::format("cannot write '{}': {}; {}", path_, std::strerror(why),
                          whole ? "the rows before are whole" : "its last row is cut off"));
}

}  // namespace collmark
