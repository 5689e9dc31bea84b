// Kernels with mistakes for 'heddle exec --check', and the same kernels without the mistakes.
// usage: checks race|ordered|copied|managed|pinned|many|before|variable|shared [READ]
#include <cstdio>
#include <cstdlib>
#include <cstring>

/* Uses `part` for the maxima of the warps and then for their sums. Without the barrier between the two uses, a fast
 * warp overwrites a maximum with its sum before a slow warp has read the maximum. */
template <bool ordered> __global__ void softmax(const float *in, float *out, int n) {
    __shared__ float part[8];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    float most = -1e30f, sum = 0;
    for (int i = t; i < n; i += blockDim.x)
        most = fmaxf(most, in[i]);
    for (int o = 16; o; o /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
    if (lane == 0)
        part[warp] = most;
    __syncthreads();
    most = part[0];
    for (int i = 1; i < 8; i++)
        most = fmaxf(most, part[i]);
    if (ordered)
        __syncthreads();
    for (int i = t; i < n; i += blockDim.x)
        sum += expf(in[i] - most);
    for (int o = 16; o; o /= 2)
        sum += __shfl_xor_sync(~0u, sum, o);
    if (lane == 0)
        part[warp] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < 8; i++)
        sum += part[i];
    for (int i = t; i < n; i += blockDim.x)
        out[i] = expf(in[i] - most) / sum;
}

__global__ void total(const int *p, int *out, int n) {
    int sum = 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += 32)
        sum += p[i];
    atomicAdd(out, sum);
}
__global__ void put(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = i;
}
__global__ void before(const int *p, int *out) { out[threadIdx.x] = p[(int)threadIdx.x - 1]; }
__device__ int table[4];
__global__ void variable(int i, int *out) { *out = table[i]; }
__global__ void shared(int i, int *out) {
    __shared__ volatile int word[4];
    *out = word[i];
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 1024, *p = nullptr, *out, host[1024] = {0};
    float *x, *y;
    cudaMalloc(&x, 4000);
    cudaMalloc(&y, 4000);
    cudaMalloc(&out, 4096);
    cudaMemset(out, 0, 4096);
    cudaMemset(x, 0, 4000);
    if (!strcmp(what, "race"))
        for (int i = 0; i < 3; i++)
            softmax<false><<<1, 256>>>(x, y, 1000);
    if (!strcmp(what, "ordered"))
        softmax<true><<<1, 256>>>(x, y, 1000);
    if (!strcmp(what, "copied")) {
        cudaMalloc(&p, 1 << 20);
        cudaMemcpy(p, host, 4096, cudaMemcpyHostToDevice);
    }
    if (!strcmp(what, "managed"))
        cudaMallocManaged(&p, 1 << 20);
    if (!strcmp(what, "pinned"))
        cudaMallocHost(&p, 1 << 20);
    if (!strcmp(what, "managed") || !strcmp(what, "pinned"))
        memset(p, 0, 4096); // one page; the program never accesses the next page
    if (!strcmp(what, "many")) // each launch writes more elements, and reads the elements that earlier launches wrote
        for (int i = cudaMalloc(&p, 1 << 20) != cudaSuccess; i < 16; i++) {
            put<<<1, 64>>>(p + 64 * i, 64);
            total<<<1, 32>>>(p, out, 64 * (i + 1));
        }
    if (!strcmp(what, "variable"))
        variable<<<1, 1>>>(n, out);
    if (!strcmp(what, "shared"))
        shared<<<1, 1>>>(n, out);
    if (!strcmp(what, "before")) {
        cudaMalloc(&p, 4096);
        cudaMemset(p, 0, 4096);
        before<<<1, 32>>>(p, out);
    } else if (p) {
        total<<<1, 32>>>(p, out, n);
    }
    cudaError_t e = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(e));
    return 0;
}
