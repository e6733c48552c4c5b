#include "bench/gpu_links.hpp"

#include <memory>
#include <utility>

#include "bench/leave_behind.hpp"

namespace collmark {
namespace {

using Pairs = std::vector<std::unique_ptr<GpuLink>>;

class Survey {
 public:
  Survey(Gpus& gpus, const GpuLink::Options& options) : gpus_(gpus), options_(options) {}

  std::vector<PairLink> run() {
    for (int d = 0; d < gpus_.size(); ++d) within(d);
    for (const std::vector<IndexPair>& round :
         disjoint_rounds(static_cast<std::size_t>(gpus_.size()))) {
      std::vector<Way> up, down;
      for (const IndexPair& pair : round) {
        const auto a = static_cast<int>(pair.first), b = static_cast<int>(pair.second);
        const std::string obstacle = gpus_.connect(a, b);
        if (obstacle.empty()) {
          up.push_back({a, b});
          down.push_back({b, a});
        } else {
          found_.push_back({.first = a, .second = b, .reason = obstacle});
          found_.push_back({.first = b, .second = a, .reason = obstacle});
        }
      }
      together(up);
      together(down);
    }
    sort_by_pair(found_);
    return std::move(found_);
  }

 private:
  struct Way {
    int from, to;
  };

  [[nodiscard]] PairLink alone(const Way& way, GpuLink& link) const {
    return {.first = way.from,
            .second = way.to,
            .flag = link.flag(),
            .copy_gb_per_s = gb_per_s(options_.size, link.copy_by_kernel()),
            .low_latency = link.low_latency(),
            .engine_gb_per_s = gb_per_s(options_.size, link.copy_by_engine()),
            .word = link.word()};
  }

  void within(int device) {
    with({{device, device}}, [&](Pairs& pairs) {
      PairLink found = alone({device, device}, *pairs.front());
      found.launch = pairs.front()->launch();
      found_.push_back(std::move(found));
    });
  }

  /// Each way alone, then all of them.
  void together(const std::vector<Way>& ways) {
    if (ways.empty()) return;
    with(ways, [&](Pairs& pairs) {
      std::vector<GpuLink*> links;
      for (const auto& pair : pairs) links.push_back(pair.get());
      for (std::size_t i = 0; i < ways.size(); ++i) found_.push_back(alone(ways[i], *links[i]));
      const std::vector<Seconds> times = GpuLink::copy_together(links);
      for (std::size_t i = 0; i < ways.size(); ++i)
        found_[found_.size() - ways.size() + i].shared_gb_per_s = gb_per_s(options_.size, times[i]);
    });
  }

  template <class Measure>
  void with(const std::vector<Way>& ways, Measure measure) {
    Pairs pairs;
    try {
      for (const Way& way : ways)
        pairs.push_back(std::make_unique<GpuLink>(gpus_[way.from], gpus_[way.to], options_));
      measure(pairs);
    } catch (...) {
      for (auto& pair : pairs) leave_behind(std::move(pair));
      throw;
    }
  }

  Gpus& gpus_;
  GpuLink::Options options_;
  std::vector<PairLink> found_;
};

}  // namespace

std::vector<PairLink> measure_gpu_links(Gpus& gpus, const GpuLink::Options& options) {
  return Survey(gpus, options).run();
}

}  // namespace collmark
