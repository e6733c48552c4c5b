/// A GPU of this machine, and what is owned on it. All of it is used by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collectives/units.hpp"
#include "kernels/driver.hpp"

namespace collmark {

struct GpuFacts {
  int ordinal = 0;
  std::string name;
  std::string uuid;  // "GPU-xxxxxxxx-xxxx-..."
  std::string pci;   // "0000:17:00.0"
  int major = 0, minor = 0;
  int multiprocessors = 0;
  int most_threads = 0;  // of a block
  bool cooperative = false;
  Bytes memory, l2;
};

/// A device's primary context, for as long as it lives.
class PrimaryContext {
 public:
  PrimaryContext(const Driver& driver, const GpuFacts& facts);
  ~PrimaryContext();
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;
  [[nodiscard]] cu::Context handle() const { return context_; }

 private:
  const Driver& driver_;
  int ordinal_;
  cu::Context context_ = nullptr;
};

/// The same with our kernels in it.
class Gpu {
 public:
  ///   Throws   as Driver::check; Error{absent} for a driver older than the kernels, or no code for this GPU.
  Gpu(const Driver& driver, int ordinal);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  [[nodiscard]] const GpuFacts& facts() const { return facts_; }
  [[nodiscard]] const Driver& driver() const { return driver_; }
  [[nodiscard]] cu::Context context() const { return context_.handle(); }
  [[nodiscard]] Bytes free_memory() const;

  /// By symbol (kernel_list.hpp).
  [[nodiscard]] cu::Function kernel(const std::string& symbol);
  /// A variable of the kernels, by its name in on_gpu/platform.hpp; null if the driver does not find it.
  [[nodiscard]] std::byte* variable(const std::string& name, Bytes size) const;
  /// Blocks of a kernel that are on the device at once.
  [[nodiscard]] int resident_blocks(const std::string& symbol, int threads);

  /// What follows concerns this device: it is the calling thread's current one.
  void use() const;
  void check(cu::Status status, const std::string& doing) const;

 private:
  const Driver& driver_;
  GpuFacts facts_;
  PrimaryContext context_;
  cu::Module module_ = nullptr;
  std::map<std::string, cu::Function> kernels_;
};

/// Memory of a device. Its content is undefined at first.
class GpuMemory {
 public:
  GpuMemory() = default;
  GpuMemory(const Gpu& gpu, Bytes size);
  ~GpuMemory();
  GpuMemory(GpuMemory&& other) noexcept;
  GpuMemory& operator=(GpuMemory&& other) noexcept;

  /// Aligned to 256 bytes. Only for devices; null if the size is 0.
  [[nodiscard]] std::byte* data() const;
  [[nodiscard]] Bytes size() const { return size_; }

 private:
  const Gpu* gpu_ = nullptr;
  cu::Pointer pointer_ = 0;
  Bytes size_;
};

/// Memory of the host that devices reach, and that copies of a stream may use while the host does something else.
class PinnedMemory {
 public:
  PinnedMemory(const Gpu& gpu, Bytes size);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(pointer_); }
  /// The same for the device.
  [[nodiscard]] cu::Pointer on_device() const { return on_device_; }

 private:
  const Gpu& gpu_;
  void* pointer_ = nullptr;
  cu::Pointer on_device_ = 0;
};

class GpuEvent {
 public:
  explicit GpuEvent(const Gpu& gpu);
  ~GpuEvent();
  GpuEvent(const GpuEvent&) = delete;
  GpuEvent& operator=(const GpuEvent&) = delete;
  [[nodiscard]] cu::Event handle() const { return event_; }
  /// Is everything done that the stream was given before the event?  Throws what went wrong there.
  [[nodiscard]] bool passed() const;
  /// Both must have passed.
  [[nodiscard]] Seconds since(const GpuEvent& start) const;

 private:
  const Gpu& gpu_;
  cu::Event event_ = nullptr;
};

