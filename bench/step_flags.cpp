#include "bench/step_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "bench/choice.hpp"
#include "bench/nccl_name.hpp"
#include "bench/size_grammar.hpp"
#include "collectives/error.hpp"

namespace collmark {
namespace {

constexpr std::array kGradientDtypes{Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16};

std::vector<std::shared_ptr<const ModelList>> models_from(const std::string& text, Dtype dtype) {
  std::vector<std::shared_ptr<const ModelList>> models;
  for (const std::string& word : split_list("--model", text))
    models.push_back(std::make_shared<ModelList>(load_model(word, dtype)));
  return models;
}

std::vector<const BucketPolicy*> policies_from(const std::string& text) {
  std::vector<const BucketPolicy*> policies;
  if (text == "all") {
    for (const BucketPolicy& policy : bucket_policies()) policies.push_back(&policy);
    return policies;
  }
  for (const std::string& word : split_list("--bucket-policy", text))
    policies.push_back(&bucket_policy(word));
  return policies;
}

std::vector<Bytes> caps_from(const std::string& text) {
  if (text.empty()) return {};
  std::vector<Bytes> caps = parse_sizes(text);
  for (const Bytes cap : caps)
    if (cap.value == 0)
      throw Error(ErrorKind::usage,
                  "--bucket-bytes: a bucket of 0 bytes holds nothing; expected >= 1");
  return caps;
}

std::vector<int> splits_from(const std::string& text) {
  std::vector<int> splits;
  if (text.empty()) return splits;
  for (const std::string& word : split_list("--split-indices", text)) {
    int index = 0;
    const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), index);
    if (fault != std::errc{} || end != word.data() + word.size())
      throw Error(ErrorKind::usage,
                  fmt::format("--split-indices: '{}': expected tensor indices, as 85,160", word));
    splits.push_back(index);
  }
  return splits;
}

/// Names of backends that run no steps are known, so that asking for one is told from a slip of the pen.
std::string backend_from(const std::string& text) {
  const std::string& name = backend_names()[choose_index("--backend", text, backend_names())];
  const std::vector<std::string>& here = step_backend_names();
  if (std::find(here.begin(), here.end(), name) == here.end())
    throw Error(ErrorKind::absent,
                fmt::format("--backend {}: this version measures steps on {} only", name,
                            fmt::join(here, ", ")));
  return name;
}

/// `library:all` is spelt out, as in a sweep.
std::vector<std::string> algorithms_from(const std::string& text, const std::string& backend) {
  std::vector<std::string> names;
  for (const std::string& word : split_list("--algorithm", text)) {
    if (backend != "nccl" || word != "library:all") {
      names.push_back(word);
      continue;
    }
    for (const std::string& name : nccl_algorithms(Collective::all_reduce))
      names.push_back("library:" + name);
  }
  return names;
}

}  // namespace

void declare(CLI::App& step, StepFlags& f) {
  step.add_option("--model", f.model, "resnet50, bert-base, ... or a path.csv of name,shape,numel");
  step.add_option("--bucket-policy", f.policies, "names as in docs/bucket-policies.md, or all")
      ->capture_default_str();
  step.add_option("--bucket-bytes", f.caps, "caps: 1M:256M:x2 (default: each policy's own)");
  step.add_option("--split-indices", f.split_after, "last tensor of each bucket, mindspore_index");
  step.add_option("--algorithm", f.algorithm,
                  "all-reduces of `collmark algorithms`, or file:PATH; cuda: variants too; nccl: "
                  "library, library:ring")
      ->capture_default_str();
  step.add_option("--ranks", f.ranks, "2,4 or 2:8")->capture_default_str();
  step.add_option("--backend", f.backend, "threads, cuda, nccl")->capture_default_str();
  step.add_option("--dtype", f.dtype, "of the gradients: f32, f64, f16, bf16")
      ->capture_default_str();
  step.add_flag("--json", f.json, "one JSON document on stdout instead of the table");
  declare_run(step, f);
  declare_kernels(step, f.kernels);
}

StepConfig config_from(const StepFlags& f) {
  const std::string backend = backend_from(f.backend);
  if (f.model.empty())
    throw Error(ErrorKind::usage, "--model says whose gradients: resnet50, bert-base, a path.csv");
  const Dtype dtype = choose("--dtype", f.dtype, kGradientDtypes);
  return {.backend = backend,
          .models = models_from(f.model, dtype),
          .policies = policies_from(f.policies),
          .caps = caps_from(f.caps),
          .split_after = splits_from(f.split_after),
          .algorithms = algorithms_from(f.algorithm, backend),
          .ranks = parse_ranks(f.ranks),
          .dtype = dtype,
          .launches = f.launches,
          .tunings = f.kernels.tunings(),
          .measure = f.measure_options(),
          .seed = f.seed};
}

}  // namespace collmark
