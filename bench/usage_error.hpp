/// What was wrong with the command line, in one line with a suggestion.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace collmark {

/// The innermost command that was named: `sweep` of `collmark sweep --foo`, or the program itself.
[[nodiscard]] const CLI::App& command_of(const CLI::App& program);

/// Words a parse error after a failed parse of `program`: unknown flags and commands get a
/// did-you-mean.
[[nodiscard]] std::string usage_error(const CLI::App& program, const CLI::ParseError& error);

}  // namespace collmark
