// Kernels with features of C++. test/host/load/compiled.c runs each kernel and compares its results.
// Compiled by: nvcc -O2 -arch=sm_90 -ptx compiled.cu
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

struct shape {
    __device__ virtual int area() const = 0;
    __device__ virtual int corners() const { return 0; }
    __device__ virtual ~shape() {}
};
struct box : shape {
    int a, b;
    __device__ box(int x, int y) : a(x), b(y) {}
    __device__ int area() const override { return a * b; }
    __device__ int corners() const override { return 4; }
};
struct disc : shape {
    int r;
    __device__ disc(int x) : r(x) {}
    __device__ int area() const override { return 3 * r * r; }
};

/* Creates an object on the device's heap, and stores its area plus 1000 times the number of its corners. */
extern "C" __global__ void virtual_calls(int *out) {
    int t = threadIdx.x;
    shape *s = t % 2 ? (shape *)new box(t, t + 1) : (shape *)new disc(t);
    out[t] = s->area() + 1000 * s->corners();
    delete s;
}

__device__ __noinline__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = ackermann(2, threadIdx.x % 8); }

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int minus(int x) { return -x; }
typedef int (*unary)(int);
__constant__ unary table[3] = {twice, square, minus};
__device__ unary table2[3] = {minus, twice, square};
extern "C" __global__ void pointers(int *out) {
    int t = threadIdx.x;
    out[t] = table[t % 3](t) + 1000 * table2[t % 3](t);
}

extern "C" __global__ void switches(int *out) {
    int t = threadIdx.x, v;
    switch (t % 11) {
    case 0:
        v = 17;
        break;
    case 1:
        v = t * t;
        break;
    case 2:
        v = t ^ 5;
        break;
    case 3:
        v = -t;
        break;
    case 4:
        v = __popc(t);
        break;
    case 5:
        v = t << 3;
        break;
    case 7:
        v = t / 3;
        break;
    case 8:
        v = __brev(t);
        break;
    case 9:
        v = t % 7;
        break;
    default:
        v = 99;
    }
    out[t] = v;
}

struct params {
    int a[40];
    long long b;
};
extern "C" __global__ void grid_constant(int *out, const __grid_constant__ params p, int i) {
    const int *at = p.a + (threadIdx.x + i) % 40;
    out[threadIdx.x] = *at + (int)p.b;
}

extern "C" __global__ void dynamic_shared(int *out) {
    extern __shared__ int s[];
    unsigned bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x)
        s[i] = i;
    __syncthreads();
    out[threadIdx.x] = s[bytes / 4 - 1 - threadIdx.x] + (__isShared(s) ? 1000 : 0);
}

extern "C" __global__ void __cluster_dims__(1, 1, 1) clustered(int *out) {
    __shared__ int s[32];
    cg::cluster_group c = cg::this_cluster();
    s[threadIdx.x] = threadIdx.x * 3;
    c.sync();
    int *other = c.map_shared_rank(s, c.block_rank());
    out[threadIdx.x] = other[31 - threadIdx.x] + 1000 * (int)c.num_blocks();
    c.barrier_arrive();
    c.barrier_wait();
}

extern "C" __global__ void vla(int *out, int n) {
    int *p = (int *)__builtin_alloca(n * sizeof(int));
    for (int i = 0; i < n; i++)
        p[i] = i * threadIdx.x;
    int sum = 0;
    for (int i = n - 1; i >= 0; i--)
        sum += p[i];
    out[threadIdx.x] = sum;
}

extern "C" __global__ void heap(int *out) {
    int t = threadIdx.x, **list = (int **)malloc(4 * sizeof(int *)), sum = 0;
    for (int i = 0; i < 4; i++) {
        list[i] = (int *)malloc((t + 1) * sizeof(int));
        for (int k = 0; k <= t; k++)
            list[i][k] = i * k;
    }
    for (int i = 0; i < 4; i++) {
        sum += list[i][t];
        free(list[i]);
    }
    free(list);
    out[t] = sum;
}

extern "C" __global__ void prints(int *out) {
    if (threadIdx.x == 0) {
        int n = printf("%d|%5d|%-5d|%05d|%+d|%u|%x|%#X|%o|%c|%s|%%|%f|%.3e|%g|%G|%a\n", -7, 42, 42, 42, 42, 4000000000u,
                       255, 255, 8, 'z', "text", 1.5, 12345.678, 0.0001, 1e20, 1.0);
        printf("%lld|%llu|%llx|%p|%hd|%hhu|%ld|%zu|%*d|%.*f|%10s|%-10s|\n", -1234567890123ll, 18446744073709551615ull,
               0xabcdefull, (void *)16, (short)-3, (unsigned char)200, -5l, (size_t)9, 6, 12, 2, 3.14159, "right",
               "left");
        out[0] = n;
    }
}

extern "C" __global__ void textures(float *out, cudaTextureObject_t t2, cudaTextureObject_t t1, cudaTextureObject_t la,
                                    cudaTextureObject_t cube) {
    int t = threadIdx.x;
    float x = t + 0.5f;
    float4 g = tex2Dgather<float4>(t2, x, 1.0f, 0);
    out[t] = tex2D<float>(t2, x, 0.5f) + tex1Dfetch<float>(t1, t) + tex2DLod<float>(t2, x, 0.5f, 0.0f) +
             tex2DLayered<float>(la, x, 0.5f, 1) + texCubemap<float>(cube, 1.0f, 0.1f, 0.2f) + g.x +
             tex2DGrad<float>(t2, x, 0.5f, make_float2(1, 0), make_float2(0, 1));
}
extern "C" __global__ void surfaces(cudaSurfaceObject_t s, cudaSurfaceObject_t l) {
    int t = threadIdx.x;
    int v = surf2Dread<int>(s, t * 4, 1, cudaBoundaryModeZero);
    surf2Dwrite(v + t, s, t * 4, 0, cudaBoundaryModeTrap);
    surf2DLayeredwrite(v, l, t * 4, 0, 1, cudaBoundaryModeClamp);
}
