#include "bench/proof.hpp"

#include <fmt/format.h>

#include "bench/pick.hpp"
#include "collectives/verify.hpp"

namespace collmark {

std::string disproof(std::string_view algorithm, const Schedule& s) {
  if (!is_file(algorithm)) return "";
  const Verdict verdict = verify(s);
  return verdict.ok() ? "" : fmt::format("wrong schedule: {}", to_string(verdict.wrong.front()));
}

}  // namespace collmark
