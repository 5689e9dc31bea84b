/* Exports runtime functions under additional names. */
#include "host/cuda/core/also.h"

#include "runtime_also.def"
