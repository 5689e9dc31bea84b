/* The runtime functions that the driver also has. Each is one line in functions.def. */
#include "runtime.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define BOTH(entry, name, driver_entry, driver_name, parameters, ...)                                                  \
    CUDA_API enum cuda_error name parameters { entry(__VA_ARGS__); }
#include "host/cuda/functions.def"
