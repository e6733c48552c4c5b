/// Data goes to stdout or to files, words to stderr. Under a launcher rank 0 alone writes to either.
#pragma once

#include <string>
#include <string_view>

namespace collmark {

/// Data for stdout. A reader that has seen enough (`collmark algorithms | head`) is no error: what
/// follows is dropped. Throws Error{output_failed} if stdout cannot take it (disk full).
void put(std::string_view text);
/// Pushes what `put` wrote to the reader, as after each row of a table that grows while one looks
/// at it.
void flush_output();

/// Words for stderr, never an error. Adds nothing, not even the line's end.
void say(std::string_view text);

/// A pipe or a device such as /dev/stdout: nothing can lie beside it or be renamed over it.
[[nodiscard]] bool is_special(const std::string& path);

/// Throws Error{usage} unless a file can be written at `path`; leaves nothing behind.
void require_writable(const std::string& path);

/// Writes `text` to a file beside `path`, then renames it: `path` holds all of it or is as it was.
/// Throws Error{usage} if the folder cannot be written, Error{output_failed} if the disk is full.
void replace_file(const std::string& path, std::string_view text);

}  // namespace collmark
