// A product of matrices whose blocks have scales (MXFP8), with tcgen05: sums, and the scales of a and b, in tensor
// memory. Written by hand as inline PTX. test/host/groups.c runs the kernel with every model and compares its results.
// Compiled by: nvcc -O2 -std=c++17 -arch=sm_100a -ptx block_scaled_gemm.cu
#include <cstdint>

static __device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

// Describes a matrix whose rows of 128 bytes are exchanged in chunks of 16 bytes (swizzle 2), or one of rows of 16 bytes
// without swizzle (swizzle 0). Eight rows have `stride` bytes.
static __device__ uint64_t descriptor(uint32_t at, uint32_t stride, uint64_t swizzle) {
    return (at >> 4 & 0x3fff) | 1ull << 16 | (uint64_t)(stride >> 4) << 32 | 1ull << 46 | swizzle << 61;
}

// e4m3 for a and b, scales of ue8m0, 128 rows, 64 columns, and the byte of the scales.
static __device__ uint32_t instruction(uint32_t byte) {
    return byte << 4 | (64u >> 3) << 17 | 1u << 23 | (128u >> 7) << 27 | byte << 29;
}

// c = (a * scales of a) (b * scales of b)', for a of 128 x k and b of 64 x k. A scale belongs to 32 elements along k, and
// scale byte i of row r is at scales[(k / 128 * 32 + r % 32) * 16 + r / 32 * 4 + i]: 512 bytes for 128 elements along k.
// One block of 128 threads.
extern "C" __global__ void __launch_bounds__(128)
    block_scaled_product(const uint8_t *a, const uint8_t *b, const uint8_t *scales_a, const uint8_t *scales_b, float *c,
                         int k) {
    __shared__ __align__(1024) unsigned char sa[16384], sb[8192], fa[512], fb[512];
    __shared__ __align__(8) uint64_t done;
    __shared__ uint32_t columns;
    const int t = threadIdx.x;
    if (t < 32) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(shared_address(&columns))
                     : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    }
    if (t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&done)) : "memory");
    __syncthreads();
    const uint32_t d = columns, scale_a = d + 64, scale_b = d + 68;
    for (int at = 0, phase = 0; at < k; at += 128, phase ^= 1) {
        for (int i = t; i < 128 * 8; i += 128)
            *(uint4 *)(sa + i / 8 * 128 + ((i % 8 ^ i / 8 % 8) * 16)) = *(const uint4 *)(a + i / 8 * k + at + i % 8 * 16);
        for (int i = t; i < 64 * 8; i += 128)
            *(uint4 *)(sb + i / 8 * 128 + ((i % 8 ^ i / 8 % 8) * 16)) = *(const uint4 *)(b + i / 8 * k + at + i % 8 * 16);
        if (t < 32) {
            *(uint4 *)(fa + t * 16) = *(const uint4 *)(scales_a + at / 128 * 512 + t * 16);
            *(uint4 *)(fb + t * 16) = *(const uint4 *)(scales_b + at / 128 * 512 + t * 16);
        }
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        if (t == 0) {
            asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(scale_a),
                         "l"(descriptor(shared_address(fa), 128, 0))
                         : "memory");
            asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(scale_b),
                         "l"(descriptor(shared_address(fb), 128, 0))
                         : "memory");
            for (int step = 0; step < 4; step++)
                asm volatile("{ .reg .pred p; setp.ne.u32 p, %6, 0; tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale"
                             ".scale_vec::1X [%0], %1, %2, %3, [%4], [%5], p; }" ::"r"(d),
                             "l"(descriptor(shared_address(sa), 1024, 2) + 2 * step),
                             "l"(descriptor(shared_address(sb), 1024, 2) + 2 * step), "r"(instruction(step)), "r"(scale_a),
                             "r"(scale_b), "r"(at + step)
                             : "memory");
            asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                             shared_address(&done))
                         : "memory");
        }
        asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra W; }" ::"r"(
                         shared_address(&done)),
                     "r"(phase)
                     : "memory");
        __syncthreads();
    }
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    for (int j = 0; j < 64; j += 8) {
        uint32_t r[8];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
                     : "r"(d + j + (t / 32 << 21)));
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        for (int i = 0; i < 8; i++)
            c[t * 64 + j + i] = __uint_as_float(r[i]);
    }
    __syncthreads();
    if (t < 32)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(d));
}
