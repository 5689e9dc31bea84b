/* The one device: what the configuration says it is. */
#include "host/cuda/core/core.h"
#include "host/reserve.h"
#include "runtime_api.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

/* As CUDA 12 has it, which is 11's with more at its end; and as 13 has it, without some and with a reserve. */
#define PROP(type, name, count) type name count;
#define NEW(type, name, count)  type name count;
struct properties {
#define OLD(type, name, count) type name count;
#include "properties.def"
#undef OLD
    int reserved[63];
};
struct properties_13 {
#define OLD(type, name, count)
#include "properties.def"
#undef OLD
    int deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId;
    unsigned gpuPciDeviceID, gpuPciSubsystemID;
    int hostNumaMultinodeIpcSupported, reserved[56];
};
#undef PROP
#undef NEW
_Static_assert(sizeof(struct properties) == 1032 && sizeof(struct properties_13) == 1008, "CUDA 12's and 13's size");

static double option(const char *key) { return heddle_option(cuda_core.h, key); }
static int whole(const char *key) { return (int)option(key); }

static void describe_memory(struct properties *p) {
    uint64_t limit;
    int shared = whole("sm.shared_bytes");
    heddle_memory(cuda_core.h, &limit, NULL);
    p->totalGlobalMem = limit;
    p->totalConstMem = 65536;
    p->sharedMemPerBlock = (size_t)(shared < 49152 ? shared : 49152);
    p->sharedMemPerBlockOptin = p->sharedMemPerMultiprocessor = (size_t)shared;
    p->memPitch = INT32_MAX;
    p->textureAlignment = p->surfaceAlignment = 512;
    p->texturePitchAlignment = 32;
    p->memoryClockRate = (int)(1e3 * option("clock.dram_mhz") * option("dram.data_rate") / 2);
    p->memoryBusWidth = 8 * whole("dram.channels") * whole("dram.bus_bytes");
    p->l2CacheSize = whole("l2.size");
    p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->canMapHostMemory = p->unifiedAddressing = p->managedMemory = 1;
    p->canUseHostPointerForRegisteredMem = p->hostRegisterSupported = 1;
    p->concurrentManagedAccess = p->memoryPoolsSupported = p->ipcEventSupported = 1;
}

/* What kernels can name; the machine bounds none of it, so that these are a GPU's of 7.5. */
static void describe_textures(struct properties *p) {
    p->maxTexture1D = p->maxTexture2D[0] = 131072;
    p->maxTexture1DMipmap = p->maxTexture2DMipmap[0] = p->maxTexture2DMipmap[1] = 32768;
    p->maxTexture1DLinear = 1 << 27;
    p->maxTexture2D[1] = 65536;
    p->maxTexture2DLinear[0] = 131072;
    p->maxTexture2DLinear[1] = 65000;
    p->maxTexture2DLinear[2] = 2097120;
    p->maxTexture2DGather[0] = p->maxTexture2DGather[1] = 32768;
    p->maxTexture3DAlt[0] = p->maxTexture3DAlt[1] = 8192;
    p->maxTexture3DAlt[2] = 32768;
    p->maxTextureCubemap = p->maxTextureCubemapLayered[0] = 32768;
    p->maxTextureCubemapLayered[1] = 2046;
    p->maxTexture1DLayered[0] = p->maxTexture2DLayered[0] = p->maxTexture2DLayered[1] = 32768;
    p->maxTexture1DLayered[1] = p->maxTexture2DLayered[2] = 2048;
    p->maxSurface1D = p->maxSurface1DLayered[0] = p->maxSurface2DLayered[0] = p->maxSurface2DLayered[1] = 32768;
    p->maxSurface1DLayered[1] = p->maxSurface2DLayered[2] = 2048;
    p->maxSurface2D[0] = 131072;
    p->maxSurface2D[1] = 65536;
    p->maxSurfaceCubemap = p->maxSurfaceCubemapLayered[0] = 32768;
    p->maxSurfaceCubemapLayered[1] = 2046;
    for (int i = 0; i < 3; i++)
        p->maxTexture3D[i] = p->maxSurface3D[i] = 16384;
}

static void describe_machine(struct properties *p) {
    int tenths = (int)lround(10 * option("gpu.capability"));
    snprintf(p->name, sizeof p->name, "%s (Heddle)", heddle_machine(cuda_core.h));
    p->major = tenths / 10;
    p->minor = tenths % 10;
    p->warpSize = 32;
    p->multiProcessorCount = whole("gpu.sms");
    p->clockRate = (int)(1e3 * option("clock.core_mhz"));
    p->regsPerBlock = p->regsPerMultiprocessor = whole("sm.registers");
    p->maxThreadsPerMultiProcessor = 32 * whole("sm.warps");
    p->maxBlocksPerMultiProcessor = whole("sm.ctas");
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = INT32_MAX;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->asyncEngineCount = p->deviceOverlap = 1;
    p->singleToDoublePrecisionPerfRatio = 2;
    p->concurrentKernels = p->cooperativeLaunch = p->streamPrioritiesSupported = p->unifiedFunctionPointers = 1;
    describe_memory(p);
    describe_textures(p);
}

