/* The other names of functions. */
#include "host/cuda/core/also.h"

#include "runtime_also.def"
