#ifndef CUDA_RUNTIME_H
#define CUDA_RUNTIME_H
/* The runtime's interface (libcudart.so). Its functions translate arguments and call verbs of core. Its error numbers
 * are those of enum cuda_error. */
#include "host/cuda/core/core.h"

/* The error that cudaGetLastError() returns on this thread. */
extern __thread enum cuda_error runtime_last_error;
/* Stores an error for cudaGetLastError(), and returns it. */
enum cuda_error runtime_note(enum cuda_error e);
/* Ends a function that cuda_enter() began. */
enum cuda_error runtime_leave(enum cuda_error e);

/* The body of a function that needs the GPU, and that returns an error if a kernel left a fault. */
#define RUNTIME(...)                                                                                                   \
    do {                                                                                                               \
        enum cuda_error error_ = cuda_enter();                                                                         \
        return runtime_leave(error_ ? error_ : (__VA_ARGS__));                                                         \
    } while (0)
/* As RUNTIME, for functions that do not wait for all work: RUNTIME_AFTER waits for that of stream `s`, RUNTIME_LEGACY
 * for that of the default stream of all threads, RUNTIME_BESIDE for none. */
#define RUNTIME_AFTER(...)                                                                                             \
    do {                                                                                                               \
        cuda_waits = (struct cuda_wait){WAIT_STREAM, s};                                                               \
        RUNTIME(__VA_ARGS__);                                                                                          \
    } while (0)
#define RUNTIME_LEGACY(...)                                                                                            \
    do {                                                                                                               \
        cuda_waits = (struct cuda_wait){WAIT_STREAM, NULL};                                                            \
        RUNTIME(__VA_ARGS__);                                                                                          \
    } while (0)
#define RUNTIME_BESIDE(...)                                                                                            \
    do {                                                                                                               \
        cuda_waits.kind = WAIT_NOTHING;                                                                                \
        RUNTIME(__VA_ARGS__);                                                                                          \
    } while (0)
/* The body of a function that does not need the GPU. */
#define NOTE(...) return runtime_note(__VA_ARGS__)

/* runtime_memory.c: returns the copy box that a cudaMemcpy3DParms describes. */
struct copy_3d;
enum cuda_error runtime_box_of(struct cuda_box *out, const struct copy_3d *c);
#endif
