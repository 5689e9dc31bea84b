#ifndef TEST_KERNELS_UNUSUAL_H
#define TEST_KERNELS_UNUSUAL_H
// Macros for the kernels of unusual_*.cu, for nvcc and for clang without CUDA's headers. The parameters of each kernel
// are `in` (65536 words), `fi` (65536 floats between -2 and 2), `out` and `fo` (16384 words each), 0 <= n <= 12 and
// 1 <= k <= 5. Threads write different words, and read words of other threads only after a barrier.
#ifdef __clang__
#define __global__    __attribute__((global))
#define __device__    __attribute__((device))
#define __shared__    __attribute__((shared))
#define __constant__  __attribute__((constant))
#define tid_x         ((int)__nvvm_read_ptx_sreg_tid_x())
#define tid_y         ((int)__nvvm_read_ptx_sreg_tid_y())
#define tid_z         ((int)__nvvm_read_ptx_sreg_tid_z())
#define cta_x         ((int)__nvvm_read_ptx_sreg_ctaid_x())
#define cta_y         ((int)__nvvm_read_ptx_sreg_ctaid_y())
#define cta_z         ((int)__nvvm_read_ptx_sreg_ctaid_z())
#define dim_x         ((int)__nvvm_read_ptx_sreg_ntid_x())
#define dim_y         ((int)__nvvm_read_ptx_sreg_ntid_y())
#define dim_z         ((int)__nvvm_read_ptx_sreg_ntid_z())
#define grid_x        ((int)__nvvm_read_ptx_sreg_nctaid_x())
#define grid_y        ((int)__nvvm_read_ptx_sreg_nctaid_y())
#define grid_z        ((int)__nvvm_read_ptx_sreg_nctaid_z())
#define bfly(v, d)    __nvvm_shfl_sync_bfly_i32(-1, v, d, 31)
#define down(v, d)    __nvvm_shfl_sync_down_i32(-1, v, d, 31)
#define bflyf(v, d)   __nvvm_shfl_sync_bfly_f32(-1, v, d, 31)
#define downf(v, d)   __nvvm_shfl_sync_down_f32(-1, v, d, 31)
#define add_to(p, v)  __nvvm_atom_add_gen_i((int *)(p), (int)(v))
#define fma_(a, b, c) __builtin_fmaf(a, b, c)
#define NOINLINE      __attribute__((noinline))
#define up(v, d)      __nvvm_shfl_sync_up_i32(-1, v, d, 0)
#define idx(v, d)     __nvvm_shfl_sync_idx_i32(-1, v, d, 31)
#define ballot(p)     ((u32)__nvvm_vote_ballot_sync(-1, p))
#define sync_warp()   __nvvm_bar_warp_sync(-1)
#else
#define tid_x         ((int)threadIdx.x)
#define tid_y         ((int)threadIdx.y)
#define tid_z         ((int)threadIdx.z)
#define cta_x         ((int)blockIdx.x)
#define cta_y         ((int)blockIdx.y)
#define cta_z         ((int)blockIdx.z)
#define dim_x         ((int)blockDim.x)
#define dim_y         ((int)blockDim.y)
#define dim_z         ((int)blockDim.z)
#define grid_x        ((int)gridDim.x)
#define grid_y        ((int)gridDim.y)
#define grid_z        ((int)gridDim.z)
#define bfly(v, d)    __shfl_xor_sync(0xffffffffu, v, d)
#define down(v, d)    __shfl_down_sync(0xffffffffu, v, d)
#define bflyf(v, d)   __shfl_xor_sync(0xffffffffu, v, d)
#define downf(v, d)   __shfl_down_sync(0xffffffffu, v, d)
#define add_to(p, v)  atomicAdd(p, v)
#define fma_(a, b, c) fmaf(a, b, c)
#define NOINLINE      __noinline__
#define up(v, d)      __shfl_up_sync(0xffffffffu, v, d)
#define idx(v, d)     __shfl_sync(0xffffffffu, v, d)
#define ballot(p)     __ballot_sync(0xffffffffu, p)
#define sync_warp()   __syncwarp()
#endif
#define wait_all __syncthreads
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;
typedef unsigned char u8;
typedef unsigned short u16;
struct four {
    u32 x, y, z, w;
} __attribute__((aligned(16)));
struct two {
    float x, y;
} __attribute__((aligned(8)));
#define PLACE                                                                                                          \
    const int x = tid_x, y = tid_y, z = tid_z, at = x + dim_x * (y + dim_y * z), all = dim_x * dim_y * dim_z,          \
              cta = cta_x + grid_x * (cta_y + grid_y * cta_z), i = cta * all + at;                                     \
    (void)x, (void)y, (void)z, (void)at, (void)all, (void)cta, (void)i
#define KERNEL(name) extern "C" __global__ void name(u32 *out, const u32 *in, float *fo, const float *fi, int n, int k)

#endif
