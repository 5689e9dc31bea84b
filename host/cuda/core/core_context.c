/* Contexts. */
#include "core_context.h"
#include <stdlib.h>

struct cuda_context cuda_primary_context = {.magic = CONTEXT_MAGIC};
__thread struct cuda_context *cuda_current_context;

enum { MOST_PUSHED = 64 };
/* The contexts of this thread's stack below the current one. */
static __thread struct cuda_context *below[MOST_PUSHED];
static __thread int n_below;

bool cuda_context_is(const struct cuda_context *c) { return c && c->magic == CONTEXT_MAGIC && !c->destroyed; }

enum cuda_error cuda_enter_current(void) {
    cuda_lock();
    if (cuda_ready())
        return CUDA_ErrorInitializationError;
    if (!cuda_context_is(cuda_current_context))
        return cuda_current_context ? CUDA_ErrorContextIsDestroyed : CUDA_ErrorDeviceUninitialized;
    return cuda_core.sticky;
}

enum cuda_error cuda_context_push(struct cuda_context *c) {
    CUDA_LOCK;
    if (!cuda_context_is(c))
        return CUDA_ErrorDeviceUninitialized;
    if (cuda_current_context) {
        if (n_below == MOST_PUSHED)
            return CUDA_ErrorMemoryAllocation;
        below[n_below++] = cuda_current_context;
    }
    cuda_current_context = c;
    return CUDA_Success;
}

static void pop(void) { cuda_current_context = n_below ? below[--n_below] : NULL; }

enum cuda_error cuda_context_pop(struct cuda_context **out) {
    if (!cuda_current_context)
        return CUDA_ErrorDeviceUninitialized;
    if (out)
        *out = cuda_current_context;
    pop();
    return CUDA_Success;
}

enum cuda_error cuda_context_new(struct cuda_context **out, unsigned flags, int device) {
    if (!out || device)
        return out ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    struct cuda_context *c = malloc(sizeof *c);
    if (!c)
        return CUDA_ErrorMemoryAllocation;
    *c = (struct cuda_context){.magic = CONTEXT_MAGIC, .flags = flags, .uses = 1};
    enum cuda_error e = cuda_context_push(c);
    if (e)
        free(c);
    else
        *out = c;
    return e;
}

/* Marks the context as destroyed. The struct is not freed, because other threads may have the handle. */
enum cuda_error cuda_context_destroy(struct cuda_context *c) {
    CUDA_LOCK;
    if (!cuda_context_is(c) || c == &cuda_primary_context)
        return CUDA_ErrorDeviceUninitialized;
    if (c == cuda_current_context)
        pop();
    c->destroyed = true;
    cuda_forget_fault();
    return CUDA_Success;
}

enum cuda_error cuda_context_attach(struct cuda_context **out, unsigned flags) {
    CUDA_LOCK;
    if (!out || flags)
        return CUDA_ErrorInvalidValue;
    if (!cuda_current_context)
        return CUDA_ErrorDeviceUninitialized;
    *out = cuda_current_context;
    cuda_current_context->uses++;
    return CUDA_Success;
}

enum cuda_error cuda_context_detach(struct cuda_context *c) {
    CUDA_LOCK;
    if (!cuda_context_is(c))
        return CUDA_ErrorDeviceUninitialized;
    return --c->uses ? CUDA_Success : cuda_context_destroy(c);
}

enum cuda_error cuda_context_set_current(struct cuda_context *c) {
    CUDA_LOCK;
    if (c && !cuda_context_is(c))
        return CUDA_ErrorDeviceUninitialized;
    if (c)
        cuda_current_context = c;
    else if (cuda_current_context)
        pop();
    return CUDA_Success;
}

enum cuda_error cuda_context_current(struct cuda_context **out) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = cuda_current_context;
    return CUDA_Success;
}

enum cuda_error cuda_context_version(const struct cuda_context *c, unsigned *out) {
    CUDA_LOCK;
    if (c ? !cuda_context_is(c) : !cuda_current_context)
        return CUDA_ErrorDeviceUninitialized;
    return cuda_put((int *)out, 3020);
}

enum cuda_error cuda_context_id(const struct cuda_context *c, unsigned long long *out) {
    CUDA_LOCK;
    c = c ? c : cuda_current_context;
    if (!cuda_context_is(c) || !out)
        return out ? CUDA_ErrorDeviceUninitialized : CUDA_ErrorInvalidValue;
    *out = (uintptr_t)c;
    return CUDA_Success;
}

enum cuda_error cuda_context_flags(unsigned *out) {
    CUDA_LOCK;
    return cuda_put((int *)out, (int)cuda_current_context->flags);
}

enum cuda_error cuda_context_set_flags(unsigned flags) {
    CUDA_LOCK;
    cuda_current_context->flags = flags;
    return CUDA_Success;
}

/* ---- the primary context ---- */

enum cuda_error cuda_primary_retain(struct cuda_context **out, int device) {
    CUDA_LOCK;
    if (!out || device)
        return out ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    cuda_primary_context.uses++;
    *out = &cuda_primary_context;
    return CUDA_Success;
}

enum cuda_error cuda_primary_release(int device) {
    CUDA_LOCK;
    struct cuda_context *c = &cuda_primary_context;
    if (device || !c->uses)
        return device ? CUDA_ErrorInvalidDevice : CUDA_ErrorDeviceUninitialized;
    if (!--c->uses)
        cuda_forget_fault();
    return CUDA_Success;
}

/* Clears the fault. The count of retains stays, so a caller that retained the primary context still has to release
 * it. */
enum cuda_error cuda_primary_reset(int device) {
    if (device)
        return CUDA_ErrorInvalidDevice;
    cuda_forget_fault();
    return CUDA_Success;
}

enum cuda_error cuda_primary_set_flags(int device, unsigned flags) {
    CUDA_LOCK;
    if (device)
        return CUDA_ErrorInvalidDevice;
    cuda_primary_context.flags = flags;
    return CUDA_Success;
}

enum cuda_error cuda_primary_state(int device, unsigned *flags, int *active) {
    CUDA_LOCK;
    if (device || !flags || !active)
        return device ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    *flags = cuda_primary_context.flags;
    *active = cuda_primary_context.uses > 0 || cuda_current_context == &cuda_primary_context;
    return CUDA_Success;
}
