/* This file is compiled once for each library that forwards to the core. It tells the core the CUDA version of the
 * program. */
#include <stdlib.h>
#include <string.h>

void heddle_cuda_major(int major);

/* "libcudart.so.11.0" */
__attribute__((constructor)) static void say_version(void) {
    static const char library[] = CUDA_LIBRARY, runtime[] = "libcudart.so.";
    if (strncmp(library, runtime, sizeof runtime - 1) == 0)
        heddle_cuda_major(atoi(&library[sizeof runtime - 1]));
}
