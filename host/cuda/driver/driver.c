/* The driver: its beginning, its contexts, its errors, and where its functions are. */
#include "driver.h"
#include "host/cuda/runtime/runtime_api.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PUSHED = 64, DRIVER_VERSION = 13000 };
/* Below the current one. */
static __thread struct cuda_context *below[MOST_PUSHED];
static __thread int n_below;

/* The runtime, too, does what cuInit() does. */
enum cuda_error driver_ready(void) {
    return cuda_core.h && !cuda_core.forked ? CUDA_Success : CUDA_ErrorInitializationError;
}

bool driver_is_context(const struct cuda_context *c) { return c && c->magic == CONTEXT_MAGIC && !c->destroyed; }

enum cuda_error driver_enter(enum cuda_error *kept) {
    pthread_mutex_lock(&cuda_core.lock);
    *kept = cuda_last_error;
    if (driver_ready())
        return CUDA_ErrorInitializationError;
    if (!driver_is_context(cuda_current_context))
        return cuda_current_context ? CUDA_ErrorContextIsDestroyed : CUDA_ErrorDeviceUninitialized;
    enum cuda_error e = cuda_enter();
    pthread_mutex_unlock(&cuda_core.lock);
    return e;
}

/* Errors that only the runtime has. */
static enum cuda_error common(enum cuda_error e) {
    switch (e) {
    case CUDA_ErrorInvalidConfiguration:
    case CUDA_ErrorInvalidPitchValue:
    case CUDA_ErrorInvalidDevicePointer:
    case CUDA_ErrorInvalidMemcpyDirection:
    case CUDA_ErrorInvalidChannelDescriptor:
        return CUDA_ErrorInvalidValue;
    case CUDA_ErrorInvalidDeviceFunction:
        return CUDA_ErrorInvalidResourceHandle;
    case CUDA_ErrorInvalidSymbol:
        return CUDA_ErrorSymbolNotFound;
    default:
        return e;
    }
}

enum cuda_error driver_leave(enum cuda_error e, enum cuda_error kept) {
    cuda_last_error = kept;
    pthread_mutex_unlock(&cuda_core.lock);
    return common(e);
}

CUDA_API enum cuda_error cuInit(unsigned flags) {
    if (flags)
        return CUDA_ErrorInvalidValue;
    struct cuda_context *current = cuda_current_context;
    enum cuda_error e = cuda_enter();
    pthread_mutex_unlock(&cuda_core.lock);
    cuda_current_context = current; /* none, unless the runtime was used */
    if (cuda_core.broken)
        return CUDA_ErrorNoDevice;
    if (cuda_core.forked)
        return CUDA_ErrorInitializationError;
    return e;
}

CUDA_API enum cuda_error cuDriverGetVersion(int *out) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = DRIVER_VERSION;
    return CUDA_Success;
}

/* ---- contexts ---- */

