/* A program of the driver's interface, which finds its own mistakes. Compiled against the toolkit's cuda.h with
 * -DWITH_HEADER, and without any header of CUDA.
 * usage: driver [FOLDER [fault]], FOLDER that of this file */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef WITH_HEADER
#include <cuda.h>
CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice); /* 13 has it in the library, not in the header */
#else
typedef int CUresult, CUdevice;
typedef struct context *CUcontext;
typedef struct module *CUmodule;
typedef struct function *CUfunction;
typedef struct stream *CUstream;
typedef struct event *CUevent;
typedef struct link_state *CUlinkState;
typedef struct graph *CUgraph;
typedef struct graph_exec *CUgraphExec;
typedef unsigned long long CUdeviceptr;
typedef int CUjit_option, CUjitInputType, CUdevice_attribute, CUfunction_attribute;
typedef struct {
    size_t srcXInBytes, srcY;
    int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray;
    size_t srcPitch, dstXInBytes, dstY;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray;
    size_t dstPitch, WidthInBytes, Height;
} CUDA_MEMCPY2D;
enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE };
enum { CU_JIT_ERROR_LOG_BUFFER = 5, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6, CU_JIT_INPUT_PTX = 1 };
enum { CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10, CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2 };
enum { CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_INITIALIZED = 3, CUDA_ERROR_INVALID_DEVICE = 101 };
enum { CUDA_ERROR_INVALID_CONTEXT = 201, CUDA_ERROR_INVALID_PTX = 218, CUDA_ERROR_INVALID_HANDLE = 400 };
enum { CUDA_ERROR_NOT_FOUND = 500, CUDA_ERROR_ILLEGAL_ADDRESS = 700, CUDA_ERROR_NOT_SUPPORTED = 801 };
enum { CU_STREAM_CAPTURE_MODE_GLOBAL };
#define CU_LAUNCH_PARAM_END            ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE    ((void *)2)
#define cuMemAlloc                     cuMemAlloc_v2
#define cuMemAllocPitch                cuMemAllocPitch_v2
#define cuMemFree                      cuMemFree_v2
#define cuMemGetInfo                   cuMemGetInfo_v2
#define cuMemHostRegister              cuMemHostRegister_v2
#define cuMemHostGetDevicePointer      cuMemHostGetDevicePointer_v2
#define cuMemcpyHtoD                   cuMemcpyHtoD_v2
#define cuMemcpyDtoH                   cuMemcpyDtoH_v2
#define cuMemcpyHtoDAsync              cuMemcpyHtoDAsync_v2
#define cuMemcpyDtoHAsync              cuMemcpyDtoHAsync_v2
#define cuMemcpy2D                     cuMemcpy2D_v2
#define cuMemsetD8                     cuMemsetD8_v2
#define cuMemsetD16                    cuMemsetD16_v2
#define cuMemsetD32                    cuMemsetD32_v2
#define cuMemGetAddressRange           cuMemGetAddressRange_v2
#define cuModuleGetGlobal              cuModuleGetGlobal_v2
#define cuCtxPushCurrent               cuCtxPushCurrent_v2
#define cuCtxPopCurrent                cuCtxPopCurrent_v2
#define cuCtxDestroy                   cuCtxDestroy_v2
#define cuDevicePrimaryCtxRelease      cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxReset        cuDevicePrimaryCtxReset_v2
#define cuStreamDestroy                cuStreamDestroy_v2
#define cuEventDestroy                 cuEventDestroy_v2
#define cuLinkCreate                   cuLinkCreate_v2
#define cuLinkAddData                  cuLinkAddData_v2
#define cuLinkAddFile                  cuLinkAddFile_v2
#define cuStreamBeginCapture           cuStreamBeginCapture_v2
CUresult cuInit(unsigned), cuDriverGetVersion(int *), cuDeviceGet(CUdevice *, int), cuDeviceGetCount(int *);
CUresult cuDeviceGetName(char *, int, CUdevice), cuDeviceGetAttribute(int *, CUdevice_attribute, CUdevice);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice), cuDevicePrimaryCtxRelease(CUdevice);
CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice), cuCtxDestroy(CUcontext), cuCtxSynchronize(void);
CUresult cuCtxPushCurrent(CUcontext), cuCtxPopCurrent(CUcontext *), cuCtxSetCurrent(CUcontext);
CUresult cuCtxGetCurrent(CUcontext *), cuCtxGetDevice(CUdevice *);
CUresult cuModuleLoadData(CUmodule *, const void *), cuModuleUnload(CUmodule);
CUresult cuModuleLoadDataEx(CUmodule *, const void *, unsigned, CUjit_option *, void **);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuModuleGetGlobal(CUdeviceptr *, size_t *, CUmodule, const char *);
CUresult cuLinkCreate(unsigned, CUjit_option *, void **, CUlinkState *), cuLinkDestroy(CUlinkState);
CUresult cuLinkAddData(CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned, CUjit_option *, void **);
CUresult cuLinkComplete(CUlinkState, void **, size_t *);
CUresult cuLinkAddFile(CUlinkState, CUjitInputType, const char *, unsigned, CUjit_option *, void **);
CUresult cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   CUstream, void **);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void **, void **);
CUresult cuMemAlloc(CUdeviceptr *, size_t), cuMemFree(CUdeviceptr), cuMemGetInfo(size_t *, size_t *);
CUresult cuMemAllocPitch(CUdeviceptr *, size_t *, size_t, size_t, unsigned);
CUresult cuMemAllocManaged(CUdeviceptr *, size_t, unsigned), cuMemHostAlloc(void **, size_t, unsigned);
CUresult cuMemHostRegister(void *, size_t, unsigned), cuMemHostUnregister(void *);
CUresult cuMemHostGetDevicePointer(CUdeviceptr *, void *, unsigned);
CUresult cuMemFreeHost(void *), cuMemGetAddressRange(CUdeviceptr *, size_t *, CUdeviceptr);
CUresult cuMemcpyHtoD(CUdeviceptr, const void *, size_t), cuMemcpyDtoH(void *, CUdeviceptr, size_t);
CUresult cuMemcpyHtoDAsync(CUdeviceptr, const void *, size_t, CUstream);
CUresult cuMemcpyDtoHAsync(void *, CUdeviceptr, size_t, CUstream), cuMemcpy2D(const CUDA_MEMCPY2D *);
CUresult cuMemsetD8(CUdeviceptr, unsigned char, size_t), cuMemsetD16(CUdeviceptr, unsigned short, size_t);
CUresult cuMemsetD32(CUdeviceptr, unsigned, size_t), cuPointerGetAttribute(void *, int, CUdeviceptr);
CUresult cuStreamCreate(CUstream *, unsigned), cuStreamDestroy(CUstream), cuStreamSynchronize(CUstream);
CUresult cuStreamBeginCapture(CUstream, int), cuStreamEndCapture(CUstream, CUgraph *);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long), cuGraphLaunch(CUgraphExec, CUstream);
CUresult cuGraphExecDestroy(CUgraphExec), cuGraphDestroy(CUgraph);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned), cuDevicePrimaryCtxReset(CUdevice);
CUresult cuEventCreate(CUevent *, unsigned), cuEventRecord(CUevent, CUstream), cuEventSynchronize(CUevent);
CUresult cuEventElapsedTime(float *, CUevent, CUevent), cuEventDestroy(CUevent);
CUresult cuFuncGetAttribute(int *, CUfunction_attribute, CUfunction);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, CUfunction, int, size_t);
CUresult cuGetErrorName(CUresult, const char **), cuGetErrorString(CUresult, const char **);
CUresult cuGetProcAddress_v2(const char *, void **, int, unsigned long long, int *), cuIpcCloseMemHandle(CUdeviceptr);
#endif
CUresult cuStreamGetCaptureInfo_v2(CUstream, int *, unsigned long long *, CUgraph *, const void **, size_t *);

