#include "bench/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "collectives/suggest.hpp"

namespace collmark {
namespace {

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
  }
  return flags;
}

std::vector<std::string> commands_of(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::string unknown_flag(const CLI::App& command, std::string_view argument) {
  const std::string_view flag = argument.substr(0, argument.find('='));
  const std::string where = command.get_parent() == nullptr ? "" : command.get_name() + ": ";
  const bool is_letter = !flag.starts_with("--");  // every other letter is as near as the next
  return fmt::format("{}unknown flag '{}'{}", where, flag,
                     is_letter ? "" : did_you_mean(flag, flags_of(command)));
}

/// What was left over at a command, in the order in which a person would look for the slip: the
/// parser reports a missing argument first, but `--rnks 4` is why `--ranks` is missing.
std::string leftover(const CLI::App& program, const CLI::App& command) {
  const std::vector<std::string> rest = command.remaining();
  if (rest.empty()) return "";
  const auto is_flag = [](const std::string& a) { return a.size() > 1 && a[0] == '-'; };
  if (&command == &program && !is_flag(rest.front())) {
    const std::vector<std::string> commands = commands_of(program);
    return fmt::format("unknown command '{}'{}; there are: {}", rest.front(),
                       did_you_mean(rest.front(), commands), fmt::join(commands, ", "));
  }
  const auto flag = std::find_if(rest.begin(), rest.end(), is_flag);
  if (flag != rest.end()) return unknown_flag(command, *flag);
  return fmt::format("{}: unexpected argument '{}'", command.get_name(), rest.front());
}

}  // namespace

const CLI::App& command_of(const CLI::App& program) {
  const auto named = program.get_subcommands();
  return named.empty() ? program : command_of(*named.back());
}

std::string usage_error(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& command = command_of(program);
  if (std::string rest = leftover(program, command); !rest.empty()) return rest;
  if (&command == &program && program.get_subcommands().empty() &&
      error.get_name() == "RequiredError")
    return fmt::format("expected a command: {}", fmt::join(commands_of(program), ", "));
  return fmt::format("{}: {}", command.get_name(), error.what());
}

}  // namespace collmark
