// Several host threads, as in cudaOpenMP and simpleMultiCopy of the CUDA samples. Each thread has its own stream,
// memory, symbol and errors. Compiled with and without --default-stream per-thread.
#include "mistakes.h"
#include <atomic>
#include <thread>
#include <vector>

enum { THREADS = 6, N = 500, ROUNDS = 8 };
__device__ int counters[THREADS];
__constant__ int steps[THREADS];

__global__ void grow(float *p, int who, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += steps[who];
    if (i == 0)
        counters[who]++;
}
template <int K> __global__ void own(int *p) { *p = K; }

static std::atomic<int> wrong;
#define MINE(x)                                                                                                        \
    do {                                                                                                               \
        if (!(x)) {                                                                                                    \
            printf("line %d: %s\n", __LINE__, #x);                                                                     \
            wrong++;                                                                                                   \
        }                                                                                                              \
    } while (0)

static void work(int who) {
    cudaStream_t s;
    float *d, *host;
    int step = who + 1, count = 0, *one, seen = 0;
    MINE(cudaSetDevice(0) == cudaSuccess);
    MINE(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess);
    MINE(cudaMalloc(&d, N * 4) == cudaSuccess && cudaMallocHost(&host, N * 4) == cudaSuccess);
    MINE(cudaMalloc(&one, 4) == cudaSuccess);
    MINE(cudaMemcpyToSymbolAsync(steps, &step, 4, who * 4, cudaMemcpyHostToDevice, s) == cudaSuccess);
    for (int i = 0; i < N; i++)
        host[i] = i;
    MINE(cudaMemcpyAsync(d, host, N * 4, cudaMemcpyHostToDevice, s) == cudaSuccess);
    for (int r = 0; r < ROUNDS; r++) {
        if (who % 2)
            grow<<<(N + 63) / 64, 64, 0, s>>>(d, who, N);
        else
            grow<<<(N + 63) / 64, 64>>>(d, who, N);
        MINE(cudaGetLastError() == cudaSuccess);
        if (who == 3) { // only this thread gets the error
            MINE(cudaMemcpy(NULL, d, 4, (cudaMemcpyKind)77) == cudaErrorInvalidMemcpyDirection);
            MINE(cudaGetLastError() == cudaErrorInvalidMemcpyDirection);
        }
    }
    switch (who) {
    case 0:
        own<100><<<1, 1, 0, s>>>(one);
        break;
    case 1:
        own<101><<<1, 1, 0, s>>>(one);
        break;
    default:
        own<102><<<1, 1, 0, s>>>(one);
    }
    MINE(cudaStreamSynchronize(who % 2 ? s : 0) == cudaSuccess && cudaStreamSynchronize(s) == cudaSuccess);
    MINE(cudaMemcpyAsync(host, d, N * 4, cudaMemcpyDeviceToHost, s) == cudaSuccess);
    MINE(cudaStreamSynchronize(s) == cudaSuccess);
    for (int i = 0; i < N; i++)
        MINE(host[i] == i + ROUNDS * step);
    MINE(cudaMemcpyFromSymbol(&count, counters, 4, who * 4) == cudaSuccess && count == ROUNDS);
    MINE(cudaMemcpy(&seen, one, 4, cudaMemcpyDeviceToHost) == cudaSuccess && seen == 100 + (who < 2 ? who : 2));
    MINE(cudaFree(d) == cudaSuccess && cudaFree(one) == cudaSuccess && cudaFreeHost(host) == cudaSuccess);
    MINE(cudaStreamDestroy(s) == cudaSuccess);
}

int main() {
    std::vector<std::thread> all;
    for (int i = 0; i < THREADS; i++)
        all.emplace_back(work, i);
    for (std::thread &t : all)
        t.join();
    mistakes += wrong;
    OK(cudaDeviceSynchronize());
    return done();
}