static int mistakes;

static void want(int right, const char *what, int line) {
    if (!right) {
        printf("line %d: %s\n", line, what);
        mistakes++;
    }
}
#define WANT(x)  want(x, #x, __LINE__)
#define OK(x)    WANT((x) == CUDA_SUCCESS)
#define IS(e, x) WANT((x) == (e))

/* p[i] += a[0] for every i < n, and a variable. */
static const char text[] = ".version 6.0\n.target sm_20\n.address_size 64\n"
                           ".visible .global .align 4 .u32 step = 3;\n"
                           ".visible .entry add(.param .u64 p, .param .u32 n)\n{\n"
                           "  .reg .pred %q;\n  .reg .u32 %r<6>;\n  .reg .u64 %d<4>;\n"
                           "  ld.param.u64 %d1, [p];\n  ld.param.u32 %r1, [n];\n"
                           "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ntid.x;\n  mov.u32 %r4, %tid.x;\n"
                           "  mad.lo.u32 %r2, %r2, %r3, %r4;\n  setp.ge.u32 %q, %r2, %r1;\n  @%q bra end;\n"
                           "  mul.wide.u32 %d2, %r2, 4;\n  add.u64 %d1, %d1, %d2;\n"
                           "  ld.global.u32 %r3, [%d1];\n  ld.global.u32 %r4, [step];\n"
                           "  add.u32 %r3, %r3, %r4;\n  st.global.u32 [%d1], %r3;\nend:\n  ret;\n}\n";
