#include "bench/config_file.hpp"

#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "bench/read_file.hpp"
#include "collectives/error.hpp"
#include "collectives/suggest.hpp"

namespace collmark {
namespace {

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\"";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin));
}

/// The lines [from 1] that set `key` for `command`: at the top, or in its section. The parser keeps no line
/// numbers, and takes a second value for more of the first.
std::vector<std::size_t> lines_that_set(const std::string& key, const std::string& command,
                                        const std::string& text) {
  std::vector<std::size_t> found;
  std::istringstream lines(text);
  std::string section;
  std::size_t number = 1;
  for (std::string line; std::getline(lines, line); ++number) {
    const std::string words = trimmed(line);
    if (words.starts_with('[') && words.find(']') != std::string::npos)
      section = trimmed(words.substr(1, words.find(']') - 1));
    else if ((section.empty() || section == command) &&
             trimmed(words.substr(0, words.find('='))) == key)
      found.push_back(number);
  }
  return found;
}

/// A terminal would obey a message that repeats such bytes, and a NUL byte would end it.
void require_text(const std::string& text, const std::string& path) {
  constexpr std::string_view kLayout = "\t\r\n";
  for (auto at = text.begin(); at != text.end(); ++at) {
    const auto c = static_cast<unsigned char>(*at);
    if ((c >= 0x20 && c != 0x7F) || kLayout.find(*at) != std::string_view::npos) continue;
    throw Error(ErrorKind::usage, fmt::format("{}:{}: control character 0x{:02X}; expected text",
                                              path, 1 + std::count(text.begin(), at, '\n'), c));
  }
}

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  return names;
}

void give(CLI::Option& option, const std::string& value) {
  const bool is_switch = option.get_expected_max() == 0;
  if (is_switch && value == "false") return;
  option.add_result(value);
  option.run_callback();
}

}  // namespace

ConfigFile::ConfigFile(CLI::App& command, const std::string& path) : path_(path) {
  if (path.empty()) return;
  const std::string text = read_file(path);
  require_text(text, path);
  std::istringstream in(text);
  for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(in)) {
    if (item.name == "++" || item.name == "--") continue;  // the parser's marks of a section
    if (item.parents.empty() || item.parents.front() == command.get_name())
      apply(command, item, text);
  }
}

void ConfigFile::apply(CLI::App& command, const CLI::ConfigItem& item, const std::string& text) {
  const std::vector<std::size_t> lines = lines_that_set(item.name, command.get_name(), text);
  const std::size_t line = lines.empty() ? 1 : lines.back();
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::usage, fmt::format("{}:{}: {}", path_, line, why));
  };
  CLI::Option* const option = command.get_option_no_throw("--" + item.name);
  if (option == nullptr)
    refuse(fmt::format("'{}' is not a flag of {}{}", item.name, command.get_name(),
                       did_you_mean(item.name, flags_of(command))));
  if (lines.size() > 1)
    refuse(fmt::format("'{}' is set a second time; line {} has it already", item.name, lines[0]));
  if (option->count() > 0) return;  // the command line wins
  if (item.inputs.empty()) refuse(fmt::format("expected '{} = VALUE'", item.name));
  const std::string value = fmt::format("{}", fmt::join(item.inputs, ","));  // [2, 4] is 2,4
  try {
    give(*option, value);
  } catch (const CLI::Error& e) {
    refuse(e.what());
  }
  values_.push_back({value, line});
  for (const std::string& part : item.inputs) values_.push_back({part, line});
}

std::string ConfigFile::place_of(const std::string& complaint) const {
  for (const Value& value : values_)
    if (complaint.find("'" + value.text + "'") != std::string::npos)
      return fmt::format("{}:{}: ", path_, value.line);
  return "";
}

}  // namespace collmark
