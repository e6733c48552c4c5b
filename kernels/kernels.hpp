/// All kernels there are (kernel_list.hpp).
#pragma once

#include "kernels/data.hpp"
#include "kernels/direct.hpp"
#include "kernels/ring.hpp"