/* Two to be linked: one calls a function of the other. */
static const char caller[] = ".version 6.0\n.target sm_20\n.address_size 64\n"
                             ".extern .func (.param .u32 r) twice(.param .u32 x);\n"
                             ".visible .entry call(.param .u64 p)\n{\n  .reg .u32 %r<3>;\n  .reg .u64 %d;\n"
                             "  ld.param.u64 %d, [p];\n  ld.global.u32 %r1, [%d];\n"
                             "  { .param .u32 a; .param .u32 b;\n  st.param.u32 [a], %r1;\n"
                             "  call (b), twice, (a);\n  ld.param.u32 %r2, [b]; }\n"
                             "  st.global.u32 [%d], %r2;\n  ret;\n}\n";
static const char callee[] =
    ".version 6.0\n.target sm_20\n.address_size 64\n"
    ".visible .func (.param .u32 r) twice(.param .u32 x)\n{\n  .reg .u32 %r<2>;\n"
    "  ld.param.u32 %r1, [x];\n  add.u32 %r1, %r1, %r1;\n  st.param.u32 [r], %r1;\n  ret;\n}\n";

/* As the library for devices that comes with CUDA calls what the driver has: a grid of 4 CTAs meets three times, and
 * what one of 100 wrote before is there for all behind. */
static const char grid[] =
    ".version 6.0\n.target sm_30\n.address_size 64\n"
    ".extern .func (.param .b64 r) __cuda_syscall_CGS_get_intrinsic_handle(.param .b32 scope);\n"
    ".extern .func (.param .b32 r) __cuda_syscall_CGS_sync(.param .b64 grid, .param .b32 flags);\n"
    ".extern .func (.param .b32 r) __cuda_syscall_CGS_get_size(.param .b64 t, .param .b64 g, .param .b64 grid);\n"
    ".visible .entry meet(.param .u64 p)\n{\n  .reg .pred %q;\n  .reg .u32 %r<9>;\n  .reg .u64 %d<9>;\n"
    "  { .param .b32 a; .param .b64 b; mov.u32 %r1, 1; st.param.b32 [a], %r1;\n"
    "  call (b), __cuda_syscall_CGS_get_intrinsic_handle, (a); ld.param.b64 %d1, [b]; }\n"
    "  ld.param.u64 %d2, [p];\n  mov.u32 %r7, 3;\n"
    "more:\n  atom.global.add.u32 %r2, [%d2], 1;\n"
    "  { .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %d1; st.param.b32 [b], 0;\n"
    "  call (c), __cuda_syscall_CGS_sync, (a, b); }\n"
    "  ld.global.cg.u32 %r3, [%d2];\n"
    "  { .param .b64 a; .param .b32 b; .param .b32 c; st.param.b64 [a], %d1; st.param.b32 [b], 0;\n"
    "  call (c), __cuda_syscall_CGS_sync, (a, b); }\n"
    "  sub.u32 %r7, %r7, 1;\n  setp.ne.u32 %q, %r7, 0;\n  @%q bra more;\n"
    "  mov.u32 %r4, %ctaid.x;\n  mov.u32 %r5, %ntid.x;\n  mov.u32 %r6, %tid.x;\n  mad.lo.u32 %r4, %r4, %r5, %r6;\n"
    "  mul.wide.u32 %d3, %r4, 4;\n  add.u64 %d3, %d3, %d2;\n  st.global.u32 [%d3+8], %r3;\n"
    "  add.u64 %d4, %d2, 4;\n"
    "  { .param .b64 a; .param .b64 b; .param .b64 c; .param .b32 d; st.param.b64 [a], %d4; mov.u64 %d5, 0;\n"
    "  st.param.b64 [b], %d5; st.param.b64 [c], %d1;\n"
    "  call (d), __cuda_syscall_CGS_get_size, (a, b, c); }\n  ret;\n}\n";

