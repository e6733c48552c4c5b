#include "kernels/stub_driver/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

namespace collmark::stub {
namespace {

constexpr std::size_t kPage = 4096;  // behind the data: how many have it open

/// What a handle holds.
struct Exported {
  pid_t process = 0;
  int file = -1;
  std::size_t bytes = 0;
};
static_assert(sizeof(Exported) <= sizeof(cu::IpcHandle));

}  // namespace

std::byte* SharedMemory::mapped(int file, std::size_t bytes) {
  void* const place = mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return place == MAP_FAILED ? nullptr : static_cast<std::byte*>(place);
}

std::unique_ptr<SharedMemory> SharedMemory::create(std::size_t bytes) {
  const int file = memfd_create("collmark stub", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  std::byte* const data =
      ftruncate(file, static_cast<off_t>(bytes + kPage)) == 0 ? mapped(file, bytes) : nullptr;
  if (data == nullptr) return close(file), nullptr;
  return std::unique_ptr<SharedMemory>(new SharedMemory(file, data, bytes, Role::owner));
}

std::unique_ptr<SharedMemory> SharedMemory::open(const cu::IpcHandle& handle) {
  Exported exported;
  std::memcpy(&exported, handle.bytes, sizeof exported);
  const std::string path =
      "/proc/" + std::to_string(exported.process) + "/fd/" + std::to_string(exported.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  std::byte* const data = mapped(file, exported.bytes);
  if (data == nullptr) return close(file), nullptr;
  std::unique_ptr<SharedMemory> one(new SharedMemory(file, data, exported.bytes, Role::guest));
  std::atomic_ref(one->guests()).fetch_add(1);
  return one;
}

SharedMemory::~SharedMemory() {
  if (role_ == Role::guest) std::atomic_ref(guests()).fetch_sub(1);
  munmap(data_, bytes_ + kPage);
  close(file_);
}

cu::IpcHandle SharedMemory::handle() const {
  const Exported exported{.process = getpid(), .file = file_, .bytes = bytes_};
  cu::IpcHandle handle{};
  std::memcpy(handle.bytes, &exported, sizeof exported);
  return handle;
}

int SharedMemory::opened() const { return std::atomic_ref(guests()).load(); }

int& SharedMemory::guests() const { return *reinterpret_cast<int*>(data_ + bytes_); }

}  // namespace collmark::stub
