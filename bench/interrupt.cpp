#include "bench/interrupt.hpp"

#include <pthread.h>

#include <csignal>
#include <ctime>
#include <utility>

namespace collmark {
namespace {

constexpr timespec kLook{.tv_sec = 0,
                         .tv_nsec = 50'000'000};  // how long an unneeded listener lingers

bool is_ignored(int signal) {
  struct sigaction now {};
  sigaction(signal, nullptr, &now);
  return now.sa_handler == SIG_IGN;
}

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  if (!is_ignored(SIGHUP)) sigaddset(&set, SIGHUP);  // ignored: nohup wants the run to go on
  return set;
}

/// Is SIGHUP ignored, before any library's own constructor runs? The UCX library of some MPIs takes the signal for
/// itself there (UCX_DEBUG_SIGNO), and whether nohup had it ignored can be told no more.
bool began_without_hangup = false;
[[gnu::no_sanitize("thread", "address", "undefined")]] void look(int, char**, char**) {
  began_without_hangup = is_ignored(SIGHUP);
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)(int, char**,
                                                                             char**) = look;

}  // namespace

void honour_nohup() {
  if (began_without_hangup) std::signal(SIGHUP, SIG_IGN);
}

InterruptListener::InterruptListener(std::function<void()> on_interrupt)
    : on_interrupt_(std::move(on_interrupt)) {
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  thread_ = std::thread([this] { listen(); });
}

InterruptListener::~InterruptListener() {
  done_.store(true, std::memory_order_relaxed);
  thread_.join();
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void InterruptListener::listen() {
  const sigset_t signals = stop_signals();
  while (!done_.load(std::memory_order_relaxed)) {
    if (sigtimedwait(&signals, nullptr, &kLook) < 0) continue;
    interrupted_.store(true, std::memory_order_relaxed);
    on_interrupt_();
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // a second signal ends the program here
  }
}

}  // namespace collmark