enum { N = 100 };

static int sum(const int *p) {
    int s = 0;
    for (int i = 0; i < N; i++)
        s += p[i];
    return s;
}

static void contexts(CUdevice device) {
    CUcontext primary, other, now;
    OK(cuCtxGetCurrent(&now));
    WANT(now == NULL);
    CUdeviceptr p;
    IS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 4));
    OK(cuCtxCreate_v2(&other, 0, device));
    OK(cuCtxGetCurrent(&now));
    WANT(now == other);
    OK(cuDevicePrimaryCtxRetain(&primary, device));
    OK(cuCtxPushCurrent(primary));
    OK(cuCtxPopCurrent(&now));
    WANT(now == primary);
    OK(cuCtxGetCurrent(&now));
    WANT(now == other);
    OK(cuCtxDestroy(other));
    OK(cuCtxGetCurrent(&now));
    WANT(now == NULL);
    OK(cuCtxSetCurrent(primary));
    CUdevice of = 7;
    OK(cuCtxGetDevice(&of));
    WANT(of == device);
    /* what is given back needs no current context; a reset takes nothing of what was retained */
    void *pinned;
    CUmodule m;
    OK(cuMemAlloc(&p, 4));
    OK(cuMemHostAlloc(&pinned, 4, 0));
    OK(cuModuleLoadData(&m, text));
    OK(cuCtxPopCurrent(&now));
    OK(cuMemFree(p));
    OK(cuMemFreeHost(pinned));
    OK(cuModuleUnload(m));
    OK(cuCtxSetCurrent(primary));
    OK(cuDevicePrimaryCtxReset(device));
    OK(cuDevicePrimaryCtxRelease(device));
    IS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(device));
}

static void memory(void) {
    CUdeviceptr p, q, begin;
    size_t pitch, bytes, unused, before;
    int host[N], type = 0;
    OK(cuMemGetInfo(&before, &bytes));
    OK(cuMemAlloc(&p, sizeof host));
    OK(cuMemGetInfo(&unused, &bytes));
    WANT(unused <= before - sizeof host && unused <= bytes);
    OK(cuMemGetAddressRange(&begin, &bytes, p + 40));
    WANT(begin == p && bytes == sizeof host);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    WANT(type == CU_MEMORYTYPE_DEVICE);
    IS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)host));
    OK(cuMemsetD32(p, 0x01020304, N));
    OK(cuMemsetD16(p + 4, 0x0506, 1));
    OK(cuMemsetD8(p + 7, 9, 1));
    OK(cuMemcpyDtoH(host, p, sizeof host));
    WANT(host[0] == 0x01020304 && host[1] == 0x09020506 && host[N - 1] == 0x01020304);
    IS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(p + 2, 1, 1));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, p, sizeof host + 4096));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&q, 0));
    /* a block of 3 rows of 5 bytes, from the row 1 and byte 2 of rows of 10 */
    char from[40], to[15];
    for (int i = 0; i < 40; i++)
        from[i] = (char)i;
    OK(cuMemAllocPitch(&q, &pitch, 5, 3, 4));
    CUDA_MEMCPY2D c = {.srcXInBytes = 2,
                       .srcY = 1,
                       .srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = from,
                       .srcPitch = 10,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .dstDevice = q,
                       .dstPitch = pitch,
                       .WidthInBytes = 5,
                       .Height = 3};
    OK(cuMemcpy2D(&c));
    CUDA_MEMCPY2D d = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = q,
                       .srcPitch = pitch,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = to,
                       .dstPitch = 5,
                       .WidthInBytes = 5,
                       .Height = 3};
    OK(cuMemcpy2D(&d));
    WANT(to[0] == 12 && to[4] == 16 && to[5] == 22 && to[14] == 36);
    OK(cuMemFree(q));
    OK(cuMemFree(p));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
}

