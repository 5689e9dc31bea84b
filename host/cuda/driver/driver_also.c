/* The other names of functions. */
#include "host/cuda/core/also.h"

#include "driver_also.def"