/// What a stream was given between begin_capture() and end_capture(), to be given to it again as a whole. The memory that it
/// names must live as long.
class GpuGraph {
 public:
  GpuGraph(const Gpu& gpu, cu::Graph captured);  // takes it over
  ~GpuGraph();
  GpuGraph(const GpuGraph&) = delete;
  GpuGraph& operator=(const GpuGraph&) = delete;
  [[nodiscard]] cu::GraphExec handle() const { return exec_; }

 private:
  const Gpu& gpu_;
  cu::GraphExec exec_ = nullptr;
};

struct Grid {
  int blocks = 1;
  int threads = 32;
};

/// Work of a device in order. Everything returns at once; memory that it names must live until the work is done.
class GpuStream {
 public:
  explicit GpuStream(Gpu& gpu);
  ~GpuStream();
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;

  [[nodiscard]] Gpu& gpu() const { return gpu_; }
  /// For libraries that queue work of their own.
  [[nodiscard]] cu::Stream handle() const { return stream_; }

  /// `argument`: the one parameter of the kernel; copied.
  template <class Argument>
  void launch(const std::string& kernel, Grid grid, const Argument& argument) {
    launch_with(kernel, grid, &argument, Together::no);
  }
  /// Its blocks may wait for each other: they all run at once, or Unsupported is thrown.
  template <class Argument>
  void launch_together(const std::string& kernel, Grid grid, const Argument& argument) {
    launch_with(kernel, grid, &argument, Together::yes);
  }
  void copy_to_device(std::byte* to, const std::byte* from, Bytes size);
  void copy_to_host(std::byte* to, const std::byte* from, Bytes size);
  /// Within this device, or between it and one that it reaches: by the copy engines, or as the driver pleases.
  void copy(std::byte* to, const std::byte* from, Bytes size);
  void set(std::byte* to, unsigned char value, Bytes size);
  /// Until the 32-bit word has reached `value`, as reached() of flag.hpp says.
  void wait_for(cu::Pointer word, std::uint32_t value);
  void record(const GpuEvent& event);

  /// From here on nothing runs: what the stream is given, by whatever thread, is kept for end_capture().
  void begin_capture();
  [[nodiscard]] std::unique_ptr<GpuGraph> end_capture();
  /// Ends a capture, if there is one, and forgets what was captured.
  void drop_capture() noexcept;
  /// Brings it to the device: a launch need not any more.
  void upload(const GpuGraph& graph);
  /// May be called by several threads, for a stream each.
  void replay(const GpuGraph& graph);

 private:
  enum class Together { no, yes };
  void launch_with(const std::string& kernel, Grid grid, const void* argument, Together together);
  void check(cu::Status status, const std::string& doing) const { gpu_.check(status, doing); }

  Gpu& gpu_;
  cu::Stream stream_ = nullptr;
};

/// The GPUs that the driver shows, but for those that cannot be used: one that the kernels were not built for, or that
/// another process holds alone.
class Gpus {
 public:
  ///   Throws   Error{absent}: one line why none can be used.
  Gpus();
  /// One of them alone: number `which` modulo how many there are. No other is touched.
  explicit Gpus(int which);
  Gpus(const Gpus&) = delete;
  Gpus& operator=(const Gpus&) = delete;
  ~Gpus() = default;

  [[nodiscard]] int size() const { return static_cast<int>(all_.size()); }
  [[nodiscard]] Gpu& operator[](int i) const { return *all_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Driver& driver() const { return driver_; }
  /// Those that cannot be used, a line each: which, and why.
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }
  /// The least of the first `count` devices.
  [[nodiscard]] Bytes free_memory(int count) const;
  /// Makes the first `count` devices reach each other's memory. Why they cannot, one line that names two; empty if
  /// they can.
  [[nodiscard]] std::string connect(int count);
  /// The same of two devices.
  [[nodiscard]] std::string connect(int a, int b);

 private:
  [[nodiscard]] std::string reach(int from, int to);

  Driver driver_;
  std::vector<std::unique_ptr<Gpu>> all_;
  std::vector<std::string> left_out_;
};

}  // namespace collmark