static void kernels(CUmodule m) {
    CUfunction f, none;
    CUdeviceptr p, step;
    size_t bytes;
    int host[N] = {0}, n = N, value = -1;
    OK(cuModuleGetFunction(&f, m, "add"));
    IS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&none, m, "sub"));
    OK(cuModuleGetGlobal(&step, &bytes, m, "step"));
    WANT(bytes == 4);
    IS(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&p, &bytes, m, "stop"));
    OK(cuMemAlloc(&p, sizeof host));
    OK(cuMemcpyHtoD(p, host, sizeof host));
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&p, &n}, NULL));
    struct {
        CUdeviceptr p;
        int n;
    } block = {p, 10};
    size_t size = sizeof block;
    OK(cuMemsetD32(step, 5, 1));
    OK(cuLaunchKernel(
        f, 4, 1, 1, 32, 1, 1, 0, NULL, NULL,
        (void *[]){CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END}));
    OK(cuMemcpyDtoH(host, p, sizeof host));
    WANT(sum(host) == 100 * 3 + 10 * 5);
    IS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 4096, 1, 1, 0, NULL, (void *[]){&p, &n}, NULL));
    OK(cuFuncGetAttribute(&value, 0, f));
    WANT(value == 1024);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 1024, 0));
    WANT(value == 1); /* turing: 32 warps an SM */
    /* a captured stream runs nothing; its graph runs it twice */
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamCreate(&s, 0));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    WANT(cuStreamSynchronize(s) != CUDA_SUCCESS); /* which spoils what was captured */
    WANT(cuStreamEndCapture(s, &g) != CUDA_SUCCESS);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, s, (void *[]){&p, &n}, NULL));
    OK(cuMemcpyDtoHAsync(host, p, sizeof host, s));
    OK(cuStreamEndCapture(s, &g));
    WANT(sum(host) == 350);
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphDestroy(g));
    OK(cuGraphLaunch(x, s));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    WANT(sum(host) == 350 + 2 * 100 * 5);
    OK(cuGraphExecDestroy(x));
    OK(cuStreamDestroy(s));
    OK(cuMemFree(p));
}

/* Host memory in the first 256 MiB, where the device's windows are, has another address for kernels. */
static void low_memory(CUmodule m) {
    CUfunction f;
    CUdeviceptr p = 0;
    int n = N, *host = mmap((void *)0x7000000, 4096, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    WANT(host == (void *)0x7000000);
    host += 25; /* at no page's beginning */
    OK(cuModuleGetFunction(&f, m, "add"));
    OK(cuMemHostRegister(host, N * sizeof *host, 0));
    WANT(cuMemHostRegister(host, N * sizeof *host, 0) != CUDA_SUCCESS);
    OK(cuMemHostGetDevicePointer(&p, host, 0));
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&p, &n}, NULL));
    OK(cuCtxSynchronize());
    WANT(sum(host) == 100 * 5);
    OK(cuMemHostGetDevicePointer(&p, host + 99, 0));
    n = 1;
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&p, &n}, NULL));
    WANT(host[98] == 5 && host[99] == 10);
    OK(cuMemHostUnregister(host));
    WANT(cuMemHostUnregister(host) != CUDA_SUCCESS);
    munmap((void *)0x7000000, 4096);
}

