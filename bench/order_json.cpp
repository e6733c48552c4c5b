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

Json to_json(const RankGpu& g) {
  return {{"rank", g.rank},
          {"host", g.host},
          {"device", g.device},
          {"reason", g.reason},
          {"library", g.library}};
}

RankGpu gpu_from_json(const Json& json) {
  return {.rank = json.at("rank").get<int>(),
          .host = json.at("host").get<std::string>(),
          .device = json.at("device").get<std::string>(),
          .reason = json.at("reason").get<std::string>(),
          .library = json.at("library").get<std::string>()};
}

GpuKernels kernels_from_json(const Json& is_nccl) {
  return is_nccl.get<bool>() ? GpuKernels::nccl : GpuKernels::ours;
}

template <class Item>
Json list_of(const std::vector<Item>& items) {
  Json list = Json::array();
  for (const Item& item : items) list.push_back(to_json(item));
  return list;
}

}  // namespace

Json to_json(const MpiOrder& order) {
  if (const Case* const c = std::get_if<Case>(&order)) return {{"case", to_json(*c)}};
  if (const auto* const gpu = std::get_if<GpuCase>(&order))
    return {{"gpu_case",
             {{"case", to_json(gpu->c)},
              {"nccl", gpu->kernels == GpuKernels::nccl},
              {"launch", gpu->launch}}}};
  if (const auto* const gpus = std::get_if<GpusOrder>(&order))
    return {{"gpus", {{"ranks", gpus->ranks}, {"nccl", gpus->kernels == GpuKernels::nccl}}}};
  const auto& links = std::get<LinksOrder>(order);
  return {{"links", {{"ranks", links.ranks}, {"copied", links.copied.value}}}};
}

MpiOrder order_from_json(const Json& json) {
  if (json.contains("case")) return case_from_json(json.at("case"));
  if (json.contains("gpu_case")) {
    const Json& gpu = json.at("gpu_case");
    return GpuCase{.c = case_from_json(gpu.at("case")),
                   .kernels = kernels_from_json(gpu.at("nccl")),
                   .launch = gpu.at("launch").get<int>()};
  }
  if (json.contains("gpus")) {
    const Json& gpus = json.at("gpus");
    return GpusOrder{.ranks = gpus.at("ranks").get<int>(),
                     .kernels = kernels_from_json(gpus.at("nccl"))};
  }
  const Json& links = json.at("links");
  return LinksOrder{.ranks = links.at("ranks").get<int>(),
                    .copied = {links.at("copied").get<std::int64_t>()}};
}

Json to_json(const MpiAnswer& answer) {
  if (const auto* const result = std::get_if<CaseResult>(&answer)) return to_json(*result);
  if (const auto* const gpus = std::get_if<std::vector<RankGpu>>(&answer))
    return {{"gpus", list_of(*gpus)}};
  return {{"links", list_of(std::get<std::vector<PairLink>>(answer))}};
}

MpiAnswer answer_from_json(const Json& json) {
  if (json.contains("gpus")) {
    std::vector<RankGpu> gpus;
    for (const Json& gpu : json.at("gpus")) gpus.push_back(gpu_from_json(gpu));
    return gpus;
  }
  if (!json.contains("links")) return result_from_json(json);
  std::vector<PairLink> links;
  for (const Json& link : json.at("links")) links.push_back(link_from_json(link));
  return links;
}

}  // namespace collmark
