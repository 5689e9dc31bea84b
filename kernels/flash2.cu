// flash2: attention of a transformer, forward: O = softmax(Q K^T / 8) V for heads of 64 elements, by tensor cores. A CTA
// has 64 queries, a warp 16 of them. The loop copies the next 64 keys and values into shared memory while the tensor
// cores work on the last 64. No row of scores is stored: a CTA keeps the largest score and the sum so far of each query,
// and scales the outputs when the largest score grows.
// From: the algorithm of FlashAttention-2 (Dao 2023), written from its description.
// Divergence: none, except that with `causal` the last tile compares each key with its query, by selection.
// Barriers: 2 for each 64 keys. Block: 128. Shared memory: 40 KiB.
// Contraction: left to the compiler, as the results are compared with a tolerance.
// Architecture: sm_80
#include "tensor_cores.cuh"

enum { D = 64, ROWS = 64, KEYS = 64, THREADS = 128, TILE = KEYS * D * 2 };

__device__ static void copy_tile(unsigned to, const half_bits *from) {
#pragma unroll
    for (unsigned i = 0; i < KEYS * 8 / THREADS; i++) {
        unsigned n = threadIdx.x + i * THREADS, row = n / 8, chunk = n % 8;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + chunk_at(row, chunk)),
                     "l"(from + row * D + chunk * 8));
    }
}

__device__ static void load_transposed(unsigned r[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
}

__device__ static void multiply_add(float c[4], const unsigned a[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// q, k, v, o: length rows of D f16 values for each head (blockIdx.y); length is a multiple of 64. causal: a query sees
// only the keys up to its own row.
extern "C" __global__ void __launch_bounds__(THREADS)
    flash2(const half_bits *q, const half_bits *k, const half_bits *v, half_bits *o, unsigned length, int causal) {
    __shared__ __align__(128) unsigned char memory[5 * TILE];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, tile0 = shared_address(memory);
    const unsigned long long head = (unsigned long long)blockIdx.y * length * D;
    const unsigned tiles = causal ? blockIdx.x + 1 : length / KEYS;
    k += head;
    v += head;
    copy_tile(tile0, q + head + blockIdx.x * ROWS * D);
    copy_tile(tile0 + TILE, k);
    copy_tile(tile0 + 3 * TILE, v);
    asm volatile("cp.async.commit_group;");

    unsigned qr[D / 16][4];
    float out[D / 8][4] = {}, largest[2] = {-1e30f, -1e30f}, sum[2] = {0, 0};
    const float scale = 0.125f * 1.4426950408889634f; // powers of two instead of e
    for (unsigned t = 0; t < tiles; t++) {
        unsigned keys = tile0 + (1 + t % 2) * TILE, values = tile0 + (3 + t % 2) * TILE;
        if (t + 1 < tiles) {
            copy_tile(tile0 + (1 + (t + 1) % 2) * TILE, k + (t + 1) * KEYS * D);
            copy_tile(tile0 + (3 + (t + 1) % 2) * TILE, v + (t + 1) * KEYS * D);
        }
        asm volatile("cp.async.commit_group;\ncp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        if (t == 0)
#pragma unroll
            for (unsigned i = 0; i < D / 16; i++)
                load_matrices(qr[i], tile0 + chunk_at(warp * 16 + lane % 16, 2 * i + lane / 16));
        float s[KEYS / 8][4] = {};
#pragma unroll
        for (unsigned n = 0; n < KEYS / 8; n++)
#pragma unroll
            for (unsigned i = 0; i < D / 16; i += 2) {
                unsigned b[4];
                load_matrices(b, keys + chunk_at(n * 8 + lane % 8, 2 * i + lane / 8));
                multiply_add(s[n], qr[i], b[0], b[1]);
                multiply_add(s[n], qr[i + 1], b[2], b[3]);
            }
        if (causal && t + 1 == tiles) {
            unsigned row = warp * 16 + lane / 4, key = 2 * (lane % 4);
#pragma unroll
            for (unsigned n = 0; n < KEYS / 8; n++)
#pragma unroll
                for (unsigned e = 0; e < 4; e++)
                    s[n][e] = n * 8 + key + e % 2 > row + e / 2 * 8 ? -1e30f : s[n][e];
        }
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            float most = largest[half], part = 0;
#pragma unroll
            for (unsigned n = 0; n < KEYS / 8; n++)
                most = fmaxf(most, fmaxf(s[n][2 * half], s[n][2 * half + 1]));
            most = row_largest(most);
            float grown = power_of_two((largest[half] - most) * scale);
            largest[half] = most;
#pragma unroll
            for (unsigned n = 0; n < KEYS / 8; n++)
#pragma unroll
                for (unsigned e = 2 * half; e < 2 * half + 2; e++)
                    part += s[n][e] = power_of_two(fmaf(s[n][e], scale, -most * scale));
            sum[half] = sum[half] * grown + part;
#pragma unroll
            for (unsigned n = 0; n < D / 8; n++) {
                out[n][2 * half] *= grown;
                out[n][2 * half + 1] *= grown;
            }
        }
#pragma unroll
        for (unsigned i = 0; i < KEYS / 16; i++) {
            const unsigned p[4] = {pack(s[2 * i][0], s[2 * i][1]), pack(s[2 * i][2], s[2 * i][3]),
                                   pack(s[2 * i + 1][0], s[2 * i + 1][1]), pack(s[2 * i + 1][2], s[2 * i + 1][3])};
#pragma unroll
            for (unsigned n = 0; n < D / 8; n += 2) {
                unsigned b[4];
                load_transposed(b, values + chunk_at(i * 16 + lane % 16, n + lane / 16));
                multiply_add(out[n], p, b[0], b[1]);
                multiply_add(out[n + 1], p, b[2], b[3]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned half = 0; half < 2; half++) {
        float all = 1 / row_sum(sum[half]);
        unsigned row = blockIdx.x * ROWS + warp * 16 + lane / 4 + 8 * half;
#pragma unroll
        for (unsigned n = 0; n < D / 8; n++)
            *(unsigned *)(o + head + row * D + n * 8 + 2 * (lane % 4)) =
                pack(out[n][2 * half] * all, out[n][2 * half + 1] * all);
    }
}
