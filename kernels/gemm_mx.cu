// gemm_mx: C = A B^T with block-scaled f8 (MXFP8) elements: each 32 elements of a row share a scale, a power of two
// (ue8m0), which the tensor cores apply. Results are f32. A CTA computes 64 x 64 results, a warp 16 x 64; rows of 128
// bytes are copied asynchronously while the tensor cores work on the rows before.
// From: the format's public description (OCP Microscaling Formats) and the PTX manual; the loop is that of flash2.
// Divergence: none. Barriers: 2 for each 128 elements. Block: 128. Shared memory: 32 KiB.
// Contraction: left to the compiler; there is none to find.
// Architecture: sm_120a
#include "tensor_cores.cuh"

enum { TILE = 64, ROW = 128, THREADS = 128, BYTES = TILE * ROW };

__device__ static void copy_tile(unsigned to, const unsigned char *from, unsigned k) {
#pragma unroll
    for (unsigned i = 0; i < TILE * 8 / THREADS; i++) {
        unsigned n = threadIdx.x + i * THREADS, row = n / 8, chunk = n % 8;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + chunk_at(row, chunk)),
                     "l"(from + (size_t)row * k + chunk * 16));
    }
}

// `step` selects the scales' byte. The first lanes of each four supply the scales: two of A's rows, one of B's.
template <int step>
__device__ static void multiply_add(float c[4], const unsigned a[4], unsigned b0, unsigned b1, unsigned scale_a,
                                    unsigned scale_b) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {%12, 0}, {%11}, {%12, 0};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(scale_a), "r"(scale_b), "n"(step));
}

// Two steps of 32 elements each: chunks 4 * pair to 4 * pair + 3 of the rows.
template <int pair>
__device__ static void two_steps(float c[8][4], unsigned tile_a, unsigned tile_b, unsigned scale_a,
                                 const unsigned scale_b[8]) {
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned a[2][4];
#pragma unroll
    for (unsigned i = 0; i < 2; i++)
        load_matrices(a[i], tile_a + chunk_at(warp * 16 + lane % 16, 4 * pair + 2 * i + lane / 16));
#pragma unroll
    for (unsigned n = 0; n < 8; n++) {
        unsigned b[4];
        load_matrices(b, tile_b + chunk_at(n * 8 + lane % 8, 4 * pair + lane / 8));
        multiply_add<2 * pair>(c[n], a[0], b[0], b[1], scale_a, scale_b[n]);
        multiply_add<2 * pair + 1>(c[n], a[1], b[2], b[3], scale_a, scale_b[n]);
    }
}

// a: m x k, b: n x k bytes; a_scale, b_scale: a word of four scales for each 128 elements of a row. c: m x n. m and n
// are multiples of 64, k of 128.
extern "C" __global__ void __launch_bounds__(THREADS)
    gemm_mx(const unsigned char *a, const unsigned *a_scale, const unsigned char *b, const unsigned *b_scale, float *c,
            unsigned n, unsigned k) {
    __shared__ __align__(128) unsigned char memory[4 * BYTES];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, tile0 = shared_address(memory), steps = k / ROW;
    const unsigned row = blockIdx.y * TILE + warp * 16 + lane / 4, column = blockIdx.x * TILE;
    a += (size_t)blockIdx.y * TILE * k;
    b += (size_t)column * k;
    copy_tile(tile0, a, k);
    copy_tile(tile0 + 2 * BYTES, b, k);
    asm volatile("cp.async.commit_group;");
    float d[8][4] = {};
    for (unsigned t = 0; t < steps; t++) {
        unsigned at_a = tile0 + t % 2 * BYTES, at_b = tile0 + (2 + t % 2) * BYTES;
        if (t + 1 < steps) {
            copy_tile(tile0 + (t + 1) % 2 * BYTES, a + (t + 1) * ROW, k);
            copy_tile(tile0 + (2 + (t + 1) % 2) * BYTES, b + (t + 1) * ROW, k);
        }
        unsigned scale_a = a_scale[(row + lane % 2 * 8) * steps + t], scale_b[8];
#pragma unroll
        for (unsigned i = 0; i < 8; i++)
            scale_b[i] = b_scale[(column + 8 * i + lane / 4) * steps + t];
        asm volatile("cp.async.commit_group;\ncp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        two_steps<0>(d, at_a, at_b, scale_a, scale_b);
        two_steps<1>(d, at_a, at_b, scale_a, scale_b);
        __syncthreads();
    }
    float *to = c + (size_t)row * n + column + 2 * (lane % 4);
#pragma unroll
    for (unsigned i = 0; i < 8; i++) {
        *(float2 *)(to + 8 * i) = make_float2(d[i][0], d[i][1]);
        *(float2 *)(to + 8 * (size_t)n + 8 * i) = make_float2(d[i][2], d[i][3]);
    }
}
