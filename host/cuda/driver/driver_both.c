/* The driver functions that the runtime also has. Each is one line in functions.def. */
#include "driver.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define BOTH(runtime_entry, runtime_name, entry, name, parameters, ...)                                                \
    CUDA_API enum cuda_error name parameters { entry(__VA_ARGS__); }
#include "host/cuda/functions.def"
