/* The device, as the driver tells of it. */
#include "driver.h"
#include "host/cuda/runtime/runtime_api.h"
#include <string.h>

/* These need no context, and leave none. */
#define DEVICE(...)                                                                                                    \
    do {                                                                                                               \
        struct cuda_context *current_ = cuda_current_context;                                                          \
        enum cuda_error kept_ = cuda_last_error, ready_ = driver_ready();                                              \
        pthread_mutex_lock(&cuda_core.lock);                                                                           \
        ready_ = driver_leave(ready_ ? ready_ : (__VA_ARGS__), kept_);                                                 \
        cuda_current_context = current_;                                                                               \
        return ready_;                                                                                                 \
    } while (0)

static enum cuda_error put(int *out, int device, int value) {
    if (!out || device)
        return out ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    *out = value;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuDeviceGet(int *out, int ordinal) { DEVICE(put(out, ordinal, 0)); }
CUDA_API enum cuda_error cuDeviceGetCount(int *out) { DEVICE(put(out, 0, 1)); }
CUDA_API enum cuda_error cuDeviceGetTexture1DLinearMaxWidth(size_t *out, int format, unsigned channels, int device) {
    DEVICE(!channels || channels > 4 ? CUDA_ErrorInvalidValue
                                     : cudaDeviceGetTexture1DLinearMaxWidth(out, &format, device));
}
CUDA_API enum cuda_error cuDeviceGetAttribute(int *out, int which, int device) {
    DEVICE(cudaDeviceGetAttribute(out, which, device));
}

static enum cuda_error name(char *out, int size, int device) {
    if (!out || size < 1 || device)
        return device ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    snprintf(out, (size_t)size, "%s (Heddle)", heddle_machine(cuda_core.h));
    return CUDA_Success;
}

CUDA_API enum cuda_error cuDeviceGetName(char *out, int size, int device) { DEVICE(name(out, size, device)); }

/* One that is the same in every run, and no other device's. */
static enum cuda_error uuid(char *out, int device) {
    if (!out || device)
        return device ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    memcpy(out, "Heddle simulator", 16);
    return CUDA_Success;
}

CUDA_API enum cuda_error cuDeviceGetUuid(char *out, int device) { DEVICE(uuid(out, device)); }

static enum cuda_error total(size_t *out, int device) {
    uint64_t limit;
    if (!out || device)
        return device ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    heddle_memory(cuda_core.h, &limit, NULL);
    *out = limit;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuDeviceTotalMem_v2(size_t *out, int device) { DEVICE(total(out, device)); }

enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR };
CUDA_API enum cuda_error cuDeviceComputeCapability(int *major, int *minor, int device) {
    DEVICE(cudaDeviceGetAttribute(major, CAPABILITY_MAJOR, device)
               ? CUDA_ErrorInvalidValue
               : cudaDeviceGetAttribute(minor, CAPABILITY_MINOR, device));
}

struct old_properties {
    int most_threads, block[3], grid[3], shared, constant, warp, pitch, registers, clock, alignment;
};

static enum cuda_error properties(struct old_properties *p, int device) {
    /* the numbers of the attributes that the fields are, in their order */
    static const int which[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    enum cuda_error e = p ? CUDA_Success : CUDA_ErrorInvalidValue;
    for (size_t i = 0; !e && i < sizeof which / sizeof which[0]; i++)
        e = cudaDeviceGetAttribute((int *)p + i, which[i], device);
    return e;
}

CUDA_API enum cuda_error cuDeviceGetProperties(struct old_properties *out, int device) {
    DEVICE(properties(out, device));
}
CUDA_API enum cuda_error cuDeviceGetPCIBusId(char *out, int size, int device) {
    DEVICE(cudaDeviceGetPCIBusId(out, size, device));
}
CUDA_API enum cuda_error cuDeviceGetByPCIBusId(int *out, const char *id) { DEVICE(cudaDeviceGetByPCIBusId(out, id)); }
CUDA_API enum cuda_error cuDeviceCanAccessPeer(int *out, int device, int peer) {
    DEVICE(cudaDeviceCanAccessPeer(out, device, peer));
}
CUDA_API enum cuda_error cuCtxEnablePeerAccess(const struct cuda_context *c, unsigned flags) {
    (void)flags;
    DRIVER(driver_is_context(c) ? CUDA_ErrorPeerAccessUnsupported : CUDA_ErrorDeviceUninitialized);
}
CUDA_API enum cuda_error cuCtxDisablePeerAccess(const struct cuda_context *c) {
    DRIVER(driver_is_context(c) ? CUDA_ErrorPeerAccessNotEnabled : CUDA_ErrorDeviceUninitialized);
}
CUDA_API enum cuda_error cuCtxGetLimit(size_t *out, int which) { DRIVER(cudaDeviceGetLimit(out, which)); }
CUDA_API enum cuda_error cuCtxSetLimit(int which, size_t value) { DRIVER(cudaDeviceSetLimit(which, value)); }
CUDA_API enum cuda_error cuCtxGetCacheConfig(int *out) { DRIVER(put(out, 0, 0)); }
CUDA_API enum cuda_error cuCtxSetCacheConfig(int which) { DRIVER((void)which, CUDA_Success); }
CUDA_API enum cuda_error cuCtxGetSharedMemConfig(int *out) { DRIVER(put(out, 0, 1)); }
CUDA_API enum cuda_error cuCtxSetSharedMemConfig(int which) { DRIVER((void)which, CUDA_Success); }
CUDA_API enum cuda_error cuCtxResetPersistingL2Cache(void) { DRIVER(CUDA_Success); }
CUDA_API enum cuda_error cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    DRIVER((least ? *least = 0 : 0), (greatest ? *greatest = 0 : 0), CUDA_Success);
}
CUDA_API enum cuda_error cuProfilerStart(void) { DRIVER(CUDA_Success); }
CUDA_API enum cuda_error cuProfilerStop(void) { DRIVER(CUDA_Success); }
