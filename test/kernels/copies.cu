// Asynchronous copies to shared memory, in every way in which CUDA C++ writes them.
// test/host/copies.c runs each kernel with every model and compares its results.
// Compiled by: nvcc -O2 -std=c++17 -arch=sm_80 -ptx copies.cu
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

// A block copies 64 elements of four words. Elements from n on become zeros (zfill), without a read.
extern "C" __global__ void primitives(const int4 *in, int4 *out, int n) {
    __shared__ int4 s[64];
    int t = threadIdx.x, i = 64 * blockIdx.x + t;
    __pipeline_memcpy_async(&s[t], in + i, 16, i < n ? 0 : 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = s[63 - t];
}

// Copies of 4, 8 and 16 bytes are in three groups. Threads wait for group after group. The last copy reads 8 bytes.
extern "C" __global__ void groups(const int *in, int *out) {
    __shared__ __align__(16) int a[64], b[128], c[256];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&a[t], in + t, 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&b[2 * t], in + 64 + 2 * t, 8);
    __pipeline_commit();
    __pipeline_memcpy_async(&c[4 * t], in + 192 + 4 * t, 16, 8);
    __pipeline_commit();
    __pipeline_wait_prior(2);
    int sum = a[t];
    __pipeline_wait_prior(1);
    sum += b[2 * t] + b[2 * t + 1];
    __pipeline_wait_prior(0);
    out[t] = sum + c[4 * t] + c[4 * t + 1] + c[4 * t + 2] + c[4 * t + 3];
}

// Odd lanes copy one group, even lanes copy two groups, and each lane waits for its own groups.
extern "C" __global__ void divergent(const int *in, int *out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = s[64 + t] = 0;
    if (t & 1) {
        __pipeline_memcpy_async(&s[t], in + 3 * t, 4);
        __pipeline_commit();
    } else {
        __pipeline_memcpy_async(&s[t], in + t, 4);
        __pipeline_commit();
        __pipeline_memcpy_async(&s[64 + t], in + t + 1, 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
    }
    __pipeline_wait_prior(0);
    out[t] = s[t] + 1000 * s[64 + t];
}

// A barrier (cuda::barrier) waits for copies.
extern "C" __global__ void barrier(const int *in, int *out) {
    __shared__ int s[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ block_barrier b;
    int t = threadIdx.x;
    if (t == 0)
        init(&b, 64);
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        cuda::memcpy_async(&s[t], in + 64 * k + t, sizeof(int), b);
        b.arrive_and_wait();
        out[64 * k + t] = s[63 - t];
        b.arrive_and_wait();
    }
}

// A pipeline of the block with two stages.
extern "C" __global__ void pipeline(const int *in, int *out, int n) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ __align__(16) int s[2][64];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x, sum = 0;
    for (int k = 0, next = 0; k < n; k++) {
        for (; next < n && next < k + 2; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[next % 2], in + 64 * next, cuda::aligned_size_t<16>(256), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum = 3 * sum + s[k % 2][63 - t];
        pipe.consumer_release();
    }
    out[t] = sum;
}

// Each thread has its own pipeline, and the block has a barrier.
extern "C" __global__ void own_pipeline(const int *in, int *out, int n) {
    __shared__ int s[2][64];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x, sum = 0;
    for (int k = 0, next = 0; k < n; k++) {
        for (; next < n && next < k + 2; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[next % 2][t], in + 64 * next + t, sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        __syncthreads();
        sum = 3 * sum + s[k % 2][63 - t];
        __syncthreads();
        pipe.consumer_release();
    }
    out[t] = sum;
}

// Cooperative groups: the block copies, and waits for the stage before the last.
extern "C" __global__ void group(const int *in, int *out, int n) {
    __shared__ __align__(16) int s[2][64];
    auto block = cg::this_thread_block();
    int t = threadIdx.x, sum = 0;
    cg::memcpy_async(block, s[0], in, 256);
    for (int k = 0; k < n; k++) {
        if (k + 1 < n) {
            cg::memcpy_async(block, s[(k + 1) % 2], in + 64 * (k + 1), 256);
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        sum = 3 * sum + s[k % 2][63 - t];
        block.sync();
    }
    out[t] = sum;
}

// Computes c = a b for n x n matrices. Tiles of 16 x 16 are copied while the previous tiles are multiplied.
extern "C" __global__ void tiles(const float *a, const float *b, float *c, int n) {
    __shared__ float as[2][16][16], bs[2][16][16];
    int x = threadIdx.x, y = threadIdx.y, row = 16 * blockIdx.y + y, column = 16 * blockIdx.x + x;
    float sum = 0;
    auto fetch = [&](int k) {
        __pipeline_memcpy_async(&as[k % 2][y][x], a + row * n + 16 * k + x, 4);
        __pipeline_memcpy_async(&bs[k % 2][y][x], b + (16 * k + y) * n + column, 4);
        __pipeline_commit();
    };
    fetch(0);
    for (int k = 0; k < n / 16; k++) {
        if (k + 1 < n / 16)
            fetch(k + 1);
        else
            __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += as[k % 2][y][i] * bs[k % 2][i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// Rare forms of PTX: an arrival that is already counted (.noinc), and a predicate instead of a size.
extern "C" __global__ void words(const int *in, int *out) {
    __shared__ int s[64];
    __shared__ long long object;
    unsigned t = threadIdx.x, at = (unsigned)__cvta_generic_to_shared(&s[t]),
             b = (unsigned)__cvta_generic_to_shared(&object);
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(b));
    __syncthreads();
    asm volatile("{ .reg .pred p; setp.gt.u32 p, %2, 31;\n"
                 "cp.async.ca.shared::cta.global.L2::128B [%0], [%1], 4, p;\n"
                 "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%3]; }" ::"r"(at), "l"(in + t), "r"(t), "r"(b)
                 : "memory");
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.test_wait.parity.shared.b64 p, [%0], 0;\n"
                 "@!p bra again; }" ::"r"(b)
                 : "memory");
    out[t] = s[63 - t];
}
