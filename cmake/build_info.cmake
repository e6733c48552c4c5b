# Writes bench/build_info.hpp at build time, only when something in it changed.
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --short=12 HEAD
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git -C ${SOURCE_DIR} status --porcelain --untracked-files=no
                OUTPUT_VARIABLE dirty OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
elseif(dirty)
  string(APPEND commit "-modified")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#pragma once

namespace collmark::build_info {
inline constexpr const char* kVersion = "@VERSION@";
inline constexpr const char* kCommit = "@commit@";
inline constexpr const char* kBuildType = "@BUILD_TYPE@";
inline constexpr const char* kCompiler = "@COMPILER@";
inline constexpr const char* kSanitizers = "@SANITIZERS@";  // empty: none
}  // namespace collmark::build_info
]] @ONLY)
