// Takes SIGHUP for itself before main() begins, as the UCX library under Open MPI 5 does.
#include <csignal>

namespace {
[[gnu::constructor]] void take() {
  std::signal(SIGHUP, [](int) {});
}
}  // namespace
