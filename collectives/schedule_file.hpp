/// A schedule as a JSON file, so that an algorithm author needs no compiler:
///
///   {"format": "collmark-schedule", "version": 1, "collective": "all_reduce",
///    "ranks": 2, "chunks": 1, "root": 0, "servers": 0,
///    "steps": [
///      [{"src": 0, "dst": 1, "src_chunk": 0, "dst_chunk": 0, "verb": "reduce", "count": 1}],
///      [{"src": 1, "dst": 0, "src_chunk": 0, "dst_chunk": 0, "verb": "copy", "count": 1}]]}
///
/// May be left out: "root" and "servers" (0), "dst_chunk" (as "src_chunk"), "count" (1), and all
/// three for the verb "signal", which moves no data. Everything else that is missing, unknown,
/// twice there, of another type or out of range is refused: a file is read whole or not at all.
///
/// Written by `explain --json`, checked by `verify file:PATH`, run by `sweep --algorithm file:PATH`.
#pragma once

#include <cstdint>
#include <string>

#include "collectives/schedule.hpp"

namespace collmark {

/// Limits of a file, so that a slip of the pen asks for no impossible amount of memory.
inline constexpr std::int64_t kMostFileBytes = std::int64_t{256} << 20;
inline constexpr int kMostFileRanks = 65'536;
inline constexpr std::int64_t kMostFileState = 1 << 24;  // ranks x chunks

[[nodiscard]] std::string to_json(const Schedule& s);

/// Throws Error{usage} naming path, line (or step and transfer) and what was expected.
[[nodiscard]] Schedule read_schedule(const std::string& path);
[[nodiscard]] Schedule parse_schedule(const std::string& text, const std::string& path);

/// As read_schedule, and the file must be of this collective. Throws Unsupported if it is for other
/// ranks.
[[nodiscard]] Schedule schedule_for(const std::string& path, Collective collective, int ranks);

}  // namespace collmark
