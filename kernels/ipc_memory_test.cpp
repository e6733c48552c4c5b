#include "kernels/ipc_memory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>

#include "kernels/with_stub.hpp"

namespace collmark {
namespace {

constexpr Bytes kBlock{2 << 20};

/// Bytes from one process to another.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~Pipe() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  template <class T>
  void send(const T& value) {
    EXPECT_EQ(write(ends_[1], &value, sizeof value), static_cast<ssize_t>(sizeof value));
  }
  template <class T>
  T receive() {
    T value{};
    EXPECT_EQ(read(ends_[0], &value, sizeof value), static_cast<ssize_t>(sizeof value));
    return value;
  }

 private:
  std::array<int, 2> ends_{};
};

/// Opens what comes through a pipe, writes a 7 to its beginning, closes it when it is told to.
void be_a_guest(Pipe& to_guest, Pipe& from_guest) {
  const Gpus gpus;
  const Gpu& gpu = gpus[0];
  gpu.use();
  cu::Pointer base = 0;
  const auto handle = to_guest.receive<cu::IpcHandle>();
  const cu::Status opened = gpu.driver()->ipc_open(&base, handle, cu::kIpcReachPeer);
  if (opened == cu::Status::success)
    *reinterpret_cast<char*>(base) = 7;  // NOLINT(performance-no-int-to-ptr)
  from_guest.send(opened);
  (void)to_guest.receive<char>();
  from_guest.send(gpu.driver()->ipc_close(base));
}

/// What `owner` sees of memory that another process opens, and closes when it gets a byte.
void with_guest(const std::function<void(const Gpu&, Pipe& to_guest, Pipe& from_guest)>& owner) {
  const WithStub stub;
  Pipe to_guest, from_guest;
  const pid_t guest = fork();  // first: a driver with its threads is not for two processes
  if (guest == 0) {
    be_a_guest(to_guest, from_guest);
    _exit(0);
  }
  {
    const Gpus gpus;
    owner(gpus[0], to_guest, from_guest);
  }
  waitpid(guest, nullptr, 0);
}

TEST(StubIpc, AnotherProcessWritesToTheSameMemory) {
  with_guest([](const Gpu& gpu, Pipe& to_guest, Pipe& from_guest) {
    const GpuMemory memory(gpu, kBlock);
    cu::IpcHandle handle{};
    gpu.check(gpu.driver()->ipc_get(&handle, reinterpret_cast<cu::Pointer>(memory.data())),
              "exporting");
    to_guest.send(handle);
    EXPECT_EQ(from_guest.receive<cu::Status>(), cu::Status::success);
    EXPECT_EQ(*memory.data(), std::byte{7});
    to_guest.send('.');
    EXPECT_EQ(from_guest.receive<cu::Status>(), cu::Status::success);
  });
}

TEST(StubIpc, MemoryThatAnotherProcessHasOpenIsNotGivenBack) {
  with_guest([](const Gpu& gpu, Pipe& to_guest, Pipe& from_guest) {
    gpu.use();
    cu::Pointer memory = 0;
    ASSERT_EQ(gpu.driver()->mem_alloc(&memory, static_cast<std::size_t>(kBlock.value)),
              cu::Status::success);
    cu::IpcHandle handle{};
    ASSERT_EQ(gpu.driver()->ipc_get(&handle, memory), cu::Status::success);
    to_guest.send(handle);
    EXPECT_EQ(from_guest.receive<cu::Status>(), cu::Status::success);
    EXPECT_NE(gpu.driver()->mem_free(memory), cu::Status::success);
    to_guest.send('.');
    (void)from_guest.receive<cu::Status>();
  });
}

TEST(StubIpc, SmallAllocationsAreFoundByAddressAndCannotBeExported) {
  const WithStub stub;
  const Gpus gpus;
  const GpuMemory memory(gpus[0], Bytes{100});
  const auto pointer = reinterpret_cast<cu::Pointer>(memory.data());
  cu::Pointer base = 0;
  std::size_t size = 0;
  ASSERT_EQ(gpus.driver()->mem_get_address_range(&base, &size, pointer + 99), cu::Status::success);
  EXPECT_EQ(base, pointer);
  EXPECT_EQ(size, 100u);
  EXPECT_NE(gpus.driver()->mem_get_address_range(&base, &size, pointer + 100), cu::Status::success);
  cu::IpcHandle handle{};
  EXPECT_NE(gpus.driver()->ipc_get(&handle, pointer), cu::Status::success);
}

TEST(Gpus, OfOneAloneTheNumberWrapsAround) {
  const WithStub stub("", 3);
  const Gpus second(4);
  EXPECT_EQ(second.size(), 1);
  EXPECT_EQ(second[0].facts().ordinal, 1);
}

}  // namespace
}  // namespace collmark
