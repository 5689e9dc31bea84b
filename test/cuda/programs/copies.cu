// Asynchronous copies to shared memory, as in the CUDA sample globalToShmemAsyncCopy and in the programming guide.
// Copies run ahead of their use, and threads wait for them in several ways: by groups of each thread, by a pipeline of
// the block in which one warp copies for the others, by barriers, and by cooperative groups. Tiles do not divide sizes.
#include "mistakes.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <vector>
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;
enum { M = 70, N = 84, K = 100, TILE = 16, STAGES = 3 };

// Computes c[m][n] = a[m][k] b[k][n]. Elements outside of the matrices are filled with zeros.
__global__ void multistage(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float as[STAGES][TILE][TILE], bs[STAGES][TILE][TILE + 1];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    int tiles = (k + TILE - 1) / TILE;
    auto fetch = [&](int t) {
        if (t < tiles) {
            int i = t * TILE + x, j = t * TILE + y;
            __pipeline_memcpy_async(&as[t % STAGES][y][x], &a[row * k + i], 4, row < m && i < k ? 0 : 4);
            __pipeline_memcpy_async(&bs[t % STAGES][y][x], &b[j * n + column], 4, j < k && column < n ? 0 : 4);
        }
        __pipeline_commit();
    };
    for (int t = 0; t < STAGES - 1; t++)
        fetch(t);
    float sum = 0;
    for (int t = 0; t < tiles; t++) {
        fetch(t + STAGES - 1);
        __pipeline_wait_prior(STAGES - 1);
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += as[t % STAGES][y][i] * bs[t % STAGES][i][x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

// Each block sums rows of 64 floats, and copies one row ahead. A copy has four floats and goes past the L1.
__global__ void row_sums(const float4 *in, float *out, int rows) {
    __shared__ float4 row[2][16];
    int t = threadIdx.x;
    float sum = 0;
    if (t < 16)
        __pipeline_memcpy_async(&row[0][t], in + 16 * blockIdx.x + t, 16);
    __pipeline_commit();
    for (int i = blockIdx.x, k = 0; i < rows; i += gridDim.x, k++) {
        if (t < 16 && i + gridDim.x < rows)
            __pipeline_memcpy_async(&row[(k + 1) % 2][t], in + 16 * (i + gridDim.x) + t, 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncwarp();
        const float *words = reinterpret_cast<const float *>(row[k % 2]);
        sum = words[t] + words[t + 32];
        for (int d = 16; d; d /= 2)
            sum += __shfl_down_sync(~0u, sum, d);
        if (t == 0)
            out[i] = sum;
        __syncwarp();
    }
}

// The first warp copies (role producer of a pipeline), and the other warps use the data (role consumer).
__global__ void producer_consumer(const int *in, int *out, int parts) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int s[2][96];
    auto block = cg::this_thread_block();
    auto role = block.thread_rank() < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    int t = threadIdx.x;
    if (role == cuda::pipeline_role::producer) {
        for (int p = 0; p < parts; p++) {
            pipe.producer_acquire();
            for (int i = t; i < 96; i += 32)
                cuda::memcpy_async(&s[p % 2][i], &in[96 * p + i], sizeof(int), pipe);
            pipe.producer_commit();
        }
    } else {
        int sum = 0;
        for (int p = 0; p < parts; p++) {
            pipe.consumer_wait();
            sum = 5 * sum + s[p % 2][95 - (t - 32)];
            pipe.consumer_release();
        }
        out[t - 32] = sum;
    }
}

// A stencil on tiles; a barrier waits for the copies of a tile.
__global__ void stencil(const int *in, int *out, int n) {
    __shared__ int s[130];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    int t = threadIdx.x, first = 128 * blockIdx.x;
    if (t == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    for (int i = t; i < 130; i += 128)
        if (first + i - 1 >= 0 && first + i - 1 < n)
            cuda::memcpy_async(&s[i], &in[first + i - 1], sizeof(int), barrier);
        else
            s[i] = 0;
    barrier.arrive_and_wait();
    if (first + t < n)
        out[first + t] = s[t] + 2 * s[t + 1] + s[t + 2];
}

// A histogram of bytes, which the block copies as one group, piece after piece.
__global__ void histogram(const unsigned char *in, unsigned *bins, int bytes) {
    __shared__ __align__(16) unsigned char s[2][1024];
    __shared__ unsigned own[256];
    auto block = cg::this_thread_block();
    int pieces = bytes / 1024;
    own[threadIdx.x] = 0;
    if (int(blockIdx.x) < pieces)
        cg::memcpy_async(block, s[0], in + 1024 * blockIdx.x, cuda::aligned_size_t<16>(1024));
    for (int p = blockIdx.x, k = 0; p < pieces; p += gridDim.x, k++) {
        int next = p + gridDim.x;
        if (next < pieces) {
            cg::memcpy_async(block, s[(k + 1) % 2], in + 1024 * next, cuda::aligned_size_t<16>(1024));
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        for (int i = threadIdx.x; i < 1024; i += 256)
            atomicAdd(&own[s[k % 2][i]], 1);
        block.sync();
    }
    block.sync();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

template <typename T> static T *managed(size_t n) {
    T *p = nullptr;
    OK(cudaMallocManaged(&p, n * sizeof(T)));
    return p;
}

static void products(void) {
    float *a = managed<float>(M * K), *b = managed<float>(K * N), *c = managed<float>(M * N);
    unsigned state = 3;
    for (int i = 0; i < M * K; i++)
        a[i] = next_float(&state);
    for (int i = 0; i < K * N; i++)
        b[i] = next_float(&state);
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), block(TILE, TILE);
    multistage<<<grid, block>>>(a, b, c, M, N, K);
    OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum += double(a[i * K + k]) * b[k * N + j];
            wrong += !near(c[i * N + j], sum, 1e-5);
        }
    WANT(wrong == 0);
}

static void sums(void) {
    const int rows = 37;
    float *in = managed<float>(64 * rows), *out = managed<float>(rows);
    for (int i = 0; i < 64 * rows; i++)
        in[i] = float(i % 23);
    row_sums<<<5, 32>>>(reinterpret_cast<const float4 *>(in), out, rows);
    OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int r = 0; r < rows; r++) {
        float sum = 0;
        for (int i = 0; i < 64; i++)
            sum += in[64 * r + i];
        wrong += out[r] != sum;
    }
    WANT(wrong == 0);
}

static void whole_numbers(void) {
    const int parts = 11, n = 1000;
    int *in = managed<int>(96 * parts), *out = managed<int>(n), wrong = 0;
    for (int i = 0; i < 96 * parts; i++)
        in[i] = i * i % 1009;
    producer_consumer<<<1, 128>>>(in, out, parts);
    OK(cudaDeviceSynchronize());
    for (int t = 0; t < 96; t++) {
        int sum = 0;
        for (int p = 0; p < parts; p++)
            sum = int(5u * unsigned(sum) + unsigned(in[96 * p + 95 - t]));
        wrong += out[t] != sum;
    }
    WANT(wrong == 0);
    stencil<<<(n + 127) / 128, 128>>>(in, out, n);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        wrong += out[i] != (i ? in[i - 1] : 0) + 2 * in[i] + (i + 1 < n ? in[i + 1] : 0);
    WANT(wrong == 0);
}

static void bytes(void) {
    const int size = 20 * 1024;
    unsigned char *in = managed<unsigned char>(size);
    unsigned *bins = managed<unsigned>(256), want_bins[256] = {0}, state = 7;
    for (int i = 0; i < size; i++)
        want_bins[in[i] = static_cast<unsigned char>(next_random(&state) >> 20)]++;
    OK(cudaMemset(bins, 0, 256 * sizeof *bins));
    histogram<<<3, 256>>>(in, bins, size);
    OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < 256; i++)
        wrong += bins[i] != want_bins[i];
    WANT(wrong == 0);
}

int main() {
    products();
    sums();
    whole_numbers();
    bytes();
    return done();
}
