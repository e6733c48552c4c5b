#include "kernels/kernel_name.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr std::string_view kInterpreted = "_interpreted", kLinks = "/links", kLl = "/LL",
                           kSimple = "/simple";

}  // namespace

KernelName parse_kernel_name(std::string_view text) {
  const auto without = [&](std::string_view end) {
    return std::string(text.substr(0, text.size() - end.size()));
  };
  if (text.ends_with(kLinks)) return {without(kLinks), Way::links};
  if (text.ends_with(kLl)) return {without(kLl), Way::low_latency};
  if (text.ends_with(kSimple)) return {without(kSimple), Way::simple};
  if (const std::size_t slash = text.rfind('/');
      slash != std::string_view::npos && !text.starts_with("file:"))
    throw Error(ErrorKind::usage,
                fmt::format("'{}': after the / stands links, LL or simple, not '{}'", text,
                            text.substr(slash + 1)));
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view base = text.substr(0, colon);
  if (base.ends_with(kInterpreted))
    return {std::string(base.substr(0, base.size() - kInterpreted.size())) +
                std::string(text.substr(colon)),
            Way::interpreted};
  return {std::string(text), Way::standard};
}

std::string to_string(const KernelName& name) {
  const std::size_t colon = std::min(name.algorithm.find(':'), name.algorithm.size());
  switch (name.way) {
    case Way::interpreted:
      return name.algorithm.substr(0, colon) + std::string(kInterpreted) +
             name.algorithm.substr(colon);
    case Way::links:
      return name.algorithm + std::string(kLinks);
    case Way::low_latency:
      return name.algorithm + std::string(kLl);
    case Way::simple:
      return name.algorithm + std::string(kSimple);
    case Way::standard:
      break;
  }
  return name.algorithm;
}

}  // namespace collmark
