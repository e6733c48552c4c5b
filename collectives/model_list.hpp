/// The parameter tensors of a network, in registration order: what the gradients of one training
/// step look like. Lists of real networks are built in; a user may give his own.
///
///   name,shape,numel            a fourth column, dtype, is allowed
///   conv1.weight,64x3x7x7,9408
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/dtype.hpp"
#include "collectives/units.hpp"

namespace collmark {

struct Tensor {
  std::string name;
  Elements count;
  Dtype dtype = Dtype::f32;
};

struct ModelList {
  std::string name;  // "resnet50", or the file's name without folder and ending
  std::vector<Tensor> tensors;
};

struct BuiltInModel {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] std::span<const BuiltInModel> built_in_models();

/// A built-in name, or a path (recognised by a '/' or the ending .csv). Tensors without a dtype of
/// their own get `dtype`. Throws Error{usage}: an unknown name with a did-you-mean, a file with
/// path:line and what was expected.
[[nodiscard]] ModelList load_model(std::string_view name_or_path, Dtype dtype = Dtype::f32);

/// The strict reader: header, field count, positive numbers, numel = product of the shape, unique
/// names. LF and CRLF line ends, and a UTF-8 byte order mark, are accepted.
[[nodiscard]] std::vector<Tensor> parse_model_list(std::string_view text, std::string_view path,
                                                   Dtype dtype = Dtype::f32);

[[nodiscard]] Bytes bytes_of(const Tensor& tensor);
[[nodiscard]] Bytes bytes_of(std::span<const Tensor> tensors);

}  // namespace collmark
