// Kernels that launch kernels. test/host/device_launch.c computes their results by hand or in C.
// nvcc -O3 -arch=sm_90 -rdc=true -ptx launches.cu

// x becomes x * 3 + add: the result depends on the order of launches.
extern "C" __global__ void step(int *x, int add) { *x = *x * 3 + add; }

// Each CTA launches two steps. A barrier orders the launches of its threads. The step in the tail stream comes last.
extern "C" __global__ void in_order(int *x) {
    if (threadIdx.x == 0 && blockIdx.x == 0)
        step<<<1, 1, 0, cudaStreamTailLaunch>>>(x, 100);
    if (threadIdx.x == 37)
        step<<<1, 1>>>(x, 2 * blockIdx.x + 1);
    __syncthreads();
    if (threadIdx.x == 5)
        step<<<1, 1>>>(x, 2 * blockIdx.x + 2);
}

// A tree: each kernel adds 1 and launches two kernels of one level less.
extern "C" __global__ void tree(int *x, int levels) {
    if (threadIdx.x == 0)
        atomicAdd(x, 1);
    if (threadIdx.x < 2 && levels > 0)
        tree<<<1, 64>>>(x, levels - 1);
}

// A chain of launches. x counts the levels.
extern "C" __global__ void chain(int *x, int levels) {
    ++*x;
    if (levels > 0)
        chain<<<1, 1>>>(x, levels - 1);
}

// Sorts n values at `x` by their digits from bit `bit` on down: the zeros first. Launches itself for both parts.
extern "C" __global__ void radix(unsigned *x, unsigned n, int bit) {
    unsigned zeros = 0;
    for (unsigned i = 0; i < n; i++)
        if (!(x[i] >> bit & 1)) {
            unsigned v = x[i];
            x[i] = x[zeros];
            x[zeros++] = v;
        }
    if (bit == 0)
        return;
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    if (zeros > 1)
        radix<<<1, 1, 0, s>>>(x, zeros, bit - 1);
    if (n - zeros > 1)
        radix<<<1, 1>>>(x + zeros, n - zeros, bit - 1);
    cudaStreamDestroy(s);
}

// Every thread launches a kernel of 64 threads with shared memory, which sums 64 elements of `x` into one of `y`.
extern "C" __global__ void sum(const int *x, int *y) {
    extern __shared__ int part[];
    part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *y = part[0];
}
extern "C" __global__ void sums(const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum<<<1, 64, 64 * sizeof(int)>>>(x + 64 * i, y + i);
}

// Every thread launches `n` kernels.
extern "C" __global__ void many(int *x, int n) {
    for (int i = 0; i < n; i++)
        step<<<1, 1>>>(x, 1);
}

// Launches a step, then reads where there is no memory.
extern "C" __global__ void fails(int *x) {
    step<<<1, 1>>>(x, 1);
    *x = *(volatile int *)8;
}

struct large {
    int at[250];
};
extern "C" __global__ void takes_large(int *x, struct large l) { *x = l.at[249]; }
extern "C" __global__ void passes_large(int *x) {
    struct large l = {};
    takes_large<<<1, 1>>>(x, l);
}
