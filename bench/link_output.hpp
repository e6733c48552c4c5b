/// What `links` writes: rows, a document, a table. docs/records.md explains the columns.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/link_matrix.hpp"

namespace collmark {

/// All links of one backend.
struct LinkTable {
  std::string backend;
  std::string kind;  // of what they are between
  Bytes copied;
  std::vector<PairLink> pairs;
};

inline constexpr std::string_view kLinkCsvHeader =
    "backend,first,second,flag_ns,copy_bytes,copy_gb_per_s,shared_gb_per_s,first_host,second_host,"
    "low_latency_ns,engine_gb_per_s,launch_ns,reason,word_ns\n";

[[nodiscard]] std::string link_csv_rows(const std::vector<LinkTable>& all);
[[nodiscard]] nlohmann::json link_document(const std::vector<LinkTable>& all);
/// And the slowest link.
[[nodiscard]] std::string link_table(const LinkTable& links);

}  // namespace collmark
