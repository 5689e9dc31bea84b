#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H
/* The driver's interface (libcuda.so.1): what is particular to it, over what the runtime does. Results are enum
 * cuda_error as far as the numbers are common; driver_leave() replaces the others. Contexts are handles only: all share
 * the one machine and its memory. */
#include "host/cuda/core/core.h"

/* driver_memory.c: the box of CUDA_MEMCPY3D. */
struct copy_3d;
enum cuda_error driver_box_of(struct cuda_box *out, const struct copy_3d *c);

/* The beginning and the end of a function that needs a current context: the lock, and the runtime's last error, which
 * is none of the driver's. */
enum cuda_error driver_enter(enum cuda_error *kept);
enum cuda_error driver_leave(enum cuda_error e, enum cuda_error kept);
/* Whether cuInit() was called. */
enum cuda_error driver_ready(void);
/* Whether a handle is a context. */
bool driver_is_context(const struct cuda_context *c);

/* driver_launch.c: launches the kernel of a function; its arguments are in l.args, or in the block of `extra`. */
enum cuda_error driver_launch(const void *f, struct cuda_launch l, void *stream, void **extra);

#define DRIVER(...)                                                                                                    \
    do {                                                                                                               \
        enum cuda_error kept_, error_ = driver_enter(&kept_);                                                          \
        return driver_leave(error_ ? error_ : (__VA_ARGS__), kept_);                                                   \
    } while (0)
/* For what gives something back: without a current context, too. */
#define DRIVER_FREE(...)                                                                                               \
    do {                                                                                                               \
        struct cuda_context *current_ = cuda_current_context;                                                          \
        cuda_current_context = current_ ? current_ : &cuda_primary_context;                                            \
        enum cuda_error kept_, error_ = driver_enter(&kept_);                                                          \
        error_ = driver_leave(error_ ? error_ : (__VA_ARGS__), kept_);                                                 \
        cuda_current_context = current_;                                                                               \
        return error_;                                                                                                 \
    } while (0)
/* For what needs no context: cuInit() alone. */
#define DRIVER_READY(...)                                                                                              \
    do {                                                                                                               \
        enum cuda_error ready_ = driver_ready();                                                                       \
        return ready_ ? ready_ : (__VA_ARGS__);                                                                        \
    } while (0)

#endif
