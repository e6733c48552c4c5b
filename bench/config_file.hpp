/// Flags from a TOML file: `ranks = "2:4"`, one key per long flag, at the top or under [command].
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "collectives/error.hpp"

namespace collmark {

/// Where the values of a file stand: a complaint about one of them, made by whoever reads it later, is
/// given its file and line.
class ConfigFile {
 public:
  /// Gives every flag of `command` that was not on the command line the value of its key in the file.
  /// Sections of other commands are passed over. An empty path is no file.
  ///   Throws   Error{usage} with file:line for a key that is no flag or is set twice, and for a value that
  ///            the flag does not take.
  ConfigFile(CLI::App& command, const std::string& path);

  /// What `read` gives, or its Error{usage} with the file:line of the value that it quotes.
  template <class Read>
  auto locate(const Read& read) const {
    try {
      return read();
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::usage) throw;
      throw Error(e.kind(), place_of(e.what()) + e.what());
    }
  }

 private:
  struct Value {
    std::string text;
    std::size_t line;  // from 1
  };

  void apply(CLI::App& command, const CLI::ConfigItem& item, const std::string& text);
  /// "sweep.toml:3: ", or nothing if the complaint is about no value of the file.
  [[nodiscard]] std::string place_of(const std::string& complaint) const;

  std::string path_;
  std::vector<Value> values_;
};

}  // namespace collmark