/* A graph may go while it is captured: the stream, and one that waited for its event, run what they are given again. */
static void capture_abandoned(CUmodule m) {
    CUfunction f;
    CUstream s, t;
    CUevent e;
    CUgraph g = NULL, none;
    CUdeviceptr p;
    int host[N] = {0}, n = N, status = 0;
    OK(cuModuleGetFunction(&f, m, "add"));
    OK(cuMemAlloc(&p, sizeof host));
    OK(cuMemsetD32(p, 0, N));
    OK(cuStreamCreate(&s, 0));
    OK(cuStreamCreate(&t, 0));
    OK(cuEventCreate(&e, 0));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, s, (void *[]){&p, &n}, NULL));
    OK(cuEventRecord(e, s));
    OK(cuStreamWaitEvent(t, e, 0));
    OK(cuStreamGetCaptureInfo_v2(s, &status, NULL, &g, NULL, NULL));
    WANT(status == 1 && g);
    OK(cuGraphDestroy(g));
    OK(cuStreamWaitEvent(t, e, 0)); /* the event stands for nothing any more */
    OK(cuStreamSynchronize(s));
    OK(cuStreamSynchronize(t));
    WANT(cuStreamEndCapture(s, &none) != CUDA_SUCCESS);
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, s, (void *[]){&p, &n}, NULL));
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, t, (void *[]){&p, &n}, NULL));
    OK(cuMemcpyDtoH(host, p, sizeof host));
    WANT(sum(host) == 2 * 100 * 5);
    /* nor does it after the end of the capture */
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventRecord(e, s));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphDestroy(g));
    OK(cuStreamWaitEvent(t, e, 0));
    OK(cuStreamSynchronize(t));
    OK(cuEventDestroy(e));
    IS(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(e));
    OK(cuStreamDestroy(s));
    OK(cuStreamDestroy(t));
    OK(cuMemFree(p));
}

static void linking(void) {
    CUlinkState l;
    CUmodule m;
    CUfunction f;
    CUdeviceptr p;
    void *image;
    size_t bytes;
    int host = 21;
    OK(cuLinkCreate(0, NULL, NULL, &l));
    OK(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "caller", 0, NULL, NULL));
    OK(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)callee, sizeof callee, "callee", 0, NULL, NULL));
    OK(cuLinkComplete(l, &image, &bytes));
    char *copy = malloc(bytes);
    memcpy(copy, image, bytes);
    OK(cuLinkDestroy(l));
    OK(cuModuleLoadData(&m, copy));
    free(copy);
    OK(cuModuleGetFunction(&f, m, "call"));
    OK(cuMemAlloc(&p, 4));
    OK(cuMemcpyHtoD(p, &host, 4));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    OK(cuMemcpyDtoH(&host, p, 4));
    WANT(host == 42);
    OK(cuModuleUnload(m));
    IS(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&f, m, "call"));
    OK(cuMemFree(p));
}

/* The linker is told of a limit: eight words that are all live take more than eight registers. */
static void fewer_registers(void) {
    static const char eight[] =
        ".version 6.0\n.target sm_20\n.address_size 64\n.visible .entry sum(.param .u64 p) // sums {\n{\n"
        "  .reg .u32 %r<9>;\n  .reg .u64 %d;\n  ld.param.u64 %d, [p];\n"
        "  ld.global.u32 %r1, [%d];\n  ld.global.u32 %r2, [%d+4];\n  ld.global.u32 %r3, [%d+8];\n"
        "  ld.global.u32 %r4, [%d+12];\n  ld.global.u32 %r5, [%d+16];\n  ld.global.u32 %r6, [%d+20];\n"
        "  ld.global.u32 %r7, [%d+24];\n  ld.global.u32 %r8, [%d+28];\n"
        "  add.u32 %r1, %r1, %r2;\n  add.u32 %r1, %r1, %r3;\n  add.u32 %r1, %r1, %r4;\n  add.u32 %r1, %r1, %r5;\n"
        "  add.u32 %r1, %r1, %r6;\n  add.u32 %r1, %r1, %r7;\n  add.u32 %r1, %r1, %r8;\n"
        "  st.global.u32 [%d], %r1;\n  ret;\n}\n";
    CUjit_option names[] = {(CUjit_option)0}; /* most registers */
    int host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, found[2] = {0};
    for (int i = 0; i < 2; i++) {
        void *values[] = {(void *)(i ? 8ul : 0ul)}, *image;
        CUlinkState l;
        CUmodule m;
        CUfunction f;
        CUdeviceptr p;
        int to;
        OK(cuLinkCreate(1, names, values, &l));
        OK(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)eight, sizeof eight, "eight", 0, NULL, NULL));
        OK(cuLinkComplete(l, &image, NULL));
        OK(cuModuleLoadData(&m, image));
        OK(cuLinkDestroy(l));
        OK(cuModuleGetFunction(&f, m, "sum"));
        OK(cuFuncGetAttribute(&found[i], (CUfunction_attribute)4, f));
        OK(cuMemAlloc(&p, sizeof host));
        OK(cuMemcpyHtoD(p, host, sizeof host));
        OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}, NULL));
        OK(cuMemcpyDtoH(&to, p, sizeof to));
        WANT(to == 36);
        OK(cuMemFree(p));
        OK(cuModuleUnload(m));
    }
    WANT(found[0] > 8 && found[1] == 8);
}

