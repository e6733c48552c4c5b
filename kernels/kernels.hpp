/// All kernels there are (kernel_list.hpp).
#pragma once

#include "kernels/data.hpp"
#include "kernels/direct.hpp"
#include "kernels/hop.hpp"
#include "kernels/interpreter.hpp"
#include "kernels/low_latency.hpp"
#include "kernels/packing.hpp"
#include "kernels/ring.hpp"
#include "kernels/tree.hpp"
