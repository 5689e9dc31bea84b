#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H
/* The driver's interface (libcuda.so.1): what is particular to it, over what the runtime does. Results are enum
 * cuda_error as far as the numbers are common; driver_leave() replaces the others. Contexts are handles only: all share
 * the one machine and its memory. */
#include "runtime.h"

struct cuda_context {
    unsigned magic, flags;
    int uses; /* of the primary one: retained; of others: attached */
    bool destroyed;
};

/* The beginning and the end of a function that needs a current context: the lock, and the runtime's last error, which
 * is none of the driver's. */
enum cuda_error driver_enter(enum cuda_error *kept);
enum cuda_error driver_leave(enum cuda_error e, enum cuda_error kept);
/* Whether cuInit() was called. */
enum cuda_error driver_ready(void);
/* Whether there is a context, a module of the driver's of this handle; NULL: none, or unloaded. */
bool driver_is_context(const struct cuda_context *c);
struct cuda_module *driver_module_of(const struct cuda_module *m);

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
