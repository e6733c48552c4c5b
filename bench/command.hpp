/// The subcommands. Each registers its flags and a callback that runs it and stores the exit code
/// (exit_code() of an Error that escapes is set by main). Data goes to stdout or files, words to
/// stderr.
#pragma once

#include <CLI/App.hpp>

namespace collmark {

void add_doctor(CLI::App& app, int& status);
void add_algorithms(CLI::App& app, int& status);
void add_explain(CLI::App& app, int& status);
void add_verify(CLI::App& app, int& status);
void add_sweep(CLI::App& app, int& status);
void add_step(CLI::App& app, int& status);
void add_links(CLI::App& app, int& status);
void add_fit(CLI::App& app, int& status);

}  // namespace collmark