static enum cuda_error describe(struct properties *out, int device) {
    if (device != 0)
        return CUDA_ErrorInvalidDevice;
    memset(out, 0, sizeof *out);
    describe_machine(out);
    return CUDA_Success;
}

/* The same without the fields that 13 has no more. */
static void as_13(struct properties_13 *out, const struct properties *p) {
    memset(out, 0, sizeof *out);
#define PROP(type, name, count) memcpy((void *)&out->name, (const void *)&p->name, sizeof out->name);
#define NEW(type, name, count)  PROP(type, name, count)
#define OLD(type, name, count)
#include "properties.def"
#undef PROP
#undef NEW
#undef OLD
}

CUDA_API enum cuda_error cudaGetDeviceProperties(void *out, int device) {
    struct properties p;
    enum cuda_error e = cuda_enter();
    if (!e)
        e = out ? describe(&p, device) : CUDA_ErrorInvalidValue;
    if (!e && cuda_major() >= 13)
        as_13(out, &p);
    else if (!e) /* 12 has _v2 for its own */
        memcpy(out, &p, offsetof(struct properties, hostRegisterSupported));
    return cuda_leave(e);
}

CUDA_API enum cuda_error cudaGetDeviceProperties_v2(struct properties *out, int device) {
    GUARD(out ? describe(out, device) : CUDA_ErrorInvalidValue);
}

static enum cuda_error attribute(int *out, int which, int device) {
    enum { STREAM_VALUES = 92, STREAM_VALUES_64, STREAM_VALUES_NOR, VIRTUAL_MEMORY = 102, MEMORY_AS_FILE };
    enum { STREAM_VALUES_64_V2 = 122, STREAM_VALUES_NOR_V2 };
    struct properties p;
    enum cuda_error e = out ? describe(&p, device) : CUDA_ErrorInvalidValue;
    if (e)
        return e;
    switch (which) {
#define ATTRIBUTE(number, property)                                                                                    \
    case number:                                                                                                       \
        *out = (int)p.property;                                                                                        \
        break;
#include "attributes.def"
#undef ATTRIBUTE
    case VIRTUAL_MEMORY:
    case MEMORY_AS_FILE:
    case STREAM_VALUES:
    case STREAM_VALUES_64:
    case STREAM_VALUES_NOR:
    case STREAM_VALUES_64_V2:
    case STREAM_VALUES_NOR_V2:
        *out = 1; /* what only the driver knows */
        break;
    default:
        *out = 0; /* there is no such thing in the machine */
        return which < 1 || which > 200 ? CUDA_ErrorInvalidValue : CUDA_Success;
    }
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaDeviceGetAttribute(int *out, int which, int device) {
    GUARD(attribute(out, which, device));
}

static enum cuda_error put(int *out, int value) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = value;
    return CUDA_Success;
}

/* Elements of a texture over memory in a row, of any format. */
static enum cuda_error linear_width(size_t *out, const void *format, int device) {
    struct properties p;
    enum cuda_error e = out && format ? describe(&p, device) : CUDA_ErrorInvalidValue;
    if (!e)
        *out = (size_t)p.maxTexture1DLinear;
    return e;
}

CUDA_API enum cuda_error cudaDeviceGetTexture1DLinearMaxWidth(size_t *out, const void *format, int device) {
    GUARD(linear_width(out, format, device));
}

CUDA_API enum cuda_error cudaGetDeviceCount(int *out) {
    enum cuda_error e = cuda_enter();
    e = e == CUDA_ErrorInitializationError ? CUDA_ErrorNoDevice : put(out, 1);
    return cuda_leave(e);
}
CUDA_API enum cuda_error cudaGetDevice(int *out) { return cuda_note(put(out, 0)); }
CUDA_API enum cuda_error cudaSetDevice(int device) { GUARD(device ? CUDA_ErrorInvalidDevice : CUDA_Success); }
CUDA_API enum cuda_error cudaInitDevice(int device) { return cudaSetDevice(device); }
CUDA_API enum cuda_error cudaChooseDevice(int *out) { return cuda_note(put(out, 0)); }
CUDA_API enum cuda_error cudaSetValidDevices(const int *list, int n) {
    return cuda_note(list || !n ? CUDA_Success : CUDA_ErrorInvalidValue);
}
/* How the host would wait; all has been done by then. */
static _Atomic unsigned device_flags;
CUDA_API enum cuda_error cudaSetDeviceFlags(unsigned flags) {
    enum { ALL = 0xff };
    if (flags & ~(unsigned)ALL)
        return cuda_note(CUDA_ErrorInvalidValue);
    device_flags = flags;
    return CUDA_Success;
}
CUDA_API enum cuda_error cudaGetDeviceFlags(unsigned *flags) { return cuda_note(put((int *)flags, (int)device_flags)); }
CUDA_API enum cuda_error cudaDeviceSynchronize(void) { GUARD(CUDA_Success); }
CUDA_API enum cuda_error cudaThreadSynchronize(void) { GUARD(CUDA_Success); }
/* What programs do last, and those that go on after a kernel's fault: memory and variables stay, and what the kernels
 * did is told at exit. */
