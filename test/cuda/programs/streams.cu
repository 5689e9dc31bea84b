// Work in several streams, as in simpleStreams, simpleCallback and asyncAPI of the CUDA samples, and Parboil's histo:
// copies of chunks in both directions, events between streams, calls of host functions, priorities, and peers.
#include "mistakes.h"
#include <cstring>
#include <vector>

enum { CHUNKS = 4, N = 2048, BINS = 64 };

__global__ void histogram(const unsigned char *in, int n, unsigned *bins) {
    __shared__ unsigned mine[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i] % BINS], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        if (mine[i])
            atomicAdd(&bins[i], mine[i]);
}
__global__ void twice(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= 2;
}

static int order[8], calls;
static void CUDART_CB called(void *p) { order[calls++] = *(int *)p; }
static void CUDART_CB told(cudaStream_t, cudaError_t e, void *p) { order[calls++] = e == cudaSuccess ? *(int *)p : -1; }

static void chunks() {
    std::vector<unsigned char> plain(CHUNKS * N);
    unsigned seed = 2, right[BINS] = {}, *bins, *back;
    unsigned char *pinned, *device;
    OK(cudaMallocHost(&pinned, CHUNKS * N));
    OK(cudaMallocHost(&back, sizeof right));
    for (int i = 0; i < CHUNKS * N; i++)
        right[(pinned[i] = next_random(&seed) >> 24) % BINS]++;
    OK(cudaMalloc(&device, CHUNKS * N));
    OK(cudaMalloc(&bins, sizeof right));
    cudaStream_t streams[CHUNKS], last;
    cudaEvent_t cleared, ready[CHUNKS];
    int low = 0, high = 0, numbers[CHUNKS] = {10, 11, 12, 13};
    unsigned flags = 0;
    OK(cudaDeviceGetStreamPriorityRange(&low, &high));
    WANT(low >= high);
    OK(cudaStreamCreateWithPriority(&last, cudaStreamNonBlocking, high));
    OK(cudaStreamGetFlags(last, &flags));
    WANT(flags == cudaStreamNonBlocking);
    OK(cudaEventCreateWithFlags(&cleared, cudaEventDisableTiming));
    OK(cudaMemsetAsync(bins, 0, sizeof right, last));
    OK(cudaEventRecord(cleared, last));
    for (int i = 0; i < CHUNKS; i++) {
        OK(cudaStreamCreate(&streams[i]));
        OK(cudaEventCreateWithFlags(&ready[i], cudaEventBlockingSync | cudaEventDisableTiming));
        OK(cudaStreamWaitEvent(streams[i], cleared, 0));
        OK(cudaMemcpyAsync(device + i * N, pinned + i * N, N, cudaMemcpyHostToDevice, streams[i]));
        histogram<<<4, 64, 0, streams[i]>>>(device + i * N, N, bins);
        OK(cudaEventRecord(ready[i], streams[i]));
        OK(cudaStreamWaitEvent(last, ready[i], 0));
        if (i % 2)
            OK(cudaLaunchHostFunc(streams[i], called, &numbers[i]));
        else
            OK(cudaStreamAddCallback(streams[i], told, &numbers[i], 0));
    }
    OK(cudaMemcpyAsync(back, bins, sizeof right, cudaMemcpyDeviceToHost, last));
    OK(cudaStreamSynchronize(last));
    WANT(memcmp(back, right, sizeof right) == 0);
    OK(cudaDeviceSynchronize());
    int sum = 0;
    for (int i = 0; i < calls; i++)
        sum += order[i];
    WANT(calls == CHUNKS && sum == 10 + 11 + 12 + 13);
    float ms;
    FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, ready[0], ready[1])); // these events have no time
    for (int i = 0; i < CHUNKS; i++) {
        OK(cudaStreamQuery(streams[i]));
        OK(cudaEventQuery(ready[i]));
        OK(cudaEventDestroy(ready[i]));
        OK(cudaStreamDestroy(streams[i]));
    }
    OK(cudaStreamDestroy(last));
    OK(cudaEventDestroy(cleared));
    OK(cudaFreeHost(pinned));
    OK(cudaFreeHost(back));
    OK(cudaFree(device));
    OK(cudaFree(bins));
}

