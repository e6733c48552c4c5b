#include "bench/plain_sum.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace collmark {
namespace {

TEST(PlainSum, AddsEveryElementWhateverAlignmentAndStores) {
  for (const Stores stores : {Stores::cached, Stores::streaming}) {
    for (const std::size_t offset : {0U, 1U, 5U}) {
      for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 1003U}) {
        std::vector<float> a(2048), b(2048), x(2048, -1), y(2048, -1);
        for (std::size_t i = 0; i < a.size(); ++i) {
          a[i] = static_cast<float>(i % 97);
          b[i] = static_cast<float>(3 * (i % 31));
        }
        const float* const from[] = {a.data(), b.data()};
        float* const to[] = {x.data() + offset, y.data() + offset};
        plain_sum(from, to, count, stores);
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(x[offset + i], a[i] + b[i]);
          ASSERT_EQ(y[offset + i], a[i] + b[i]);
        }
        EXPECT_EQ(x[offset + count], -1);
      }
    }
  }
}

}  // namespace
}  // namespace collmark
