# Writes the parameter lists of FOLDER into one C++ source, OUTPUT.
file(GLOB lists ${FOLDER}/*.csv)
list(SORT lists)
set(entries "")
foreach(list IN LISTS lists)
  get_filename_component(name ${list} NAME_WE)
  file(READ ${list} text)
  string(APPEND entries "    {\"${name}\", R\"csv(${text})csv\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"collectives/model_list.hpp\"

namespace collmark {
namespace {
constexpr BuiltInModel kModels[]{
${entries}};
}  // namespace

std::span<const BuiltInModel> built_in_models() { return kModels; }
}  // namespace collmark
")