CUDA_API enum cuda_error cudaDeviceReset(void) {
    enum cuda_error e = cuda_enter();
    if (e && e == cuda_core.sticky) {
        cuda_core.sticky = e = CUDA_Success;
        cuda_last_error = CUDA_Success;
    }
    return cuda_leave(e);
}
CUDA_API enum cuda_error cudaThreadExit(void) { return cudaDeviceReset(); }
CUDA_API enum cuda_error cudaDeviceSetCacheConfig(int which) {
    (void)which;
    return CUDA_Success;
}
CUDA_API enum cuda_error cudaDeviceGetCacheConfig(int *out) { return cuda_note(put(out, 0)); }
CUDA_API enum cuda_error cudaDeviceSetSharedMemConfig(int which) { return cudaDeviceSetCacheConfig(which); }
CUDA_API enum cuda_error cudaDeviceGetSharedMemConfig(int *out) { return cuda_note(put(out, 1)); }
CUDA_API enum cuda_error cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least)
        *least = 0;
    if (greatest)
        *greatest = 0;
    return CUDA_Success;
}

/* Stack of a thread, buffer of printf(), heap of malloc(), and what dynamic parallelism would need. */
enum { N_LIMITS = 7, HEAP = 2, PERSISTING = 6 };
static _Atomic size_t limits[N_LIMITS] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
CUDA_API enum cuda_error cudaDeviceGetLimit(size_t *out, int which) {
    if (!out || which < 0 || which >= N_LIMITS)
        return cuda_note(CUDA_ErrorUnsupportedLimit);
    *out = limits[which];
    return CUDA_Success;
}
/* The heap is made when the first kernel that needs it is launched, and then stays as it is. */
static enum cuda_error set_heap(size_t value) {
    if (value > limits[HEAP] && !reserve_heap(cuda_core.h, value)) {
        fprintf(stderr, "heddle: cudaDeviceSetLimit: the heap of malloc() is in use, and has %zu bytes, not %zu\n",
                limits[HEAP], value);
        return CUDA_ErrorInvalidValue;
    }
    limits[HEAP] = value > limits[HEAP] ? value : limits[HEAP];
    return CUDA_Success;
}

/* Stack and buffer have no limit that a program would meet, and are only noted, as is what L2 may keep. */
CUDA_API enum cuda_error cudaDeviceSetLimit(int which, size_t value) {
    if (which < 0 || which >= N_LIMITS)
        return cuda_note(CUDA_ErrorUnsupportedLimit);
    if (which == HEAP)
        GUARD(set_heap(value));
    limits[which] = which == PERSISTING ? 0 : value;
    return CUDA_Success;
}

CUDA_API enum cuda_error cudaDeviceCanAccessPeer(int *out, int device, int peer) {
    return cuda_note(device || peer ? CUDA_ErrorInvalidDevice : put(out, 0));
}
CUDA_API enum cuda_error cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    (void)flags;
    return cuda_note(peer ? CUDA_ErrorInvalidDevice : CUDA_ErrorPeerAccessUnsupported);
}
CUDA_API enum cuda_error cudaDeviceDisablePeerAccess(int peer) {
    return cuda_note(peer ? CUDA_ErrorInvalidDevice : CUDA_ErrorPeerAccessNotEnabled);
}
CUDA_API enum cuda_error cudaDeviceGetPCIBusId(char *out, int size, int device) {
    if (!out || size < 13 || device)
        return cuda_note(device ? CUDA_ErrorInvalidDevice : CUDA_ErrorInvalidValue);
    strcpy(out, "0000:00:00.0");
    return CUDA_Success;
}
CUDA_API enum cuda_error cudaDeviceGetByPCIBusId(int *out, const char *id) {
    return cuda_note(id && strcmp(id, "0000:00:00.0") == 0 ? put(out, 0) : CUDA_ErrorInvalidDevice);
}

CUDA_API enum cuda_error cudaDriverGetVersion(int *out) { return cuda_note(put(out, 13000)); }
CUDA_API enum cuda_error cudaRuntimeGetVersion(int *out) {
    return cuda_note(put(out, cuda_major() == 11 ? 11080 : cuda_major() == 12 ? 12080 : 13000));
}
/* Nobody else profiles: every launch is counted. */
CUDA_API enum cuda_error cudaProfilerInitialize(void) { return CUDA_Success; }
CUDA_API enum cuda_error cudaProfilerStart(void) { return CUDA_Success; }
CUDA_API enum cuda_error cudaProfilerStop(void) { return CUDA_Success; }
