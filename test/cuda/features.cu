// Tests graphs, capture, memory pools, arrays, textures, surfaces and cooperative grids. Prints each wrong result.
#include <cooperative_groups.h>
#include <stdio.h>
namespace cg = cooperative_groups;

static int mistakes;
static void want(bool right, const char *what, int line) {
    if (!right) {
        printf("line %d: %s: %s\n", line, what, cudaGetErrorString(cudaPeekAtLastError()));
        mistakes++;
    }
}
#define WANT(x) want(x, #x, __LINE__)
#define OK(x)   WANT((x) == cudaSuccess)

__global__ void add(int *p, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += by;
}

// Adds the values of all blocks in a tree. Each step reads results of other blocks, so the grid synchronises after it.
__global__ void sum(int *a, int *out, int n) {
    cg::grid_group g = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int half = n / 2; half > 0; half /= 2) {
        if (i < half)
            a[i] += a[i + half];
        g.sync();
    }
    if (i == 0)
        *out = a[0];
}

__global__ void sample(cudaTextureObject_t t, float *out) {
    out[threadIdx.x] = tex2D<float>(t, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 + 0.5f);
}
__global__ void between(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 1.0f, 0.5f); }
__global__ void fetch(cudaTextureObject_t t, int *out) { out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x); }
__global__ void draw(cudaSurfaceObject_t s) {
    surf2Dwrite(10.0f * threadIdx.y + threadIdx.x, s, threadIdx.x * 4, threadIdx.y);
}

enum { N = 64 };
static int total(const int *p) {
    int s = 0;
    for (int i = 0; i < N; i++)
        s += p[i];
    return s;
}

static void count(void *p) { ++*(int *)p; }

static void graphs() {
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphNode_t clear, kernel, back, host;
    int *p, by = 2, n = N, here[N] = {0}, calls = 0;
    OK(cudaMalloc(&p, sizeof here));
    OK(cudaGraphCreate(&g, 0));
    cudaMemsetParams m = {};
    m.dst = p;
    m.value = 7;
    m.elementSize = 4;
    m.width = N;
    m.height = 1;
    void *args[] = {&p, &n, &by};
    cudaKernelNodeParams k = {};
    k.func = (void *)add;
    k.gridDim = dim3(2);
    k.blockDim = dim3(32);
    k.kernelParams = args;
    cudaHostNodeParams h = {count, &calls};
    // nodes are added from the last to the first, so that only the edges give the right order
    OK(cudaGraphAddHostNode(&host, g, NULL, 0, &h));
    OK(cudaGraphAddMemcpyNode1D(&back, g, NULL, 0, here, p, sizeof here, cudaMemcpyDeviceToHost));
    OK(cudaGraphAddKernelNode(&kernel, g, NULL, 0, &k));
    OK(cudaGraphAddMemsetNode(&clear, g, NULL, 0, &m));
#if CUDART_VERSION >= 13000
    OK(cudaGraphAddDependencies(g, &clear, &kernel, NULL, 1));
    OK(cudaGraphAddDependencies(g, &kernel, &back, NULL, 1));
    OK(cudaGraphAddDependencies(g, &back, &host, NULL, 1));
#else
    OK(cudaGraphAddDependencies(g, &clear, &kernel, 1));
    OK(cudaGraphAddDependencies(g, &kernel, &back, 1));
    OK(cudaGraphAddDependencies(g, &back, &host, 1));
#endif
    size_t nodes = 0;
    OK(cudaGraphGetNodes(g, NULL, &nodes));
    WANT(nodes == 4);
    OK(cudaGraphGetRootNodes(g, NULL, &nodes));
    WANT(nodes == 1);
    OK(cudaGraphInstantiate(&x, g, 0));
    by = 100; // no effect: the node has its own copy of the arguments
    WANT(total(here) == 0);
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    WANT(total(here) == 9 * N && calls == 1);
    OK(cudaGraphExecKernelNodeSetParams(x, kernel, &k));
    OK(cudaGraphLaunch(x, 0));
    WANT(total(here) == 107 * N && calls == 2);
#if CUDART_VERSION >= 13000
    OK(cudaGraphAddDependencies(g, &host, &clear, NULL, 1)); // a circle
#else
    OK(cudaGraphAddDependencies(g, &host, &clear, 1));
#endif
    cudaGraphExec_t none;
    WANT(cudaGraphInstantiate(&none, g, 0) == cudaErrorInvalidValue);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
    OK(cudaFree(p));
    cudaGetLastError();
}

static void capture() {
    cudaStream_t s, t;
    cudaEvent_t fork, join;
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaStreamCaptureStatus status;
    int *p, here[N];
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreate(&t));
    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&join));
    OK(cudaMalloc(&p, sizeof here));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaStreamIsCapturing(s, &status));
    WANT(status == cudaStreamCaptureStatusActive);
    OK(cudaMemsetAsync(p, 0, sizeof here, s));
    OK(cudaEventRecord(fork, s));
    OK(cudaStreamWaitEvent(t, fork, 0)); // t is captured, too
    add<<<1, 32, 0, t>>>(p, N, 3);
    add<<<1, 32, 0, s>>>(p + 32, N - 32, 4);
    OK(cudaEventRecord(join, t));
    OK(cudaStreamWaitEvent(s, join, 0));
    OK(cudaMemcpyAsync(here, p, sizeof here, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaStreamIsCapturing(t, &status));
    WANT(status == cudaStreamCaptureStatusNone);
    size_t nodes = 0;
    OK(cudaGraphGetNodes(g, NULL, &nodes));
    WANT(nodes == 4);
    OK(cudaGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 3; i++) {
        here[0] = 0;
        OK(cudaGraphLaunch(x, s));
        OK(cudaStreamSynchronize(s));
        WANT(total(here) == 32 * 3 + 32 * 4);
    }
    WANT(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
    cudaGetLastError();
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(join));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
    OK(cudaFree(p));
}

