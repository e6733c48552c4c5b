#include "bench/in_range.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>

namespace collmark {

CLI::Validator in_range(double least, double most) {
  const auto complaint = [=](const std::string& text) -> std::string {
    double value = 0.0;
    const char* const end = text.data() + text.size();
    const auto [stopped, fault] = std::from_chars(text.data(), end, value);
    const bool inside = fault == std::errc{} && stopped == end && least <= value && value <= most;
    return inside ? "" : fmt::format("'{}' is no number from {} to {}", text, least, most);
  };
  return {complaint, "", "in_range"};  // --help shows no limits: nobody comes near them
}

CLI::Validator whole_in_range(int least, int most) {
  const auto complaint = [=](const std::string& text) -> std::string {
    int value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, fault] = std::from_chars(text.data(), end, value);
    const bool inside = fault == std::errc{} && stopped == end && least <= value && value <= most;
    return inside ? "" : fmt::format("'{}' is no whole number from {} to {}", text, least, most);
  };
  return {complaint, fmt::format("{} to {}", least, most), "whole_in_range"};
}

}  // namespace collmark
