#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "bench/command.hpp"
#include "bench/interrupt.hpp"
#include "bench/mpi_support.hpp"
#include "bench/output.hpp"
#include "bench/usage_error.hpp"
#include "bench/version.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

int report(ErrorKind kind, const std::string& what) {
  say("collmark: " + what + "\n");
  return exit_code(kind);
}

void add_commands(CLI::App& program, int& status) {
  add_doctor(program, status);
  add_algorithms(program, status);
  add_explain(program, status);
  add_verify(program, status);
  add_sweep(program, status);
  add_step(program, status);
  add_links(program, status);
  add_fit(program, status);
  add_mpi_rank(program, status);
}

/// Help and version are data that was asked for; everything else the parser throws is a usage
/// error.
int parse_ended(const CLI::App& program, const CLI::ParseError& end) {
  if (end.get_exit_code() != 0)
    return report(ErrorKind::usage, usage_error(program, end) + "; see --help");
  if (end.get_name() == "CallForVersion")
    put(version_text() + "\n");
  else
    put(program.help());
  flush_output();
  return 0;
}

/// A file opened while 0, 1 or 2 is closed would get that number, and what is printed would land in
/// it.
void keep_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) < 0) (void)open("/dev/null", O_RDWR);
}

/// No flag means anything by an empty value; it is the trace of a shell variable that is not set.
void refuse_empty_words(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word.empty() || (word.starts_with("--") && word.find('=') == word.size() - 1))
      throw Error(ErrorKind::usage,
                  fmt::format("the value after '{}' is empty; is a shell variable "
                              "not set?",
                              word.empty() ? argv[i - 1] : argv[i]));
  }
}

int run(int argc, char** argv) {
  refuse_empty_words(argc, argv);
  CLI::App program{
      "collmark measures collective communication and sets it beside its cost formulas.",
      "collmark"};
  program.set_version_flag("--version", version_text());
  program.require_subcommand(1);
  int status = 0;
  add_commands(program, status);
  program.footer(
      "Start with:  collmark doctor\n"
      "Exit codes:  0 ok, 2 usage, 5 wrong result, 6 nothing measured, 7 hang, 8 rank lost, 77 "
      "backend absent");
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    return parse_ended(program, end);
  }
  flush_output();
  return status;
}

}  // namespace
}  // namespace collmark

int main(int argc, char** argv) {
  using collmark::ErrorKind;
  collmark::keep_standard_streams();
  collmark::honour_nohup();
  std::signal(SIGPIPE,
              SIG_IGN);  // a closed reader shows as EPIPE, where it can be told from a full disk
  try {
    return collmark::run(argc, argv);
  } catch (const collmark::Error& e) {
    return collmark::report(e.kind(), e.what());
  } catch (const std::bad_alloc&) {
    return collmark::report(ErrorKind::broken, "out of memory");
  } catch (const std::exception& e) {
    return collmark::report(ErrorKind::broken, std::string("internal error: ") + e.what());
  } catch (...) {
    return collmark::report(ErrorKind::broken, "internal error");
  }
}
