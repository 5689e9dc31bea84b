// Splits each warp into 32 / subwarp_size subwarps by a switch; every case sums its own slice of `data` and uses each
// word right after it is loaded, so that each load stalls its subwarp. After the microbenchmark of the subwarp-interleaving
// paper (section V-A, Figure 11), rewritten.
// From: that paper. The switch models its megakernel's call of a shader.
// Divergence: a switch of 2 to 32 cases in a uniform loop. Nesting: 2. Instructions after reconvergence: 3 (loop).
// Barriers: none. Block: 32 x 1. Shared memory: none.
// Compiled by: nvcc -O2 -arch=sm_75 -ptx subwarps.cu
#ifndef ACCESSES
#define ACCESSES 16 // subwarpslong.cu has more
#endif

#define SUM(id)                                                                                                        \
    case id: {                                                                                                         \
        int s = id;                                                                                                    \
        const int *p = slice;                                                                                          \
        _Pragma("unroll") for (int k = 0; k < ACCESSES; k++) {                                                         \
            int v;                                                                                                     \
            asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p + k * 32));                                       \
            asm volatile("xor.b32 %0, %0, %1;" : "+r"(s) : "r"(v + id));                                               \
        }                                                                                                              \
        result[tid] = s;                                                                                               \
        break;                                                                                                         \
    }
#define SUM4(id) SUM(id) SUM(id + 1) SUM(id + 2) SUM(id + 3)

extern "C" __global__ void subwarps(const int *data, int *result, int subwarp_size, int iterations) {
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    int subwarp = (threadIdx.x & 31) / subwarp_size;
    for (int it = 0; it < iterations; it++) {
        // one 128-byte line an access; no two subwarps, warps or iterations share one
        const int *slice = data + (((tid >> 5) * iterations + it) * 32 + subwarp) * ACCESSES * 32;
        switch (subwarp) {
            SUM4(0) SUM4(4) SUM4(8) SUM4(12) SUM4(16) SUM4(20) SUM4(24) SUM4(28)
        }
    }
}
