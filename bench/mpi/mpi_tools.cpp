#include "bench/mpi/mpi_tools.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "collectives/catalogue.hpp"

namespace collmark {
namespace {

void check_tools(int status, const char* call) {
  if (status != MPI_SUCCESS)
    throw Error(ErrorKind::broken, fmt::format("{}: error {}", call, status));
}

void open_tools() {
  static const int kOpened = [] {
    int provided = 0;
    check_tools(MPI_T_init_thread(MPI_THREAD_SERIALIZED, &provided), "MPI_T_init_thread");
    return provided;
  }();
  (void)kOpened;
}

/// Of one number. Those of 1 and of 4 bytes are enough for all that is read and set here.
class Handle {
 public:
  explicit Handle(int index) {
    int count = 0;
    check_tools(MPI_T_cvar_handle_alloc(index, nullptr, &handle_, &count),
                "MPI_T_cvar_handle_alloc");
    if (count != 1) throw Error(ErrorKind::broken, "a control variable that is no number");
  }
  ~Handle() { MPI_T_cvar_handle_free(&handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] MPI_T_cvar_handle get() const { return handle_; }

 private:
  MPI_T_cvar_handle handle_ = MPI_T_CVAR_HANDLE_NULL;
};

}  // namespace

std::optional<ControlVariable> ControlVariable::find(const std::string& name) {
  open_tools();
  ControlVariable found;
  found.name_ = name;
  if (MPI_T_cvar_get_index(name.c_str(), &found.index_) != MPI_SUCCESS) return std::nullopt;
  std::array<char, 512> its_name{};
  std::array<char, 8192> text{};
  int name_size = its_name.size(), text_size = text.size();
  int verbosity = 0, bind = 0, scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check_tools(MPI_T_cvar_get_info(found.index_, its_name.data(), &name_size, &verbosity, &type,
                                  &found.meaning_, text.data(), &text_size, &bind, &scope),
              "MPI_T_cvar_get_info");
  found.description_ = text.data();
  return found;
}

std::vector<ControlVariable::Choice> ControlVariable::choices() const {
  std::vector<Choice> all;
  if (meaning_ == MPI_T_ENUM_NULL) return all;
  int count = 0, size = 0;
  check_tools(MPI_T_enum_get_info(meaning_, &count, nullptr, &size), "MPI_T_enum_get_info");
  for (int i = 0; i < count; ++i) {
    std::array<char, 256> name{};
    int value = 0, name_size = name.size();
    check_tools(MPI_T_enum_get_item(meaning_, i, &value, name.data(), &name_size),
                "MPI_T_enum_get_item");
    all.push_back({value, name.data()});
  }
  return all;
}

int ControlVariable::value() const {
  const Handle handle(index_);
  std::array<std::byte, 16> raw{};
  check_tools(MPI_T_cvar_read(handle.get(), raw.data()), "MPI_T_cvar_read");
  int value = 0;
  std::memcpy(&value, raw.data(), sizeof value);
  return value;
}

bool ControlVariable::set(int value) const {
  const Handle handle(index_);
  std::array<std::byte, 16> raw{};
  std::memcpy(raw.data(), &value, sizeof value);
  return MPI_T_cvar_write(handle.get(), raw.data()) == MPI_SUCCESS;
}

Setting::Setting(const std::string& name, int value) : variable_(ControlVariable::find(name)) {
  if (!variable_) throw Unsupported(fmt::format("the MPI library has no variable {}", name));
  before_ = variable_->value();
  if (before_ == value) return;
  if (!variable_->set(value))
    throw Unsupported(fmt::format("{} cannot be set while the MPI library runs", name));
  if (const int now = variable_->value(); now != value)
    throw Unsupported(fmt::format("{} was set to {} and reads {}", name, value, now));
}

Setting::~Setting() {
  if (variable_) (void)variable_->set(before_);
}

Setting::Setting(Setting&& other) noexcept
    : variable_(std::exchange(other.variable_, std::nullopt)), before_(other.before_) {}

}  // namespace collmark