/* 4 CTAs of 40 threads count three times: 160, 320, 480. */
static void grids(void) {
    CUlinkState l;
    CUmodule m;
    CUfunction f;
    CUdeviceptr p;
    void *image;
    unsigned host[2 + 160], wrong = 0;
    OK(cuLinkCreate(0, NULL, NULL, &l));
    OK(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)grid, sizeof grid, "grid", 0, NULL, NULL));
    OK(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)callee, sizeof callee, "callee", 0, NULL, NULL));
    OK(cuLinkComplete(l, &image, NULL));
    OK(cuModuleLoadData(&m, image));
    OK(cuLinkDestroy(l));
    OK(cuModuleGetFunction(&f, m, "meet"));
    OK(cuMemAlloc(&p, sizeof host));
    OK(cuMemsetD32(p, 0, 2 + 160));
    OK(cuLaunchCooperativeKernel(f, 4, 1, 1, 40, 1, 1, 0, NULL, (void *[]){&p}));
    OK(cuMemcpyDtoH(host, p, sizeof host));
    for (int i = 0; i < 160; i++)
        wrong += host[2 + i] != 480;
    WANT(host[0] == 480 && host[1] == 160 && wrong == 0);
    OK(cuMemFree(p));
}

/* Objects, libraries and executables: the kernel of part_a.cu needs what part_b.cu has. */
static void libraries(const char *folder) {
    static const char *const files[] = {"parts.a", "linked.out", "saxpy.obj", "zstd.fatbin", "machine.fatbin"};
    static const char *const kernels[] = {"_Z5applyPi", "_Z5applyPi", "_Z5saxpyifPKfPf", "_Z5saxpyifPKfPf", NULL};
    for (int i = 0; i < 5; i++) {
        char path[4096], log[400] = "";
        CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void *values[] = {log, (void *)sizeof log}, *image;
        CUlinkState l;
        CUmodule m;
        CUfunction f;
        CUdeviceptr p;
        int host[4] = {1, 2, 3, 4};
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        OK(cuLinkCreate(2, names, values, &l));
        if (!kernels[i]) {
            WANT(cuLinkAddFile(l, (CUjitInputType)4, path, 0, NULL, NULL) != CUDA_SUCCESS);
            WANT(strstr(log, "machine code") != NULL);
            OK(cuLinkDestroy(l));
            continue;
        }
        OK(cuLinkAddFile(l, (CUjitInputType)4, path, 0, NULL, NULL));
        OK(cuLinkComplete(l, &image, NULL));
        OK(cuModuleLoadData(&m, image));
        OK(cuLinkDestroy(l));
        OK(cuModuleGetFunction(&f, m, kernels[i]));
        if (i < 2) {
            OK(cuMemAlloc(&p, sizeof host));
            OK(cuMemcpyHtoD(p, host, sizeof host));
            OK(cuLaunchKernel(f, 1, 1, 1, 4, 1, 1, 0, NULL, (void *[]){&p}, NULL));
            OK(cuMemcpyDtoH(host, p, sizeof host));
            WANT(host[0] == 12 && host[1] == 24 && host[2] == 36 && host[3] == 48);
            OK(cuMemFree(p));
        }
        OK(cuModuleUnload(m));
    }
}

/* The copy of a process has no GPU: its threads are not there. */
static void forked(CUdevice device) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        CUdeviceptr p;
        int was = mistakes;
        IS(CUDA_ERROR_NOT_INITIALIZED, cuInit(0));
        IS(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc(&p, 4));
        IS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&device, 0));
        fflush(stdout);
        _exit(mistakes != was);
    }
    int status = 1;
    WANT(waitpid(child, &status, 0) == child && status == 0);
}