static enum cuda_error push(struct cuda_context *c) {
    if (!driver_is_context(c))
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

static enum cuda_error create(struct cuda_context **out, unsigned flags, int device) {
    if (!out || device)
        return out ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    struct cuda_context *c = malloc(sizeof *c);
    if (!c)
        return CUDA_ErrorMemoryAllocation;
    *c = (struct cuda_context){.magic = CONTEXT_MAGIC, .flags = flags, .uses = 1};
    enum cuda_error e = push(c);
    if (e)
        free(c);
    else
        *out = c;
    return e;
}

CUDA_API enum cuda_error cuCtxCreate_v2(struct cuda_context **out, unsigned flags, int device) {
    DRIVER_READY(create(out, flags, device));
}
CUDA_API enum cuda_error cuCtxCreate_v3(struct cuda_context **out, const void *affinity, int n, unsigned flags,
                                        int device) {
    (void)affinity;
    DRIVER_READY(n ? CUDA_ErrorUnsupportedExecAffinity : create(out, flags, device));
}
CUDA_API enum cuda_error cuCtxCreate_v4(struct cuda_context **out, const void *parameters, unsigned flags, int device) {
    (void)parameters;
    DRIVER_READY(create(out, flags, device));
}

/* After a fault a context is of no use any more; with it goes what it had to tell. */
static void forget_fault(void) {
    pthread_mutex_lock(&cuda_core.lock);
    cuda_core.sticky = CUDA_Success;
    pthread_mutex_unlock(&cuda_core.lock);
}

static enum cuda_error destroy(struct cuda_context *c) {
    if (!driver_is_context(c) || c == &cuda_primary_context)
        return CUDA_ErrorDeviceUninitialized;
    if (c == cuda_current_context)
        pop();
    c->destroyed = true; /* and stays: other threads may have it */
    forget_fault();
    return CUDA_Success;
}

CUDA_API enum cuda_error cuCtxDestroy_v2(struct cuda_context *c) { DRIVER_READY(destroy(c)); }
CUDA_API enum cuda_error cuCtxDetach(struct cuda_context *c) {
    DRIVER_READY(!driver_is_context(c) ? CUDA_ErrorDeviceUninitialized : --c->uses ? CUDA_Success : destroy(c));
}
CUDA_API enum cuda_error cuCtxAttach(struct cuda_context **out, unsigned flags) {
    if (!out || flags)
        return CUDA_ErrorInvalidValue;
    if (!cuda_current_context)
        return CUDA_ErrorDeviceUninitialized;
    *out = cuda_current_context;
    cuda_current_context->uses++;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuCtxPushCurrent_v2(struct cuda_context *c) { DRIVER_READY(push(c)); }
CUDA_API enum cuda_error cuCtxPopCurrent_v2(struct cuda_context **out) {
    if (driver_ready() || !cuda_current_context)
        return driver_ready() ? CUDA_ErrorInitializationError : CUDA_ErrorDeviceUninitialized;
    if (out)
        *out = cuda_current_context;
    pop();
    return CUDA_Success;
}

static enum cuda_error set_current(struct cuda_context *c) {
    if (c && !driver_is_context(c))
        return CUDA_ErrorDeviceUninitialized;
    if (c)
        cuda_current_context = c;
    else if (cuda_current_context)
        pop();
    return CUDA_Success;
}

CUDA_API enum cuda_error cuCtxSetCurrent(struct cuda_context *c) { DRIVER_READY(set_current(c)); }

static enum cuda_error get_current(struct cuda_context **out) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = cuda_current_context;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuCtxGetCurrent(struct cuda_context **out) { DRIVER_READY(get_current(out)); }

static enum cuda_error put(int *out, int value) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = value;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuCtxGetDevice(int *out) { DRIVER(put(out, 0)); }
CUDA_API enum cuda_error cuCtxGetFlags(unsigned *out) { DRIVER(put((int *)out, (int)cuda_current_context->flags)); }

static enum cuda_error set_flags(struct cuda_context *c, unsigned flags) {
    c->flags = flags;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuCtxSetFlags(unsigned flags) { DRIVER(set_flags(cuda_current_context, flags)); }
CUDA_API enum cuda_error cuCtxSynchronize(void) { DRIVER(CUDA_Success); }
CUDA_API enum cuda_error cuCtxGetApiVersion(const struct cuda_context *c, unsigned *out) {
    if (c ? !driver_is_context(c) : !cuda_current_context)
        return CUDA_ErrorDeviceUninitialized;
    return put((int *)out, 3020);
}

CUDA_API enum cuda_error cuCtxGetId(const struct cuda_context *c, unsigned long long *out) {
    c = c ? c : cuda_current_context;
    if (!driver_is_context(c) || !out)
        return out ? CUDA_ErrorDeviceUninitialized : CUDA_ErrorInvalidValue;
    *out = (uintptr_t)c;
    return CUDA_Success;
}

/* ---- the primary context ---- */

static enum cuda_error retain(struct cuda_context **out, int device) {
    if (!out || device)
        return out ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    cuda_primary_context.uses++;
    *out = &cuda_primary_context;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuDevicePrimaryCtxRetain(struct cuda_context **out, int device) {
    DRIVER_READY(retain(out, device));
}

static enum cuda_error release(int device) {
    struct cuda_context *c = &cuda_primary_context;
    if (device || !c->uses)
        return device ? CUDA_ErrorInvalidDevice : CUDA_ErrorDeviceUninitialized;
    if (!--c->uses)
        forget_fault();
    return CUDA_Success;
}

CUDA_API enum cuda_error cuDevicePrimaryCtxRelease_v2(int device) { DRIVER_READY(release(device)); }

/* Who retained it releases it all the same. */
static enum cuda_error reset(int device) {
    if (device)
        return CUDA_ErrorInvalidDevice;
    forget_fault();
    return CUDA_Success;
}

CUDA_API enum cuda_error cuDevicePrimaryCtxReset_v2(int device) { DRIVER_READY(reset(device)); }
CUDA_API enum cuda_error cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
    DRIVER_READY(device ? CUDA_ErrorInvalidDevice : set_flags(&cuda_primary_context, flags));
}

static enum cuda_error primary_state(int device, unsigned *flags, int *active) {
    if (device || !flags || !active)
        return device ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    *flags = cuda_primary_context.flags;
    *active = cuda_primary_context.uses > 0 || cuda_current_context == &cuda_primary_context;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    DRIVER_READY(primary_state(device, flags, active));
}

/* ---- errors ---- */

static const struct error_row {
    int number;
    const char *name;
} errors[] = {
#define DRIVER_ERROR(name, number) {number, #name},
#include "driver_errors.def"
#undef DRIVER_ERROR
};

static const char *error_name(enum cuda_error e) {
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].number == (int)e)
            return errors[i].name;
    return NULL;
}

CUDA_API enum cuda_error cuGetErrorName(enum cuda_error e, const char **out) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = error_name(e);
    return *out ? CUDA_Success : CUDA_ErrorInvalidValue;
}

