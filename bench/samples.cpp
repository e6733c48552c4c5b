#include "bench/samples.hpp"

#include <fmt/format.h>

#include <iterator>

namespace collmark {

std::string samples_header() {
  return "schema,run_id,launch,seq,iteration,rank,batch,time_ns,disturbed,late\n";
}

std::string samples_rows(const Record& record) {
  const Measurement& m = record.result.measurement;
  std::string rows;
  for (std::size_t i = 0; i < m.samples.size(); ++i) {
    const Sample& sample = m.samples[i];
    const auto ranks = static_cast<std::size_t>(m.ranks);
    fmt::format_to(std::back_inserter(rows), "{},{},{},{},{},{},{},{},{},{}\n", kRecordSchema,
                   csv_cell(record.run_id), record.launch, record.seq, i / ranks, i % ranks,
                   m.batch, sample.time.count(), sample.disturbed ? 1 : 0, sample.late ? 1 : 0);
  }
  return rows;
}

}  // namespace collmark