static void pools() {
    cudaMemPool_t pool, standard;
    unsigned long long used = 1, threshold = 1 << 20;
    void *p, *q;
    OK(cudaDeviceGetDefaultMemPool(&standard, 0));
    OK(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
    OK(cudaMallocAsync(&p, 1000, 0));
    OK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &used));
    WANT(used == 1000);
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    OK(cudaMemPoolCreate(&pool, &properties));
    OK(cudaMallocFromPoolAsync(&q, 500, pool, 0));
    OK(cudaFreeAsync(p, 0));
    OK(cudaFreeAsync(q, 0));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &used));
    WANT(used == 500);
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    WANT(used == 0);
    OK(cudaMemPoolDestroy(pool));
}

static void textures() {
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    float image[3][4], seen[12], *out;
    for (int i = 0; i < 12; i++)
        image[i / 4][i % 4] = 1.0f + i;
    OK(cudaMalloc(&out, sizeof seen));
    OK(cudaMallocArray(&array, &format, 4, 3, cudaArraySurfaceLoadStore));
    OK(cudaMemcpy2DToArray(array, 0, 0, image, 16, 16, 3, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    cudaTextureDesc d = {};
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t t;
    OK(cudaCreateTextureObject(&t, &r, &d, NULL));
    sample<<<1, 12>>>(t, out);
    OK(cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 12; i++)
        WANT(seen[i] == 1.0f + i);
    OK(cudaDestroyTextureObject(t));
    d.filterMode = cudaFilterModeLinear; // the samples are between the texels 1 and 2, 2 and 3, 3 and 4
    OK(cudaCreateTextureObject(&t, &r, &d, NULL));
    between<<<1, 3>>>(t, out);
    OK(cudaMemcpy(seen, out, 12, cudaMemcpyDeviceToHost));
    WANT(seen[0] == 1.5f && seen[1] == 2.5f && seen[2] == 3.5f);
    OK(cudaDestroyTextureObject(t));
    cudaSurfaceObject_t s;
    OK(cudaCreateSurfaceObject(&s, &r));
    draw<<<1, dim3(4, 3)>>>(s);
    OK(cudaMemcpy2DFromArray(image, 16, array, 0, 0, 16, 3, cudaMemcpyDeviceToHost));
    WANT(image[0][0] == 0 && image[1][2] == 12 && image[2][3] == 23);
    OK(cudaDestroySurfaceObject(s));
    OK(cudaFreeArray(array));
    OK(cudaFree(out));
    int *line, numbers[8] = {3, 1, 4, 1, 5, 9, 2, 6}, back[8];
    OK(cudaMalloc(&line, 2 * sizeof numbers));
    OK(cudaMemcpy(line, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    cudaResourceDesc l = {};
    l.resType = cudaResourceTypeLinear;
    l.res.linear.devPtr = line;
    l.res.linear.desc = cudaCreateChannelDesc<int>();
    l.res.linear.sizeInBytes = sizeof numbers;
    cudaTextureDesc e = {};
    OK(cudaCreateTextureObject(&t, &l, &e, NULL));
    fetch<<<1, 8>>>(t, line + 8);
    OK(cudaMemcpy(back, line + 8, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++)
        WANT(back[i] == numbers[i]);
    OK(cudaDestroyTextureObject(t));
    OK(cudaFree(line));
}

// The caller passes 128 blocks, more than run at once in the functional model if a grid is not cooperative.
static void cooperative(int blocks) {
    int n = blocks * 32, result = 0, *p, *out;
    int *ones = (int *)malloc(n * sizeof *ones);
    for (int i = 0; i < n; i++)
        ones[i] = 1 + i % 3;
    long want_sum = 0;
    for (int i = 0; i < n; i++)
        want_sum += ones[i];
    OK(cudaMalloc(&p, n * sizeof *p));
    OK(cudaMalloc(&out, 4));
    OK(cudaMemcpy(p, ones, n * sizeof *p, cudaMemcpyHostToDevice));
    void *args[] = {&p, &out, &n};
    OK(cudaLaunchCooperativeKernel((void *)sum, dim3(blocks), dim3(32), args, 0, 0));
    OK(cudaMemcpy(&result, out, 4, cudaMemcpyDeviceToHost));
    WANT(result == want_sum);
    WANT(cudaLaunchCooperativeKernel((void *)sum, dim3(1 << 20), dim3(32), args, 0, 0) ==
         cudaErrorCooperativeLaunchTooLarge);
    cudaGetLastError();
    OK(cudaFree(p));
    OK(cudaFree(out));
    free(ones);
}

int main() {
    graphs();
    capture();
    pools();
    textures();
    cooperative(8);
    cooperative(128);
    printf("%d mistakes\n", mistakes);
    return mistakes != 0;
}
