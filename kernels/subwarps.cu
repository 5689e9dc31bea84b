// Splits each warp into 32 / subwarp_size subwarps by a switch; every case sums its own slice of `data` and uses each
// word right after it is loaded, so that each load stalls its subwarp. After the microbenchmark of the subwarp-interleaving
// paper (section V-A, Figure 11), rewritten.
// From: that paper. The switch models its megakernel's call of a shader. The paper does not state the number of loads.
//   Its text says that 32 cases exceed an L1 instruction cache of 64 KB, and its speed-up says that 16 cases fit. So the
//   code of a case has 2 to 4 KB; 96 loads and additions of 16 bytes have 3 KB.
// Divergence: a switch of 2 to 32 cases in a uniform loop. Nesting: 2. Instructions after reconvergence: 4 (loop).
// Barriers: one of the warp, after the switch. Block: 32 x 1. Shared memory: none.
enum { LOADS = 96 };

// The sum of the first K lines' words. The comment with the case's number keeps the compiler from joining cases.
template <int ID, int K> static __device__ __forceinline__ int sum(const int *slice) {
    if constexpr (K == 0) {
        return ID;
    } else {
        int s = sum<ID, K - 1>(slice), v;
        asm volatile("ld.global.u32 %0, [%1+%2]; // case %3" : "=r"(v) : "l"(slice), "n"((K - 1) * 128), "n"(ID));
        asm volatile("add.u32 %0, %0, %1;" : "+r"(s) : "r"(v));
        return s;
    }
}

#define SUM(id)                                                                                                        \
    case id:                                                                                                           \
        result[tid] = sum<id, LOADS>(slice);                                                                        \
        break;
#define SUM4(id) SUM(id) SUM(id + 1) SUM(id + 2) SUM(id + 3)

extern "C" __global__ void subwarps(const int *data, int *result, int subwarp_size, int iterations) {
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    int subwarp = (threadIdx.x & 31) / subwarp_size;
    for (int it = 0; it < iterations; it++) {
        // one 128-byte line an access; no two subwarps, warps or iterations share one
        const int *slice = data + (((tid >> 5) * iterations + it) * 32 + subwarp) * LOADS * 32;
        switch (subwarp) {
            SUM4(0) SUM4(4) SUM4(8) SUM4(12) SUM4(16) SUM4(20) SUM4(24) SUM4(28)
        }
        __syncwarp();
    }
}