static void errors(void) {
    CUmodule m;
    char log[400] = "";
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    IS(CUDA_ERROR_INVALID_PTX,
       cuModuleLoadDataEx(&m, ".version 6.0\n.target sm_20\n.entry k() { bad bad }\n", 2, names, values));
    WANT(strstr(log, "bad") && (size_t)values[1] == strlen(log));
    const char *name = NULL, *text_of = NULL;
    OK(cuGetErrorName((CUresult)CUDA_ERROR_NOT_FOUND, &name));
    WANT(strcmp(name, "CUDA_ERROR_NOT_FOUND") == 0);
    OK(cuGetErrorString((CUresult)CUDA_ERROR_NOT_FOUND, &text_of));
    WANT(strcmp(text_of, "named symbol not found") == 0);
    IS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName((CUresult)12345, &name));
    IS(CUDA_ERROR_NOT_SUPPORTED, cuIpcCloseMemHandle(0));
    IS(CUDA_ERROR_NOT_SUPPORTED, cuIpcCloseMemHandle(0));
}

static void entries(void) {
    CUresult (*init)(unsigned) = NULL, (*alloc)(CUdeviceptr *, size_t) = NULL;
    CUdeviceptr p = 0;
    OK(cuGetProcAddress_v2("cuInit", (void **)&init, 12000, 0, NULL));
    OK(init(0));
    OK(cuGetProcAddress_v2("cuMemAlloc", (void **)&alloc, 12000, 0, NULL));
    OK(alloc(&p, 1 << 20));
    WANT(p > 0);
    OK(cuMemFree(p));
    IS(CUDA_ERROR_NOT_FOUND, cuGetProcAddress_v2("cuNothing", (void **)&init, 12000, 0, NULL));
}

/* Time passes in the kernel alone; the fault is told by the calls after it. */
static void time_and_fault(CUmodule m) {
    CUevent a, b;
    CUfunction f;
    CUdeviceptr p, null = 0;
    float idle = -1, busy = -1;
    int n = N;
    OK(cuModuleGetFunction(&f, m, "add"));
    OK(cuMemAlloc(&p, 4 * N));
    OK(cuEventCreate(&a, 0));
    OK(cuEventCreate(&b, 0));
    OK(cuEventRecord(a, NULL));
    OK(cuEventRecord(b, NULL));
    OK(cuEventElapsedTime(&idle, a, b));
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&p, &n}, NULL));
    OK(cuEventRecord(b, NULL));
    OK(cuEventSynchronize(b));
    OK(cuEventElapsedTime(&busy, a, b));
    const char *model = getenv("HEDDLE_MODEL"); /* the functional one has the host's time, which has no bound */
    WANT(idle >= 0 && idle < busy && (busy < 1 || (model && strcmp(model, "functional") == 0)));
    OK(cuEventDestroy(a));
    OK(cuEventDestroy(b));
    OK(cuLaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&null, &n}, NULL));
    IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemFree(p));
}

int main(int argc, char **argv) {
    CUdevice device;
    CUmodule m;
    int n = 0, version = 0;
    char name[100];
    IS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&device, 0));
    OK(cuInit(0));
    OK(cuDriverGetVersion(&version));
    WANT(version >= 11000);
    OK(cuDeviceGetCount(&n));
    WANT(n == 1);
    OK(cuDeviceGet(&device, 0));
    IS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 1));
    OK(cuDeviceGetName(name, sizeof name, device));
    WANT(strstr(name, "(Heddle)") != NULL);
    OK(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    WANT(n == 32);
    contexts(device);
    OK(cuModuleLoadData(&m, text));
    memory();
    kernels(m);
    low_memory(m);
    capture_abandoned(m);
    linking();
    grids();
    fewer_registers();
    if (argc > 1)
        libraries(argv[1]);
    forked(device);
    errors();
    entries();
    if (argc > 2)
        time_and_fault(m);
    printf("%d mistakes\n", mistakes);
    return mistakes != 0;
}
