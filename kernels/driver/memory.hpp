// Allocations that fail when the driver says so.
#pragma once

#include <cstdint>

namespace driver {

// Only allocations between these two are counted and fail: those of the driver itself succeed.
void enter_library();
void leave_library();

// From now on the allocation number `number` (from 0) of this thread and all later ones fail; a negative number ends that.
void fail_from(int64_t number);

// Number of allocations of this thread since fail_from.
int64_t allocations();

// The same allocation fails once, the later ones succeed.
void fail_only(int64_t number);

}  // namespace driver
