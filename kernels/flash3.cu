// flash3: attention of a transformer, forward: O = softmax(Q K^T / 8) V for heads of 64 elements, by warp-group matrix
// products. One warp group copies tiles of 128 keys and values by the tensor memory accelerator into a ring of two
// stages; two others have 64 queries each. They take turns: while one computes exponentials, the tensor cores work for
// the other. Probabilities stay in registers, where they are the left factor of the second product.
// From: the algorithm of FlashAttention-3 (Shah et al. 2024), written from its description.
// Divergence: warp groups take different roles; in the first, one lane copies.
// Barriers: one, then mbarriers, and two named barriers for the turns. Block: 384. Shared memory: 81 KiB.
// Contraction: left to the compiler, as the results are compared with a tolerance.
// Architecture: sm_90a
#include "tensor_cores.cuh"

enum { D = 64, ROW = 2 * D, QUERIES = 128, KEYS = 128, STAGES = 2, GROUP = 128, TILE = KEYS * ROW };

// The right factor's rows are keys, not columns of the result: it is transposed.
__device__ static void outputs(float d[32], const unsigned a[4], unsigned long long b, int add) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, "
                 "%8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, "
                 "%24, %25, %26, %27, %28, %29, %30, %31}, "
                 "{%32, %33, %34, %35}, %36, p, 1, 1, 1;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
                   "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
                   "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]),
                   "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                   "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
                   "+f"(d[30]), "+f"(d[31])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

// A group waits at its own named barrier for its turn, and gives the turn to the other by arriving there.
__device__ static void take_turn(unsigned group) {
    asm volatile("bar.sync %0, %1;" ::"r"(group), "n"(2 * GROUP) : "memory");
}
__device__ static void give_turn(unsigned group) {
    asm volatile("bar.arrive %0, %1;" ::"r"(3 - group), "n"(2 * GROUP) : "memory");
}

// q, k, v: (heads * length) x D as tensor maps with boxes of 128 rows, swizzled by 128 bytes. o: the same rows. length
// is a multiple of 128.
extern "C" __global__ void __launch_bounds__(3 * GROUP)
    flash3(const __grid_constant__ tensor_map q, const __grid_constant__ tensor_map k,
           const __grid_constant__ tensor_map v, half_bits *o, unsigned length) {
    extern __shared__ __align__(1024) unsigned char memory[];
    const unsigned queries = shared_address(memory), keys = queries + TILE, values = keys + STAGES * TILE;
    const unsigned full = values + STAGES * TILE, empty = full + 8 * STAGES, have_q = empty + 8 * STAGES;
    const unsigned group = threadIdx.x / GROUP, tiles = length / KEYS, first = blockIdx.y * length;
    if (threadIdx.x == 0) {
        for (unsigned s = 0; s < STAGES; s++) {
            barrier_init(full + 8 * s, 1);
            barrier_init(empty + 8 * s, 2);
        }
        barrier_init(have_q, 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x == 0) {
            barrier_expect(have_q, TILE);
            copy_box(queries, &q, 0, first + blockIdx.x * QUERIES, have_q);
            for (unsigned t = 0; t < tiles; t++) {
                unsigned s = t % STAGES;
                barrier_wait(empty + 8 * s, (t / STAGES & 1) ^ 1); // the first wait for each stage passes at once
                barrier_expect(full + 8 * s, 2 * TILE);
                copy_box(keys + s * TILE, &k, 0, first + t * KEYS, full + 8 * s);
                copy_box(values + s * TILE, &v, 0, first + t * KEYS, full + 8 * s);
            }
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    float out[D / 2] = {}, largest[2] = {-1e30f, -1e30f}, sum[2] = {0, 0};
    const float scale = 0.125f * 1.4426950408889634f; // powers of two instead of e
    const unsigned long long dq = descriptor(queries + (group - 1) * 64 * ROW);
    barrier_wait(have_q, 0);
    if (group == 2)
        give_turn(group); // the first group begins
    for (unsigned t = 0; t < tiles; t++) {
        unsigned stage = t % STAGES;
        float s[KEYS / 2];
        barrier_wait(full + 8 * stage, t / STAGES & 1);
        take_turn(group);
        unsigned long long dk = descriptor(keys + stage * TILE), dv = descriptor(values + stage * TILE);
        fence_registers();
#pragma unroll
        for (unsigned i = 0; i < D / 16; i++)
            multiply_f16(s, dq + 2 * i, dk + 2 * i, i);
        commit_group();
        wait_group();
        give_turn(group);
        unsigned p[KEYS / 16][4];
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            float most = largest[half], part = 0;
#pragma unroll
            for (unsigned n = 0; n < KEYS / 8; n++)
                most = fmaxf(most, fmaxf(s[4 * n + 2 * half], s[4 * n + 2 * half + 1]));
            most = row_largest(most);
            float grown = power_of_two((largest[half] - most) * scale);
            largest[half] = most;
#pragma unroll
            for (unsigned n = 0; n < KEYS / 8; n++) {
                float x = power_of_two(fmaf(s[4 * n + 2 * half], scale, -most * scale)),
                      y = power_of_two(fmaf(s[4 * n + 2 * half + 1], scale, -most * scale));
                part += x + y;
                p[n / 2][n % 2 * 2 + half] = pack(x, y);
            }
            sum[half] = sum[half] * grown + part;
#pragma unroll
            for (unsigned n = 0; n < D / 8; n++) {
                out[4 * n + 2 * half] *= grown;
                out[4 * n + 2 * half + 1] *= grown;
            }
        }
        fence_registers();
#pragma unroll
        for (unsigned i = 0; i < KEYS / 16; i++) // 16 rows of 128 bytes
            outputs(out, p[i], dv + 128 * i, 1);
        commit_group();
        wait_group();
        if (threadIdx.x % GROUP == 0)
            barrier_arrive(empty + 8 * stage);
    }
    if (group == 1)
        take_turn(group); // the last turn that the other group gave
    const unsigned warp = threadIdx.x % GROUP / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned half = 0; half < 2; half++) {
        float all = 1 / row_sum(sum[half]);
        unsigned row = first + blockIdx.x * QUERIES + (group - 1) * 64 + warp * 16 + lane / 4 + 8 * half;
#pragma unroll
        for (unsigned n = 0; n < D / 8; n++)
            *(unsigned *)(o + (size_t)row * D + n * 8 + 2 * (lane % 4)) =
                pack(out[4 * n + 2 * half] * all, out[4 * n + 2 * half + 1] * all);
    }
}
