/* This file is compiled once for each library that forwards to the core. It tells the core the CUDA version of the
 * program. */
#include <stdlib.h>
#include <string.h>

void heddle_cuda_major(int major);

/* Passes the CUDA version in the library's name (11 in "libcudart.so.11.0") to heddle_cuda_major(). */
__attribute__((constructor)) static void say_version(void) {
    static const char library[] = CUDA_LIBRARY, runtime[] = "libcudart.so.";
    if (strncmp(library, runtime, sizeof runtime - 1) == 0)
        heddle_cuda_major(atoi(&library[sizeof runtime - 1]));
}
