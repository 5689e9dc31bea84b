/* The device: properties and attributes (from the configuration), and limits. */
#include "core_device.h"
#include "host/reserve.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static double option(const char *key) { return heddle_option(cuda_core.h, key); }
static int whole(const char *key) { return (int)option(key); }

static void describe_memory(struct cuda_properties *p) {
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

/* Sets the limits of textures. The machine does not limit textures, so the limits of a GPU of compute capability 7.5
 * are reported. */
static void describe_textures(struct cuda_properties *p) {
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

static void describe_machine(struct cuda_properties *p) {
    int tenths = (int)lround(10 * option("gpu.capability"));
    snprintf(p->name, sizeof p->name, "%s (Heddle)", heddle_machine(cuda_core.h));
    p->major = tenths / 10;
    p->minor = tenths % 10;
    p->warpSize = whole("sm.warp_size");
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

enum cuda_error cuda_device_properties(struct cuda_properties *out, int device) {
    CUDA_LOCK;
    if (device != 0)
        return CUDA_ErrorInvalidDevice;
    memset(out, 0, sizeof *out);
    describe_machine(out);
    return CUDA_Success;
}

enum cuda_error cuda_device_attribute(int *out, int which, int device) {
    CUDA_LOCK;
    enum { STREAM_VALUES = 92, STREAM_VALUES_64, STREAM_VALUES_NOR, VIRTUAL_MEMORY = 102, MEMORY_AS_FILE };
    enum { STREAM_VALUES_64_V2 = 122, STREAM_VALUES_NOR_V2 };
    struct cuda_properties p;
    enum cuda_error e = out ? cuda_device_properties(&p, device) : CUDA_ErrorInvalidValue;
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
        *out = 1; /* these features exist, but cudaDeviceProp has no fields for them */
        break;
    default:
        *out = 0; /* the machine lacks the feature */
        return which < 1 || which > 200 ? CUDA_ErrorInvalidValue : CUDA_Success;
    }
    return CUDA_Success;
}

enum cuda_error cuda_device_linear_width(size_t *out, const void *format, int device) {
    CUDA_LOCK;
    struct cuda_properties p;
    enum cuda_error e = out && format ? cuda_device_properties(&p, device) : CUDA_ErrorInvalidValue;
    if (!e)
        *out = (size_t)p.maxTexture1DLinear;
    return e;
}

/* Returns an error if the device number is not 0, or if `out` is NULL. */
static enum cuda_error check(const void *out, int device) {
    return device ? CUDA_ErrorInvalidDevice : out ? CUDA_Success : CUDA_ErrorInvalidValue;
}

enum cuda_error cuda_device_name(char *out, int size, int device) {
    CUDA_LOCK;
    enum cuda_error e = check(size < 1 ? NULL : out, device);
    if (!e)
        snprintf(out, (size_t)size, "%s (Heddle)", heddle_machine(cuda_core.h));
    return e;
}

enum cuda_error cuda_device_uuid(char *out, int device) {
    enum cuda_error e = check(out, device);
    if (!e)
        memcpy(out, "Heddle simulator", 16);
    return e;
}

enum cuda_error cuda_device_memory(size_t *out, int device) {
    CUDA_LOCK;
    uint64_t limit;
    enum cuda_error e = check(out, device);
    if (e)
        return e;
    heddle_memory(cuda_core.h, &limit, NULL);
    *out = limit;
    return CUDA_Success;
}

static const char pci_id[] = "0000:00:00.0";

enum cuda_error cuda_device_pci_id(char *out, int size, int device) {
    enum cuda_error e = check(size < (int)sizeof pci_id ? NULL : out, device);
    if (!e)
        memcpy(out, pci_id, sizeof pci_id);
    return e;
}

enum cuda_error cuda_device_by_pci_id(int *out, const char *id) {
    unsigned domain = 0, bus = 0, device = 0, function = 0;
    int n = 0;
    bool read = id && ((sscanf(id, "%x:%x:%x.%x%n", &domain, &bus, &device, &function, &n) == 4 && !id[n]) ||
                       (sscanf(id, "%x:%x:%x%n", &domain, &bus, &device, &n) == 3 && !id[n]));
    if (id && !read) {
        domain = 0;
        read = sscanf(id, "%x:%x.%x%n", &bus, &device, &function, &n) == 3 && !id[n];
    }
    return read && !(domain | bus | device | function) ? cuda_put(out, 0) : CUDA_ErrorInvalidDevice;
}

enum cuda_error cuda_device_prefer(int cache) {
    CUDA_LOCK;
    enum { LAST = 3 };
    if (cache < 0 || cache > LAST)
        return CUDA_ErrorInvalidValue;
    cuda_core.cache = cache;
    return CUDA_Success;
}

enum cuda_error cuda_device_peer(int *out, int device, int peer) {
    return device || peer ? CUDA_ErrorInvalidDevice : cuda_put(out, 0);
}

enum cuda_error cuda_priority_range(int *least, int *greatest) {
    if (least)
        *least = 0;
    if (greatest)
        *greatest = 0;
    return CUDA_Success;
}

/* The flags for how the host waits for the device. They have no effect, because the host never waits. */
static unsigned device_flags;

enum cuda_error cuda_device_set_flags(unsigned flags) {
    CUDA_LOCK;
    enum { ALL = 0xff };
    if (flags & ~(unsigned)ALL)
        return CUDA_ErrorInvalidValue;
    device_flags = flags;
    return CUDA_Success;
}

enum cuda_error cuda_device_flags(unsigned *out) {
    CUDA_LOCK;
    return cuda_put((int *)out, (int)device_flags);
}

/* Limits by the numbers of cudaLimit: stack bytes per thread, bytes of the buffer of printf(), bytes of the heap of
 * malloc(), limits of dynamic parallelism, and two limits of the L2. */
enum { N_LIMITS = 7, PERSISTING = 6 };
static size_t limits[N_LIMITS] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};

enum cuda_error cuda_limit(size_t *out, int which) {
    CUDA_LOCK;
    if (!out || which < 0 || which >= N_LIMITS)
        return CUDA_ErrorUnsupportedLimit;
    *out = limits[which];
    return CUDA_Success;
}

/* Sets the size of the heap of malloc(); a smaller size than the current one has no effect. The first kernel that needs
 * the heap creates it; from then on a larger size is an error. */
static enum cuda_error set_heap(size_t value) {
    size_t *heap = &limits[CUDA_LIMIT_HEAP];
    if (value > *heap && !reserve_heap(cuda_core.h, value)) {
        fprintf(stderr, "heddle: cudaDeviceSetLimit: the heap of malloc() is in use, and has %zu bytes, not %zu\n",
                *heap, value);
        return CUDA_ErrorInvalidValue;
    }
    *heap = value > *heap ? value : *heap;
    return CUDA_Success;
}

/* Programs do not reach the limits of stack and printf() buffer, so these limits are only stored. */
enum cuda_error cuda_set_limit(int which, size_t value) {
    CUDA_LOCK;
    if (which < 0 || which >= N_LIMITS)
        return CUDA_ErrorUnsupportedLimit;
    if (which == CUDA_LIMIT_HEAP)
        return set_heap(value);
    limits[which] = which == PERSISTING ? 0 : value;
    return CUDA_Success;
}
