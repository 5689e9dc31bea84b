// Compiled by: nvcc -ptx -arch=sm_75 early_exit.cu with -O3 (early_exit_o3.ptx), -Xcicc -O1 and -Xcicc -O0
// Early returns before barriers and collectives, in the forms that programs have. A CTA has 96 threads. Thread i writes
// out[i]; threads with i >= n leave early and usually do not write.
#include <cstdint>
#define SUM_OF(v) do { s[threadIdx.x] = (v); __syncthreads(); uint32_t t = 0; for (int k = 0; k < n; k++) t += s[k]; \
                       __syncthreads(); out[threadIdx.x] = t; } while (0)
extern "C" {
__global__ void guard(uint32_t *out, int n) { // the most common form
    __shared__ uint32_t s[96];
    int i = threadIdx.x;
    if (i >= n) return;
    SUM_OF(i + 1);
}
__global__ void two_guards(uint32_t *out, int n) {
    __shared__ uint32_t s[96];
    int i = threadIdx.x;
    if (i >= n) return;
    s[i] = i + 1;
    __syncthreads();
    if (i & 1) { out[i] = s[(i + 1) % n]; return; }
    __syncthreads();
    uint32_t t = 0;
    for (int k = 0; k < n; k++) t += s[k];
    out[i] = t;
}
__global__ void loop_return(uint32_t *out, int n) { // a return in the middle of a loop with a barrier
    __shared__ uint32_t s[96];
    int i = threadIdx.x;
    uint32_t t = 0;
    for (int round = 0; round < 4; round++) {
        if (i >= n - round) return;
        s[i] = i + round;
        __syncthreads();
        t += s[(i + 1) % (n - 3)];
        __syncthreads();
        out[i] = t;
    }
}
__global__ void loop_fall(uint32_t *out, int n) { // the kernel ends after the loop
    __shared__ uint32_t s[96];
    int i = threadIdx.x, left = i < n ? 3 : 1;
#pragma unroll 1
    do {
        s[i] = left;
        __syncthreads();
        if (i < n) out[i] += s[i / 2 * 2];
        __syncthreads();
    } while (--left);
}
__global__ void switch_return(uint32_t *out, int n) {
    __shared__ uint32_t s[96];
    int i = threadIdx.x;
    uint32_t v;
    switch (i >= n ? 3 : i % 3) {
    case 0: v = i * 3; break;
    case 1: v = i ^ 5; break;
    case 2: v = i + 100; break;
    default: return;
    }
    SUM_OF(v);
}
__global__ void else_return(uint32_t *out, int n) {
    __shared__ uint32_t s[96];
    int i = threadIdx.x;
    if (i < n) {
        if (i % 4 == 3) s[i] = 1; else s[i] = i;
        __syncthreads();
        uint32_t t = 0;
        for (int k = 0; k < n; k++) t += s[k];
        out[i] = t;
    } else {
        return;
    }
}
__device__ __noinline__ void body(uint32_t *out, uint32_t *s, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    SUM_OF(2 * i);
}
__global__ void in_function(uint32_t *out, int n) { // a called function returns early, and the kernel then exits
    __shared__ uint32_t s[96];
    body(out, s, n);
}
__global__ void ballot(uint32_t *out, int n) { // a vote and a shuffle with the full member mask
    int i = threadIdx.x;
    if (i >= n) return;
    uint32_t b = __ballot_sync(0xffffffff, i & 1);
    uint32_t v = __shfl_sync(0xffffffff, i * 7, 0);
    out[i] = b + v + __popc(__activemask());
}
__global__ void vote_then_store(uint32_t *out, int n) { // threads that skip the vote store a word before they exit
    int i = threadIdx.x;
    uint32_t r = 5;
    if (i < n) r = __any_sync(0xffffffff, i == 3) ? 7 : 8;
    out[i] = r;
}
__global__ void half_barrier(uint32_t *out, int n) { // the barrier counts a warp of which some threads have exited
    __shared__ uint32_t s[96];
    int i = threadIdx.x;
    if (i >= n) return;
    s[i] = i;
    asm volatile("bar.sync 1, 96;" ::: "memory");
    out[i] = s[n - 1 - i];
}
__global__ void search_rounds(uint32_t *out, int n) { // a return is the only exit of the loop around the barriers
    __shared__ uint32_t s[96];
    int i = threadIdx.x;
    if (i >= n) return;
#pragma unroll 1
    for (int round = 0; round < 3; round++) {
        uint32_t at = i + 1, steps = 0;
        s[i] = i + round;
        __syncthreads();
#pragma unroll 1
        while (true) { // the number of steps differs between the lanes of a warp
            steps++;
            if (at & 1) {
                if (at == 1) break;
                at--;
            } else {
                at /= 2;
            }
        }
        out[i] += steps * s[(i + 1) % n];
        __syncthreads();
    }
}
}
