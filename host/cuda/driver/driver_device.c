/* Device functions of the driver that have no equal in the runtime: their arguments differ. */
#include "driver.h"

static enum cuda_error number(int *out, int device, int value) {
    if (!out || device)
        return out ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue;
    *out = value;
    return CUDA_Success;
}

CUDA_API enum cuda_error cuDeviceGet(int *out, int ordinal) { DRIVER_READY(number(out, ordinal, 0)); }
CUDA_API enum cuda_error cuDeviceGetCount(int *out) { DRIVER_READY(cuda_put(out, 1)); }
CUDA_API enum cuda_error cuDeviceGetTexture1DLinearMaxWidth(size_t *out, int format, unsigned channels, int device) {
    if (!channels || channels > 4)
        DRIVER_READY(CUDA_ErrorInvalidValue);
    DRIVER_DEVICE(cuda_device_linear_width(out, &format, device));
}
CUDA_API enum cuda_error cuDeviceGetName(char *out, int size, int device) {
    DRIVER_READY(cuda_device_name(out, size, device));
}
CUDA_API enum cuda_error cuDeviceGetUuid(char *out, int device) { DRIVER_READY(cuda_device_uuid(out, device)); }
CUDA_API enum cuda_error cuDeviceTotalMem_v2(size_t *out, int device) { DRIVER_READY(cuda_device_memory(out, device)); }

static enum cuda_error capability(int *major, int *minor, int device) {
    enum { MAJOR = 75, MINOR };
    return cuda_fault() || cuda_device_attribute(major, MAJOR, device) ? CUDA_ErrorInvalidValue
                                                                       : cuda_device_attribute(minor, MINOR, device);
}

CUDA_API enum cuda_error cuDeviceComputeCapability(int *major, int *minor, int device) {
    DRIVER_READY(capability(major, minor, device));
}

struct old_properties {
    int most_threads, block[3], grid[3], shared, constant, warp, pitch, registers, clock, alignment;
};

/* Fills the struct of cuDeviceGetProperties(). Its fields are the device attributes 1 to 14, in their order. */
static enum cuda_error properties(struct old_properties *p, int device) {
    enum cuda_error e = p ? cuda_fault() : CUDA_ErrorInvalidValue;
    for (int i = 0; !e && i < (int)(sizeof *p / sizeof(int)); i++)
        e = cuda_device_attribute((int *)p + i, i + 1, device);
    return e;
}

CUDA_API enum cuda_error cuDeviceGetProperties(struct old_properties *out, int device) {
    DRIVER_READY(properties(out, device));
}
CUDA_API enum cuda_error cuCtxEnablePeerAccess(const struct cuda_context *c, unsigned flags) {
    (void)flags;
    DRIVER(cuda_context_is(c) ? CUDA_ErrorPeerAccessUnsupported : CUDA_ErrorDeviceUninitialized);
}
CUDA_API enum cuda_error cuCtxDisablePeerAccess(const struct cuda_context *c) {
    DRIVER(cuda_context_is(c) ? CUDA_ErrorPeerAccessNotEnabled : CUDA_ErrorDeviceUninitialized);
}
CUDA_API enum cuda_error cuCtxSetLimit(int which, size_t value) { DRIVER(cuda_set_limit(which, value)); }
