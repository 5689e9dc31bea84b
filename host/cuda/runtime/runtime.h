#ifndef CUDA_RUNTIME_H
#define CUDA_RUNTIME_H
/* The runtime's interface (libcudart.so): its functions translate arguments and call verbs of core. */
#include "host/cuda/core/core.h"

/* The body of a function that needs the GPU. The first call opens it; after a fault every call returns the error. */
#define RUNTIME(...)                                                                                                   \
    do {                                                                                                               \
        enum cuda_error error_ = cuda_enter();                                                                         \
        return cuda_leave(error_ ? error_ : (__VA_ARGS__));                                                            \
    } while (0)
/* The body of a function that does not need the GPU. */
#define NOTE(...) return cuda_note(__VA_ARGS__)

/* runtime_memory.c: the box of cudaMemcpy3DParms. */
struct copy_3d;
enum cuda_error runtime_box_of(struct cuda_box *out, const struct copy_3d *c);
#endif