static void peers() {
    int here[100], there[100], *a, *b, can = -1;
    for (int i = 0; i < 100; i++)
        here[i] = i;
    OK(cudaDeviceCanAccessPeer(&can, 0, 0));
    WANT(can == 0);
    WANT(cudaDeviceEnablePeerAccess(0, 0) != cudaSuccess); // there is one device
    cudaGetLastError();
    OK(cudaMalloc(&a, sizeof here));
    OK(cudaMalloc(&b, sizeof here));
    OK(cudaMemcpyAsync(a, here, sizeof here, cudaMemcpyDefault, cudaStreamPerThread));
    twice<<<1, 128, 0, cudaStreamPerThread>>>(a, 100);
    OK(cudaMemcpyPeerAsync(b, 0, a, 0, sizeof here, cudaStreamPerThread));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    twice<<<1, 128, 0, cudaStreamLegacy>>>(b, 100);
    OK(cudaMemcpyPeer(a, 0, b, 0, sizeof here));
    OK(cudaMemcpy(there, a, sizeof there, cudaMemcpyDefault));
    for (int i = 0; i < 100; i++)
        WANT(there[i] == 4 * i);
    OK(cudaFree(a));
    OK(cudaFree(b));
}

// A longer kernel takes more time between two events. No time passes between two events without work between them.
// The functional model measures the host's time, which other processes may lengthen, so the program tries three times.
__global__ void spin(int n, int *out) {
    int s = threadIdx.x;
    for (int i = 0; i < n; i++)
        s = s * 3 + i;
    if (out)
        *out = s;
}
static void times() {
    enum { TRIES = 3 };
    cudaEvent_t e[4];
    float ms[3], back;
    int *out;
    bool longer = false;
    OK(cudaMalloc(&out, 4));
    for (cudaEvent_t &v : e)
        OK(cudaEventCreate(&v));
    for (int i = 0; i < TRIES && !longer; i++) {
        spin<<<1, 32>>>(1, out);
        OK(cudaEventRecord(e[0]));
        spin<<<1, 32>>>(100, out);
        OK(cudaEventRecord(e[1]));
        spin<<<1, 32>>>(100000, out);
        OK(cudaEventRecord(e[2]));
        OK(cudaEventRecord(e[3]));
        OK(cudaEventSynchronize(e[3]));
        for (int j = 0; j < 3; j++)
            OK(cudaEventElapsedTime(&ms[j], e[j], e[j + 1]));
        longer = ms[0] > 0 && ms[1] > ms[0] && ms[2] >= 0 && ms[2] < ms[1];
    }
    WANT(longer);
    OK(cudaEventElapsedTime(&back, e[2], e[1]));
    WANT(back == -ms[1]);
    for (cudaEvent_t v : e)
        OK(cudaEventDestroy(v));
    OK(cudaFree(out));
}

// Attributes of a stream can be read back and copied. They have no effect on the machine.
static void hints() {
    cudaStream_t s, t;
    cudaStreamAttrValue v, seen;
    int device = -1, *p;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreate(&t));
    OK(cudaMalloc(&p, 1024));
    memset(&v, 0, sizeof v);
    v.accessPolicyWindow.base_ptr = p;
    v.accessPolicyWindow.num_bytes = 1024;
    v.accessPolicyWindow.hitRatio = 0.5f;
    v.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    OK(cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v));
    OK(cudaStreamGetAttribute(t, cudaStreamAttributeAccessPolicyWindow, &seen));
    WANT(seen.accessPolicyWindow.num_bytes == 0);
    OK(cudaStreamCopyAttributes(t, s));
    OK(cudaStreamGetAttribute(t, cudaStreamAttributeAccessPolicyWindow, &seen));
    WANT(seen.accessPolicyWindow.base_ptr == p && seen.accessPolicyWindow.hitRatio == 0.5f);
    v.priority = -1;
    OK(cudaStreamSetAttribute(s, cudaStreamAttributePriority, &v));
    OK(cudaStreamGetPriority(s, &device));
    WANT(device == -1);
    FAILS(cudaErrorInvalidValue, cudaStreamSetAttribute(s, (cudaStreamAttrID)60, &v));
    OK(cudaStreamGetDevice(s, &device));
    WANT(device == 0);
    OK(cudaCtxResetPersistingL2Cache());
    size_t width = 0;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
    OK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &format, 0));
    WANT(width >= 1 << 16);
    OK(cudaFree(p));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
}

int main() {
    chunks();
    peers();
    times();
    hints();
    return done();
}
