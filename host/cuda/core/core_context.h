#ifndef CUDA_CORE_CONTEXT_H
#define CUDA_CORE_CONTEXT_H
/* Contexts are only handles: all share the one machine and its memory. Each thread has a stack of contexts, with the
 * current one at its top. An invalid handle gives CUDA_ErrorDeviceUninitialized (the driver's
 * CUDA_ERROR_INVALID_CONTEXT). */
#include "core_base.h"

enum { CONTEXT_MAGIC = 0x48435458 };
struct cuda_context {
    unsigned magic, flags;
    /* for the primary context, the number of retains that were not released; for other contexts, 1 + the number of
     * attachments */
    int uses;
    bool destroyed;
};

/* Returns true if a handle is a context. */
bool cuda_context_is(const struct cuda_context *c);
/* Create a context, which becomes current, and destroy a context. Destroying a context also clears the fault that a
 * kernel left in it. */
enum cuda_error cuda_context_new(struct cuda_context **out, unsigned flags, int device);
enum cuda_error cuda_context_destroy(struct cuda_context *c);
enum cuda_error cuda_context_attach(struct cuda_context **out, unsigned flags);
enum cuda_error cuda_context_detach(struct cuda_context *c);
enum cuda_error cuda_context_push(struct cuda_context *c);
/* Removes the current context from the thread's stack of contexts and returns it in *out. `out` may be NULL. */
enum cuda_error cuda_context_pop(struct cuda_context **out);
/* Makes a context current; NULL pops the current context. */
enum cuda_error cuda_context_set_current(struct cuda_context *c);
enum cuda_error cuda_context_current(struct cuda_context **out);
/* Return the version of the interface and the id of context `c`, or of the current context if `c` is NULL. */
enum cuda_error cuda_context_version(const struct cuda_context *c, unsigned *out);
enum cuda_error cuda_context_id(const struct cuda_context *c, unsigned long long *out);
/* Return and set the flags of the current context. */
enum cuda_error cuda_context_flags(unsigned *out);
enum cuda_error cuda_context_set_flags(unsigned flags);

/* These functions act on the primary context, which the runtime interface uses. */
enum cuda_error cuda_primary_retain(struct cuda_context **out, int device);
enum cuda_error cuda_primary_release(int device);
enum cuda_error cuda_primary_reset(int device);
enum cuda_error cuda_primary_set_flags(int device, unsigned flags);
enum cuda_error cuda_primary_state(int device, unsigned *flags, int *active);
#endif
