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
/* Whether there is a context, a loaded module of this handle; NULL: none, or unloaded. */
bool driver_is_context(const struct cuda_context *c);
struct cuda_module *driver_module_of(const struct cuda_module *m);

/* driver_module.c: modules, which libraries (library.c) are, too; between the beginning and the end of a call. Each
 * returns CUDA_ErrorInvalidValue for a missing place of a result, CUDA_ErrorInvalidResourceHandle for no module. */
struct driver_jit { /* `n` options by number (CUjit_option, enum cudaJitOption), NULL: none */
    unsigned n;
    const int *names;
    void **values;
};
/* Of PTX text with a zero at its end, or a fatbin, with or without what nvcc wraps it in. */
enum cuda_error driver_load(struct cuda_module **out, const void *image, const struct driver_jit *o);
enum cuda_error driver_load_file(struct cuda_module **out, const char *path, const struct driver_jit *o);
/* The kernel of a name, made when first asked for; CUDA_ErrorSymbolNotFound. */
enum cuda_error driver_function_of(struct cuda_kernel **out, struct cuda_module *m, const char *name);
enum cuda_error driver_count_functions(unsigned *out, const struct cuda_module *m);
/* `n` at most, in the order of the PTX. */
enum cuda_error driver_list_functions(struct cuda_kernel **out, unsigned n, struct cuda_module *m);
/* A variable's place and size; one of the two may be NULL. CUDA_ErrorSymbolNotFound. */
enum cuda_error driver_global_of(uint64_t *address, size_t *bytes, struct cuda_module *m, const char *name);

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

/* Functions of the driver that other files call. */
enum cuda_error cuFuncGetAttribute(int *out, int which, const void *f);
enum cuda_error cuFuncGetModule(struct cuda_module **out, const void *f);
enum cuda_error cuLaunchKernel(const void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                               unsigned bz, unsigned shared, void *stream, void **args, void **extra);
#endif
