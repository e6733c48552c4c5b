#include "bench/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "collectives/error.hpp"

namespace collmark {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLook{20};        // between two looks at a process that should end
constexpr milliseconds kPatience{5000};  // before a process that was asked to end is killed

struct Pipe {
  int read = -1, write = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(ErrorKind::absent, fmt::format("no pipe: {}", std::strerror(errno)));
  return {ends[0], ends[1]};
}

/// NAME=value of this process with the changes applied.
std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> all = changes;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('=') + 1);
    if (std::none_of(changes.begin(), changes.end(),
                     [&](const std::string& change) { return change.starts_with(name); }))
      all.emplace_back(text);
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// Between fork and exec: nothing here allocates or locks, other threads' locks may be held for ever.
[[noreturn]] void become(char** words, char** environment, const std::array<int, 3>& streams,
                         int fault) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  for (int i = 0; i < 3; ++i) dup2(streams[static_cast<std::size_t>(i)], i);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int ignored : {SIGPIPE, SIGXFSZ}) std::signal(ignored, SIG_DFL);
  execve(words[0], words, environment);
  const int why = errno;
  (void)!write(fault, &why, sizeof why);
  _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const ChildCommand& command) {
  std::vector<std::string> words = command.words;
  std::vector<std::string> environment = environment_with(command.environment);
  const std::vector<char*> argv = pointers(words), envp = pointers(environment);
  const Pipe in = make_pipe(), out = make_pipe(), err = make_pipe(), fault = make_pipe();
  pid_ = fork();
  if (pid_ == 0)
    become(const_cast<char**>(argv.data()), const_cast<char**>(envp.data()),
           {in.read, out.write, err.write}, fault.write);
  int why = pid_ < 0 ? errno : 0;
  for (const int end : {in.read, out.write, err.write, fault.write}) close(end);
  if (pid_ > 0) (void)!read(fault.read, &why, sizeof why);  // nothing comes if exec succeeds
  close(fault.read);
  input_ = in.write;
  streams_[0].descriptor = out.read;
  streams_[1].descriptor = err.read;
  if (why == 0) return;
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  for (const int end : {in.write, out.read, err.read}) close(end);
  throw Error(ErrorKind::absent,
              fmt::format("cannot start {}: {}", command.words.front(), std::strerror(why)));
}

ChildProcess::~ChildProcess() {
  end();
  for (Stream& s : streams_)
    if (s.descriptor >= 0) close(s.descriptor);
}

void ChildProcess::write_line(std::string_view text) {
  std::string rest = std::string(text) + "\n";
  while (!rest.empty()) {
    const ssize_t written = input_ < 0 ? -1 : write(input_, rest.data(), rest.size());
    if (written < 0 && input_ >= 0 && errno == EINTR) continue;
    if (written < 0) throw Error(ErrorKind::lost, "the launched processes read no more");
    rest.erase(0, static_cast<std::size_t>(written));
  }
}

void ChildProcess::close_input() {
  if (input_ >= 0) close(input_);
  input_ = -1;
}

std::optional<ChildProcess::Line> ChildProcess::taken() {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    Stream& s = streams_[i];
    std::size_t length = s.text.find('\n');
    if (length == std::string::npos) {
      if (s.descriptor >= 0 || s.text.empty()) continue;
      length = s.text.size();  // the last line may lack its end
    }
    Line line{static_cast<From>(i), s.text.substr(0, length)};
    s.text.erase(0, length + 1);
    if (line.text.ends_with('\r')) line.text.pop_back();  // of a launcher that lends a terminal
    return line;
  }
  return std::nullopt;
}

void ChildProcess::read_some(milliseconds wait) {
  std::array<pollfd, 2> polled{};
  for (std::size_t i = 0; i < 2; ++i) polled[i] = {streams_[i].descriptor, POLLIN, 0};
  if (poll(polled.data(), polled.size(), static_cast<int>(wait.count())) <= 0) return;
  for (std::size_t i = 0; i < 2; ++i) {
    if (polled[i].revents == 0) continue;
    std::array<char, 65536> some{};
    const ssize_t size = read(polled[i].fd, some.data(), some.size());
    if (size > 0) {
      streams_[i].text.append(some.data(), static_cast<std::size_t>(size));
    } else if (size == 0 || errno != EINTR) {
      close(polled[i].fd);
      streams_[i].descriptor = -1;
    }
  }
}

std::optional<ChildProcess::Line> ChildProcess::next_line(milliseconds wait) {
  const auto until = steady_clock::now() + wait;
  while (true) {
    if (auto line = taken()) return line;
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    if (left.count() <= 0 || silent()) return std::nullopt;
    read_some(left);
  }
}

bool ChildProcess::silent() const {
  return std::all_of(streams_.begin(), streams_.end(),
                     [](const Stream& s) { return s.descriptor < 0 && s.text.empty(); });
}

bool ChildProcess::has_ended() {
  if (status_) return true;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
  status_ = status;
  return true;
}

/// What it still says is read on, so that it does not wait for a reader; unread lines stay.
bool ChildProcess::ended_within(milliseconds time) {
  const auto until = steady_clock::now() + time;
  while (!has_ended()) {
    if (steady_clock::now() >= until) return false;
    if (silent())
      poll(nullptr, 0, static_cast<int>(kLook.count()));
    else
      read_some(kLook);
  }
  return true;
}

std::string ChildProcess::ending() const {
  if (!status_) return "still running";
  if (WIFSIGNALED(*status_)) return fmt::format("killed by signal {}", WTERMSIG(*status_));
  return fmt::format("exit code {}", WEXITSTATUS(*status_));
}

void ChildProcess::end() noexcept {
  close_input();
  if (has_ended()) return;
  kill(pid_, SIGTERM);
  if (ended_within(kPatience)) return;
  kill(-pid_, SIGKILL);
  (void)ended_within(kPatience);
}

}  // namespace collmark
