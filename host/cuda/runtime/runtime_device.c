/* Device functions of the runtime that differ in form from the driver's, or that the driver lacks. */
#include "runtime.h"
#include <stddef.h>
#include <string.h>

/* cudaDeviceProp of CUDA 13. It lacks the fields with OLD(), and has additional fields in place of a part of the
 * reserved area. */
#define PROP(type, name, count) type name count;
#define NEW(type, name, count)  type name count;
struct properties_13 {
#define OLD(type, name, count)
#include "host/cuda/core/properties.def"
#undef OLD
    int deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId;
    unsigned gpuPciDeviceID, gpuPciSubsystemID;
    int hostNumaMultinodeIpcSupported, reserved[56];
};
#undef PROP
#undef NEW
_Static_assert(sizeof(struct properties_13) == 1008, "the size in CUDA 13");

/* Copies all fields that exist in CUDA 13. */
static void as_13(struct properties_13 *out, const struct cuda_properties *p) {
    memset(out, 0, sizeof *out);
#define PROP(type, name, count) memcpy((void *)&out->name, (const void *)&p->name, sizeof out->name);
#define NEW(type, name, count)  PROP(type, name, count)
#define OLD(type, name, count)
#include "host/cuda/core/properties.def"
#undef PROP
#undef NEW
#undef OLD
}

static enum cuda_error properties(void *out, int device) {
    struct cuda_properties p;
    enum cuda_error e = out ? cuda_device_properties(&p, device) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    if (cuda_major() >= 13)
        as_13(out, &p);
    else /* this is the struct of CUDA 11, since programs of CUDA 12 call cudaGetDeviceProperties_v2() */
        memcpy(out, &p, offsetof(struct cuda_properties, hostRegisterSupported));
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaGetDeviceProperties(void *out, int device) { RUNTIME_BESIDE(properties(out, device)); }
CUDA_API enum cuda_error cudaGetDeviceProperties_v2(struct cuda_properties *out, int device) {
    RUNTIME_BESIDE(out ? cuda_device_properties(out, device) : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cudaDeviceGetTexture1DLinearMaxWidth(size_t *out, const void *format, int device) {
    RUNTIME(cuda_device_linear_width(out, format, device));
}
CUDA_API enum cuda_error cudaGetDeviceCount(int *out) {
    enum cuda_error e = cuda_enter();
    return runtime_leave(e == CUDA_ErrorInitializationError ? CUDA_ErrorNoDevice : cuda_put(out, 1));
}
CUDA_API enum cuda_error cudaGetDevice(int *out) { NOTE(cuda_put(out, 0)); }
CUDA_API enum cuda_error cudaSetDevice(int device) { RUNTIME_BESIDE(device ? CUDA_ErrorInvalidDevice : CUDA_Success); }
CUDA_API enum cuda_error cudaInitDevice(int device) { RUNTIME(device ? CUDA_ErrorInvalidDevice : CUDA_Success); }
CUDA_API enum cuda_error cudaChooseDevice(int *out) { NOTE(cuda_put(out, 0)); }
CUDA_API enum cuda_error cudaSetValidDevices(const int *list, int n) {
    NOTE(list || !n ? CUDA_Success : CUDA_ErrorInvalidValue);
}
CUDA_API enum cuda_error cudaSetDeviceFlags(unsigned flags) { NOTE(cuda_device_set_flags(flags)); }
CUDA_API enum cuda_error cudaGetDeviceFlags(unsigned *flags) { NOTE(cuda_device_flags(flags)); }
CUDA_API enum cuda_error cudaThreadSynchronize(void) { RUNTIME(CUDA_Success); }

/* Clears a fault and does nothing else: memory and variables are kept, and the report at exit includes all launches.
 * Programs call this function at their end, or to continue after a fault. */
static enum cuda_error reset(void) {
    enum cuda_error e = cuda_enter();
    if (e && e == cuda_fault()) {
        cuda_forget_fault();
        runtime_last_error = e = CUDA_Success;
    }
    return runtime_leave(e);
}

CUDA_API enum cuda_error cudaDeviceReset(void) { return reset(); }
CUDA_API enum cuda_error cudaThreadExit(void) { return reset(); }
CUDA_API enum cuda_error cudaDeviceSetLimit(int which, size_t value) {
    if (which == CUDA_LIMIT_HEAP)
        RUNTIME(cuda_set_limit(which, value));
    NOTE(cuda_set_limit(which, value));
}
CUDA_API enum cuda_error cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    (void)flags;
    NOTE(peer ? CUDA_ErrorInvalidDevice : CUDA_ErrorPeerAccessUnsupported);
}
CUDA_API enum cuda_error cudaDeviceDisablePeerAccess(int peer) {
    NOTE(peer ? CUDA_ErrorInvalidDevice : CUDA_ErrorPeerAccessNotEnabled);
}
CUDA_API enum cuda_error cudaRuntimeGetVersion(int *out) {
    NOTE(cuda_put(out, cuda_major() == 11 ? 11080 : cuda_major() == 12 ? 12080 : 13000));
}
