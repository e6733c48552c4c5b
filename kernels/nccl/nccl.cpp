#include "kernels/nccl/nccl.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr int kOldest = 21800;  // with ncclCommSplit
constexpr int kSharesGpusSince = 23000;

std::string library_path() {
  const char* const chosen = std::getenv("COLLMARK_NCCL");
  return chosen != nullptr && *chosen != '\0' ? chosen : "libnccl.so.2";
}

Error absent(const std::string& why) { return Error(ErrorKind::absent, why); }

template <class Function>
void resolve(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
}

template <class Function>
void require(Function function, const char* symbol) {
  if (function == nullptr)
    throw absent(std::string("this is no NCCL, or one older than ") + nccl_version(kOldest) +
                 ": it has no " + symbol);
}

/// NCCL's words may have several lines.
std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Nccl::Nccl() : Nccl(library_path()) {}

Nccl::Nccl(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr)
    throw absent(std::string("no NCCL: ") + dlerror() +
                 "; COLLMARK_NCCL may name the library's path");
#define COLLMARK_RESOLVE(result, name, symbol, parameters) \
  resolve(library, #symbol, functions_.name);
  COLLMARK_NCCL_FUNCTIONS(COLLMARK_RESOLVE)
  COLLMARK_NCCL_OPTIONAL(COLLMARK_RESOLVE)
#undef COLLMARK_RESOLVE
  require(functions_.get_version, "ncclGetVersion");
  check(functions_.get_version(&version_), nullptr, "asking for its version");
  if (version_ < kOldest)
    throw absent("NCCL " + nccl_version(version_) + " is too old: " + nccl_version(kOldest) +
                 " or newer is needed (" + path + ")");
#define COLLMARK_REQUIRE(result, name, symbol, parameters) require(functions_.name, #symbol);
  COLLMARK_NCCL_FUNCTIONS(COLLMARK_REQUIRE)
#undef COLLMARK_REQUIRE
  const auto* const stub = static_cast<const char*>(dlsym(library, "collmark_stub_nccl"));
  name_ = stub != nullptr ? stub : "NCCL " + nccl_version(version_);
}

bool Nccl::registers() const {
  return functions_.mem_alloc != nullptr && functions_.mem_free != nullptr &&
         functions_.register_buffer != nullptr && functions_.deregister_buffer != nullptr;
}

void Nccl::check(nccl::Result result, nccl::Comm comm, std::string_view doing) const {
  if (result == nccl::Result::success) return;
  std::string line = "NCCL, " + std::string(doing) + ": ";
  line += functions_.get_error_string != nullptr
              ? one_line(functions_.get_error_string(result))
              : "error " + std::to_string(static_cast<int>(result));
  if (functions_.get_last_error != nullptr) {
    const char* const words = functions_.get_last_error(comm);
    if (words != nullptr && *words != '\0') line += "; " + one_line(words);
  }
  throw Error(ErrorKind::lost, line);
}

/// It may be a stub, whose name says so; the version is that of what it stands for.
std::string one_rank_per_gpu(const Nccl& nccl) {
  std::string refuses = "NCCL " + nccl_version(nccl.version()) + " refuses two ranks on one GPU";
  if (nccl.version() < kSharesGpusSince) return refuses;
  return refuses +
         " unless NCCL_MULTI_RANK_GPU_ENABLE is set, and such ranks are not measured here";
}

/// NCCL_VERSION of nccl.h: two digits for the minor number since 2.9.
std::string nccl_version(int number) {
  const int major = number < 10'000 ? number / 1'000 : number / 10'000;
  const int minor = number < 10'000 ? number / 100 % 10 : number / 100 % 100;
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(number % 100);
}

}  // namespace collmark
