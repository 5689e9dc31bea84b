/* Compiled once for each libcudart.so, with its number. */
#include "runtime.h"

int cuda_major(void) { return CUDA_MAJOR; }
