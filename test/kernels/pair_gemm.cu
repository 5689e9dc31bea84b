// A product of matrices by a pair of CTAs, with tcgen05: each CTA loads half of the rows of a and half of the columns of
// b, and has half of the rows of c in its tensor memory. Written by hand as inline PTX. test/host/groups.c runs the
// kernel with every model and compares its results.
// Compiled by: nvcc -O2 -std=c++17 -arch=sm_100a -ptx pair_gemm.cu
#include <cstdint>
#include <cuda_fp16.h>

static __device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
static __device__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

// Describes a matrix whose rows of 128 bytes are exchanged in chunks of 16 bytes. Eight rows have 1024 bytes.
static __device__ uint64_t descriptor(uint32_t at) {
    return (at >> 4 & 0x3fff) | 1ull << 16 | (uint64_t)(1024 >> 4) << 32 | 1ull << 46 | 2ull << 61;
}

// Sums in f32, a and b in f16, 256 rows, 64 columns.
static constexpr uint32_t instruction = 1u << 4 | (64u >> 3) << 17 | (256u >> 4) << 24;

// c = a b', for a of 256 x k and b of 64 x k. Two blocks of 128 threads, which are a cluster.
extern "C" __global__ void __cluster_dims__(2) __launch_bounds__(128)
    pair_product(const half *a, const half *b, float *c, int k) {
    __shared__ __align__(1024) unsigned char sa[16384], sb[4096];
    __shared__ __align__(8) uint64_t done;
    __shared__ uint32_t columns;
    const int t = threadIdx.x, rank = blockIdx.x;
    if (t < 32) {
        asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(shared_address(&columns))
                     : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
    }
    if (t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&done)) : "memory");
    a += rank * 128 * k;
    b += rank * 32 * k;
    __syncthreads();
    const uint32_t d = columns;
    for (int at = 0, phase = 0; at < k; at += 64, phase ^= 1) {
        for (int i = t; i < 128 * 8; i += 128)
            *(uint4 *)(sa + i / 8 * 128 + ((i % 8 ^ i / 8 % 8) * 16)) = *(const uint4 *)(a + i / 8 * k + at + i % 8 * 8);
        for (int i = t; i < 32 * 8; i += 128)
            *(uint4 *)(sb + i / 8 * 128 + ((i % 8 ^ i / 8 % 8) * 16)) = *(const uint4 *)(b + i / 8 * k + at + i % 8 * 8);
        asm volatile("fence.proxy.async;" ::: "memory");
        cluster_sync();
        if (t == 0 && rank == 0) {
            for (int step = 0; step < 4; step++)
                asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p; }"
                             ::"r"(d), "l"(descriptor(shared_address(sa)) + 2 * step),
                             "l"(descriptor(shared_address(sb)) + 2 * step), "r"(instruction), "r"(at + step)
                             : "memory");
            asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
                         ::"r"(shared_address(&done)), "h"((uint16_t)3)
                         : "memory");
        }
        asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra W; }" ::"r"(
                         shared_address(&done)),
                     "r"(phase)
                     : "memory");
    }
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    for (int j = 0; j < 64; j += 8) {
        uint32_t r[8];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
                     : "r"(d + j + (t / 32 << 21)));
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        for (int i = 0; i < 8; i++)
            c[(rank * 128 + t) * 64 + j + i] = __uint_as_float(r[i]);
    }
    cluster_sync();
    if (t < 32)
        asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 64;" ::"r"(d));
}
