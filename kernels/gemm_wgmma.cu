// gemm_wgmma: C = A B^T of row-major matrices with f16 or f8 (e4m3) elements and f32 results, as programs for Hopper's
// tensor cores are built: one warp group copies tiles by the tensor memory accelerator into a ring of four stages, two
// others multiply 64 x 128 results each. Two mbarriers a stage say when it is full and when it is empty.
// From: the description of warp specialisation in CUTLASS's documentation, written anew.
// Divergence: warp groups take different roles; in the first, one lane copies.
// Barriers: one, then mbarriers. Block: 384. Shared memory: 129 KiB.
// Contraction: left to the compiler; there is none to find.
// Architecture: sm_90a
#include "tensor_cores.cuh"

enum { TILE = 128, ROW = 128, STAGES = 4, STAGE = 2 * TILE * ROW, GROUP = 128 };

__device__ static void multiply_e4m3(float d[64], unsigned long long a, unsigned long long b, int add) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, "
                 "%8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, "
                 "%24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, "
                 "%40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, "
                 "%56, %57, %58, %59, %60, %61, %62, %63}, "
                 "%64, %65, p, 1, 1;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
                   "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
                   "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]),
                   "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                   "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
                   "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
                   "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
                   "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
                   "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]),
                   "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
                   "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                 : "l"(a), "l"(b), "r"(add));
}

// The producer: one thread fills the stages in turn.
__device__ static void fill(unsigned stages, unsigned full, unsigned empty, const struct tensor_map *a,
                            const struct tensor_map *b, unsigned steps, unsigned elements) {
    for (unsigned i = 0; i < steps; i++) {
        unsigned s = i % STAGES, at = stages + s * STAGE;
        barrier_wait(empty + 8 * s, (i / STAGES & 1) ^ 1); // the first wait for each stage passes at once
        barrier_expect(full + 8 * s, STAGE);
        copy_box(at, a, i * elements, blockIdx.y * TILE, full + 8 * s);
        copy_box(at + STAGE / 2, b, i * elements, blockIdx.x * TILE, full + 8 * s);
    }
}

// a: m x k, b: n x k, as tensor maps with boxes of 128 rows of 128 bytes, swizzled by 128 bytes. c: m x n. m and n are
// multiples of 128, k of the elements in 128 bytes.
template <bool F8>
__device__ static void gemm(const struct tensor_map *a, const struct tensor_map *b, float *c, unsigned n, unsigned k) {
    extern __shared__ __align__(1024) unsigned char memory[];
    const unsigned elements = F8 ? ROW : ROW / 2, steps = k / elements;
    const unsigned stages = shared_address(memory), full = stages + STAGES * STAGE, empty = full + 8 * STAGES;
    const unsigned group = threadIdx.x / GROUP;
    if (threadIdx.x == 0) {
        for (unsigned s = 0; s < STAGES; s++) {
            barrier_init(full + 8 * s, 1);
            barrier_init(empty + 8 * s, 2);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            fill(stages, full, empty, a, b, steps, elements);
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float d[64];
    for (unsigned i = 0; i < steps; i++) {
        unsigned s = i % STAGES, at = stages + s * STAGE;
        barrier_wait(full + 8 * s, i / STAGES & 1);
        unsigned long long da = descriptor(at + (group - 1) * 64 * ROW), db = descriptor(at + STAGE / 2);
        fence_registers();
#pragma unroll
        for (unsigned j = 0; j < 4; j++) // 32 bytes of each row
            if (F8)
                multiply_e4m3(d, da + 2 * j, db + 2 * j, i | j);
            else
                multiply_f16(d, da + 2 * j, db + 2 * j, i | j);
        commit_group();
        wait_group();
        if (threadIdx.x % GROUP == 0)
            barrier_arrive(empty + 8 * s);
    }
    const unsigned warp = threadIdx.x % GROUP / 32, lane = threadIdx.x % 32;
    const unsigned row = blockIdx.y * TILE + (group - 1) * 64 + warp * 16 + lane / 4;
    float *to = c + (size_t)row * n + blockIdx.x * TILE + 2 * (lane % 4);
#pragma unroll
    for (unsigned j = 0; j < 16; j++) {
        *(float2 *)(to + 8 * j) = make_float2(d[4 * j], d[4 * j + 1]);
        *(float2 *)(to + 8 * (size_t)n + 8 * j) = make_float2(d[4 * j + 2], d[4 * j + 3]);
    }
}

extern "C" __global__ void __launch_bounds__(3 * GROUP)
    gemm_f16(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b, float *c, unsigned n,
             unsigned k) {
    gemm<false>(&a, &b, c, n, k);
}

extern "C" __global__ void __launch_bounds__(3 * GROUP)
    gemm_e4m3(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b, float *c, unsigned n,
              unsigned k) {
    gemm<true>(&a, &b, c, n, k);
}
