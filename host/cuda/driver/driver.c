/* The driver interface: cuInit(), contexts, errors, addresses of functions, and refused functions. */
#include "driver.h"

CUDA_API enum cuda_error cuInit(unsigned flags) { return flags ? CUDA_ErrorInvalidValue : cuda_open(); }

/* ---- contexts ---- */

CUDA_API enum cuda_error cuCtxCreate_v2(struct cuda_context **out, unsigned flags, int device) {
    DRIVER_READY(cuda_context_new(out, flags, device));
}
CUDA_API enum cuda_error cuCtxCreate_v3(struct cuda_context **out, const void *affinity, int n, unsigned flags,
                                        int device) {
    (void)affinity;
    DRIVER_READY(n ? CUDA_ErrorUnsupportedExecAffinity : cuda_context_new(out, flags, device));
}
CUDA_API enum cuda_error cuCtxCreate_v4(struct cuda_context **out, const void *parameters, unsigned flags, int device) {
    (void)parameters;
    DRIVER_READY(cuda_context_new(out, flags, device));
}
CUDA_API enum cuda_error cuCtxDestroy_v2(struct cuda_context *c) { DRIVER_READY(cuda_context_destroy(c)); }
CUDA_API enum cuda_error cuCtxDetach(struct cuda_context *c) { DRIVER_READY(cuda_context_detach(c)); }
CUDA_API enum cuda_error cuCtxAttach(struct cuda_context **out, unsigned flags) {
    DRIVER_ANY(cuda_context_attach(out, flags));
}
CUDA_API enum cuda_error cuCtxPushCurrent_v2(struct cuda_context *c) { DRIVER_READY(cuda_context_push(c)); }
CUDA_API enum cuda_error cuCtxPopCurrent_v2(struct cuda_context **out) { DRIVER_READY(cuda_context_pop(out)); }
CUDA_API enum cuda_error cuCtxSetCurrent(struct cuda_context *c) { DRIVER_READY(cuda_context_set_current(c)); }
CUDA_API enum cuda_error cuCtxGetCurrent(struct cuda_context **out) { DRIVER_READY(cuda_context_current(out)); }
CUDA_API enum cuda_error cuCtxGetDevice(int *out) { DRIVER(cuda_put(out, 0)); }
CUDA_API enum cuda_error cuCtxGetFlags(unsigned *out) { DRIVER(cuda_context_flags(out)); }
CUDA_API enum cuda_error cuCtxSetFlags(unsigned flags) { DRIVER(cuda_context_set_flags(flags)); }
CUDA_API enum cuda_error cuCtxGetApiVersion(const struct cuda_context *c, unsigned *out) {
    DRIVER_ANY(cuda_context_version(c, out));
}
CUDA_API enum cuda_error cuCtxGetId(const struct cuda_context *c, unsigned long long *out) {
    DRIVER_ANY(cuda_context_id(c, out));
}
CUDA_API enum cuda_error cuDevicePrimaryCtxRetain(struct cuda_context **out, int device) {
    DRIVER_READY(cuda_primary_retain(out, device));
}
CUDA_API enum cuda_error cuDevicePrimaryCtxRelease_v2(int device) { DRIVER_READY(cuda_primary_release(device)); }
CUDA_API enum cuda_error cuDevicePrimaryCtxReset_v2(int device) { DRIVER_READY(cuda_primary_reset(device)); }
CUDA_API enum cuda_error cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
    DRIVER_READY(cuda_primary_set_flags(device, flags));
}
CUDA_API enum cuda_error cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    DRIVER_READY(cuda_primary_state(device, flags, active));
}

/* ---- errors ---- */

static const struct error_row {
    int number;
    const char *name;
} errors[] = {
#define DRIVER_INSTEAD(error, instead)
#define DRIVER_ERROR(name, number) {number, #name},
#include "driver_errors.def"
#undef DRIVER_ERROR
#undef DRIVER_INSTEAD
};

enum cuda_error driver_error(enum cuda_error e) {
    switch (e) {
#define DRIVER_ERROR(name, number)
#define DRIVER_INSTEAD(error, instead)                                                                                 \
    case CUDA_##error:                                                                                                 \
        return CUDA_##instead;
#include "driver_errors.def"
    default:
        return e;
    }
}

enum cuda_error driver_leave(enum cuda_error e) {
    cuda_leave();
    return driver_error(e);
}

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
    const char *name = error_name(e), *text = cuda_error_text(e);
    *out = name && text ? text : name;
    return name ? CUDA_Success : CUDA_ErrorInvalidValue;
}

/* ---- addresses of functions; the flags only select whether each thread has its own default stream, which has no
 * effect here ---- */

enum { OWN_STREAMS = 2 }; /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */
CUDA_API enum cuda_error cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status) {
    return cuda_entry_point(name, out, version, flags & OWN_STREAMS, status);
}
CUDA_API enum cuda_error cuGetProcAddress(const char *name, void **out, int version, uint64_t flags) {
    return cuda_entry_point(name, out, version, flags & OWN_STREAMS, NULL);
}

/* ---- refused functions ---- */

#define MISSING(name)                                                                                                  \
    CUDA_API enum cuda_error name(void) {                                                                              \
        static bool printed;                                                                                           \
        return cuda_missing(#name, &printed, "CUDA_ERROR_NOT_SUPPORTED");                                              \
    }
#include "driver_missing.def"
