#include "bench/on_path.hpp"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace collmark {

std::string on_path(std::string_view program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder += "/" + std::string(program)).c_str(), X_OK) == 0) return folder;
  return "";
}

}  // namespace collmark
