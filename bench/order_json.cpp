#include "bench/order_json.hpp"

#include <nlohmann/json.hpp>

#include "bench/case_json.hpp"

namespace collmark {
namespace {

using Json = nlohmann::json;

Json to_json(const PairLink& l) {
  return {{"first", l.first},
          {"second", l.second},
          {"first_host", l.first_host},
          {"second_host", l.second_host},
          {"flag_s", l.flag.count()},
          {"copy_gb_per_s", l.copy_gb_per_s},
          {"shared_gb_per_s", l.shared_gb_per_s.value_or(0)}};
}

PairLink link_from_json(const Json& json) {
  return {.first = json.at("first").get<int>(),
          .second = json.at("second").get<int>(),
          .first_host = json.at("first_host").get<std::string>(),
          .second_host = json.at("second_host").get<std::string>(),
          .flag = Seconds{json.at("flag_s").get<double>()},
          .copy_gb_per_s = json.at("copy_gb_per_s").get<double>(),
          .shared_gb_per_s = json.at("shared_gb_per_s").get<double>()};
}

}  // namespace

Json to_json(const MpiOrder& order) {
  if (const Case* const c = std::get_if<Case>(&order)) return {{"case", to_json(*c)}};
  const auto& links = std::get<LinksOrder>(order);
  return {{"links", {{"ranks", links.ranks}, {"copied", links.copied.value}}}};
}

MpiOrder order_from_json(const Json& json) {
  if (json.contains("case")) return case_from_json(json.at("case"));
  const Json& links = json.at("links");
  return LinksOrder{.ranks = links.at("ranks").get<int>(),
                    .copied = {links.at("copied").get<std::int64_t>()}};
}

Json to_json(const MpiAnswer& answer) {
  if (const auto* const result = std::get_if<CaseResult>(&answer)) return to_json(*result);
  Json list = Json::array();
  for (const PairLink& link : std::get<std::vector<PairLink>>(answer))
    list.push_back(to_json(link));
  return list;
}

MpiAnswer answer_from_json(const Json& json) {
  if (!json.is_array()) return result_from_json(json);
  std::vector<PairLink> links;
  for (const Json& link : json) links.push_back(link_from_json(link));
  return links;
}

}  // namespace collmark