CUDA_API enum cuda_error cuGetErrorString(enum cuda_error e, const char **out) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    const char *name = error_name(e), *text = name ? cudaGetErrorString(e) : NULL;
    *out = text && strncmp(text, "cuda", 4) == 0 ? name : text; /* its text is its name */
    return name ? CUDA_Success : CUDA_ErrorInvalidValue;
}

/* ---- where functions are ---- */

/* The name that the header of a version has for what is called without a number. */
static const struct version_row {
    const char *name, *is;
    int from;
} versions[] = {
#define VERSION(name, is, from) {#name, #is, from},
#include "driver_versions.def"
#undef VERSION
};

enum { SYMBOL_FOUND, SYMBOL_NOT_FOUND, SYMBOL_TOO_NEW };

static void *look_up(const char *name, int version) {
    const char *is = name;
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
        if (strcmp(versions[i].name, name) == 0 && version >= versions[i].from)
            is = versions[i].is; /* rows of one name from old to new */
    Dl_info here;
    void *self = dladdr((void *)(uintptr_t)cuInit, &here) ? dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = self ? dlsym(self, is) : NULL;
    if (self)
        dlclose(self);
    return found;
}

CUDA_API enum cuda_error cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status) {
    (void)flags; /* a default stream a thread: the same functions */
    if (!name || !out || strncmp(name, "cu", 2) != 0 || strncmp(name, "cuda", 4) == 0) {
        if (out)
            *out = NULL;
        if (status)
            *status = SYMBOL_NOT_FOUND;
        return name && out ? CUDA_ErrorSymbolNotFound : CUDA_ErrorInvalidValue;
    }
    *out = strcmp(name, "cuGetProcAddress") == 0 && version >= 12000 ? (void *)(uintptr_t)cuGetProcAddress_v2
                                                                     : look_up(name, version);
    if (status)
        *status = *out ? SYMBOL_FOUND : SYMBOL_NOT_FOUND;
    return *out ? CUDA_Success : CUDA_ErrorSymbolNotFound;
}
CUDA_API enum cuda_error cuGetProcAddress(const char *name, void **out, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, out, version, flags, NULL);
}

CUDA_API enum cuda_error cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version,
                                                          unsigned long long flags, int *status) {
    enum cuda_error e = cuGetProcAddress_v2(name, out, (int)version, flags, status);
    return cuda_note(e == CUDA_ErrorSymbolNotFound ? CUDA_Success : e); /* *status says it */
}
CUDA_API enum cuda_error cudaGetDriverEntryPoint(const char *name, void **out, unsigned long long flags, int *status) {
    return cudaGetDriverEntryPointByVersion(name, out, (unsigned)cuda_major() * 1000 + 80, flags, status);
}
