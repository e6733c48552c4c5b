/// The table that a person reads while a sweep runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/record.hpp"
#include "bench/sweep_config.hpp"
#include "bench/table.hpp"

namespace collmark {

class SweepTable {
 public:
  /// Whatever has more than one value in `config` gets a column.
  explicit SweepTable(const SweepConfig& config);

  [[nodiscard]] std::string header() const;
  [[nodiscard]] std::string row(const Record& record) const;

 private:
  struct Field {
    Column column;
    std::function<std::string(const Record&)> cell;
  };
  static std::vector<Field> fields(const SweepConfig& config);

  std::vector<Field> fields_;
  Table table_;
};

}  // namespace collmark
