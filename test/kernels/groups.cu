// Products of matrices by warp groups: wgmma with operands in shared memory, written by hand as inline PTX.
// test/host/groups.c runs each kernel with every model and compares its results.
// Compiled by: nvcc -O2 -std=c++17 -arch=sm_90a -ptx groups.cu
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define D4(d, i)  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(d, i) D4(d, i), D4(d, i + 4), D4(d, i + 8), D4(d, i + 12)
#define D32(d, i) D16(d, i), D16(d, i + 16)
#define TEXT32                                                                                                         \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "   \
    "%24, %25, %26, %27, %28, %29, %30, %31"

static __device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

// Describes a matrix whose rows of 128 bytes are exchanged in chunks of 16 bytes. Eight rows have 1024 bytes.
static __device__ uint64_t descriptor(uint32_t at) {
    return (at >> 4 & 0x3fff) | 1ull << 16 | (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}

// Stores chunk `chunk` of row `row` of such a matrix.
static __device__ void store(unsigned char *to, int row, int chunk, uint4 v) {
    *(uint4 *)(to + row * 128 + ((chunk ^ row % 8) * 16)) = v;
}

static __device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
static __device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> static __device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
static __device__ void publish() {
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
}

// c = a b', for a of m x k and b of n x k. A block of two warp groups computes 64 x 128 elements. Two buffers: the
// product of one overlaps with the copy to the other.
extern "C" __global__ void __launch_bounds__(256) product(const half *a, const half *b, float *c, int n, int k) {
    __shared__ __align__(1024) unsigned char sa[2][8192], sb[2][2][8192]; // 64 rows of 128 bytes each
    const int group = threadIdx.x / 128, t = threadIdx.x % 128, row0 = blockIdx.y * 64, column0 = blockIdx.x * 128;
    float d[32] = {0};
    for (int at = 0, stage = 0; at < k; at += 64, stage ^= 1) {
        // matrix a has 64 rows; each warp group has 64 columns of b of its own
        for (int i = threadIdx.x; i < 64 * 8; i += 256)
            store(sa[stage], i / 8, i % 8, *(const uint4 *)(a + (size_t)(row0 + i / 8) * k + at + i % 8 * 8));
        for (int i = t; i < 64 * 8; i += 128)
            store(sb[stage][group], i / 8, i % 8,
                  *(const uint4 *)(b + (size_t)(column0 + 64 * group + i / 8) * k + at + i % 8 * 8));
        publish();
        fence();
        const uint64_t da = descriptor(shared_address(sa[stage])), db = descriptor(shared_address(sb[stage][group]));
        for (int step = 0; step < 4; step++)
            asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" TEXT32 "}, %32, %33, 1, 1, 1, 0, 0;"
                         : D32(d, 0)
                         : "l"(da + 2 * step), "l"(db + 2 * step));
        commit();
        wait<1>(); // the product of the other buffer, which is filled next, is complete
        __syncthreads();
    }
    wait<0>();
    const int lane = t % 32, row = row0 + t / 32 * 16 + lane / 4;
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 4; i++)
            c[(size_t)(row + i / 2 * 8) * n + column0 + 64 * group + 8 * j + lane % 4 * 2 + i % 2] = d[4 * j + i];
}

// c += -a b, for a of 64 x k in registers and b of k x 64, which is copied to shared memory row by row, so that wgmma
// transposes it.
extern "C" __global__ void __launch_bounds__(128) negated(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c,
                                                          int k) {
    __shared__ __align__(1024) unsigned char s[2048];
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
    float d[32];
    for (int i = 0; i < 32; i++)
        d[i] = c[(row + i % 4 / 2 * 8) * 64 + i / 4 * 8 + lane % 4 * 2 + i % 2];
    for (int at = 0; at < k; at += 16) {
        uint32_t x[4];
        for (int r = 0; r < 4; r++)
            x[r] = *(const uint32_t *)(a + (row + r % 2 * 8) * k + at + r / 2 * 8 + lane % 4 * 2);
        store(s, threadIdx.x / 8, threadIdx.x % 8, *(const uint4 *)(b + (at + threadIdx.x / 8) * 64 + threadIdx.x % 8 * 8));
        publish();
        fence();
        asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" TEXT32
                     "}, {%32, %33, %34, %35}, %36, 1, -1, 1, 1;"
                     : D32(d, 0)
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(descriptor(shared_address(s))));
        commit();
        wait<0>();
        __syncthreads();
    }
    for (int i = 0; i < 32; i++)
        c[(row + i % 4 / 2 * 8) * 64 + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}
