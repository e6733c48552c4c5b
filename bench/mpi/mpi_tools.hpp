/// Control variables of an MPI library, by the tools interface of MPI-3 (MPI_T).
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

namespace collmark {

/// A number that decides how the library works.
///
/// The tools interface is opened when the first is looked for, and stays open: MPICH 4.0.2 forgets all variables
/// once it was closed. That may be without MPI_Init; but Open MPI 4.1.4 loses some variables where the interface is
/// opened before MPI_Init in a process that calls both.
class ControlVariable {
 public:
  [[nodiscard]] static std::optional<ControlVariable> find(const std::string& name);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& description() const { return description_; }

  struct Choice {
    int number;
    std::string name;
  };
  /// If the library says what the numbers mean.
  [[nodiscard]] std::vector<Choice> choices() const;

  [[nodiscard]] int value() const;
  /// False if the library lets nobody change it any more.
  [[nodiscard]] bool set(int value) const;

 private:
  int index_ = 0;
  std::string name_, description_;
  MPI_T_enum meaning_ = MPI_T_ENUM_NULL;
};

/// Sets a variable for a while.
class Setting {
 public:
  ///   Throws   Unsupported if there is no such variable, or it cannot be set, or reads back as another value.
  Setting(const std::string& name, int value);
  ~Setting();
  Setting(Setting&& other) noexcept;
  Setting& operator=(Setting&&) = delete;

 private:
  std::optional<ControlVariable> variable_;
  int before_;
};

}  // namespace collmark
