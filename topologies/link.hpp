/// A link between two ranks in the alpha-beta model.
#pragma once

namespace collmark {

/// alpha: seconds per message; beta: seconds per byte.
struct Link {
  double alpha = 0.0;  // [s]
  double beta = 0.0;   // [s/B]
};

}  // namespace collmark
