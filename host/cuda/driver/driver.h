#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H
/* The driver's interface (libcuda.so.1). Its functions translate arguments and errors, and call verbs of core. */
#include "host/cuda/core/core.h"

/* Returns the driver's error number for an error of core. Most numbers are equal (driver_errors.def). */
enum cuda_error driver_error(enum cuda_error e);
/* Ends a function that cuda_enter_current() began. */
enum cuda_error driver_leave(enum cuda_error e);

/* The body of a function that needs a current context. */
#define DRIVER(...)                                                                                                    \
    do {                                                                                                               \
        enum cuda_error error_ = cuda_enter_current();                                                                 \
        return driver_leave(error_ ? error_ : (__VA_ARGS__));                                                          \
    } while (0)
/* The body of a function that needs no current context, because its arguments belong to one, such as memory to free. It
 * uses the primary context if no context is current. */
#define DRIVER_FREE(...)                                                                                               \
    do {                                                                                                               \
        struct cuda_context *current_ = cuda_current_context;                                                          \
        cuda_current_context = current_ ? current_ : &cuda_primary_context;                                            \
        enum cuda_error error_ = cuda_enter_current();                                                                 \
        error_ = driver_leave(error_ ? error_ : (__VA_ARGS__));                                                        \
        cuda_current_context = current_;                                                                               \
        return error_;                                                                                                 \
    } while (0)
/* The body of a function that submits work to stream `s`. A default stream needs a current context; any other stream
 * belongs to a context already. */
#define DRIVER_STREAM(...)                                                                                             \
    do {                                                                                                               \
        if (cuda_is_default(s))                                                                                        \
            DRIVER(__VA_ARGS__);                                                                                       \
        DRIVER_FREE(__VA_ARGS__);                                                                                      \
    } while (0)
/* As the body `entry`, for functions that do not wait for all work: DRIVER_AFTER waits for that of stream `s`,
 * DRIVER_LEGACY for that of the default stream of all threads, the others wait for none. */
#define DRIVER_BESIDE_(entry, ...)                                                                                     \
    do {                                                                                                               \
        cuda_waits.kind = WAIT_NOTHING;                                                                                \
        entry(__VA_ARGS__);                                                                                            \
    } while (0)
#define DRIVER_BESIDE(...)        DRIVER_BESIDE_(DRIVER, __VA_ARGS__)
#define DRIVER_FREE_BESIDE(...)   DRIVER_BESIDE_(DRIVER_FREE, __VA_ARGS__)
#define DRIVER_STREAM_BESIDE(...) DRIVER_BESIDE_(DRIVER_STREAM, __VA_ARGS__)
#define DRIVER_AFTER(...)                                                                                              \
    do {                                                                                                               \
        cuda_waits = (struct cuda_wait){WAIT_STREAM, s};                                                               \
        DRIVER_STREAM(__VA_ARGS__);                                                                                    \
    } while (0)
#define DRIVER_LEGACY(...)                                                                                             \
    do {                                                                                                               \
        cuda_waits = (struct cuda_wait){WAIT_STREAM, NULL};                                                            \
        DRIVER(__VA_ARGS__);                                                                                           \
    } while (0)
/* The body of a function that needs cuInit() but no context. */
#define DRIVER_READY(...)                                                                                              \
    do {                                                                                                               \
        enum cuda_error ready_ = cuda_ready();                                                                         \
        return driver_error(ready_ ? ready_ : (__VA_ARGS__));                                                          \
    } while (0)
/* The body of a function that needs cuInit() but no context, and that returns an error if a kernel left a fault. */
#define DRIVER_DEVICE(...)                                                                                             \
    do {                                                                                                               \
        enum cuda_error ready_ = cuda_ready();                                                                         \
        ready_ = ready_ ? ready_ : cuda_fault();                                                                       \
        return driver_error(ready_ ? ready_ : (__VA_ARGS__));                                                          \
    } while (0)
/* The body of a function that may be called before cuInit(). */
#define DRIVER_ANY(...) return driver_error(__VA_ARGS__)

/* driver_memory.c: returns the copy box that a CUDA_MEMCPY3D describes. */
struct copy_3d;
enum cuda_error driver_box_of(struct cuda_box *out, const struct copy_3d *c);
/* driver_launch.c: launches the kernel `f`. Its arguments are in l.args, or in the block that `extra` describes. */
enum cuda_error driver_launch(const void *f, struct cuda_launch l, void *stream, void **extra);
#endif
