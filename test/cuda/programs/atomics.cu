// Tests every atomic function of CUDA on shared and global memory, in each scope, and locks that use atomics.
#include "mistakes.h"
#include <cuda_fp16.h>

struct cell {
    int add, sub, max, min, exchanged, cas;
    unsigned umax, umin, inc, dec, land, lor, lxor;
    unsigned long long add64, max64, min64, xor64, cas64;
    long long smax64, smin64;
    float addf;
    double addd, casd;
    unsigned short cas16[2];
    __half2 halves;
    __half half1, half2;
};
enum { THREADS = 96, BLOCKS = 3, ALL = THREADS * BLOCKS };

__device__ void everything(cell *c, int i) {
    atomicAdd(&c->add, i);
    atomicSub(&c->sub, i);
    atomicMax(&c->max, i % 2 ? i : -i);
    atomicMin(&c->min, i % 2 ? i : -i);
    atomicExch(&c->exchanged, 5);
    atomicMax(&c->umax, (unsigned)-i);
    atomicMin(&c->umin, (unsigned)i);
    atomicInc(&c->inc, 100);
    atomicDec(&c->dec, 100);
    atomicAnd(&c->land, ~(1u << i % 32));
    atomicOr(&c->lor, 1u << i % 16);
    atomicXor(&c->lxor, 1u << i % 31);
    atomicAdd(&c->add64, 1ull << 33);
    atomicMax(&c->max64, (unsigned long long)i << 40);
    atomicMin(&c->min64, (unsigned long long)(i + 1) << 40);
    atomicXor(&c->xor64, (unsigned long long)i << 35);
    atomicMax(&c->smax64, -((long long)i << 36));
    atomicMin(&c->smin64, -((long long)i << 36));
    atomicAdd(&c->addf, 0.5f * i);
    atomicAdd(&c->addd, 0.25 * i);
    atomicAdd_block(&c->add, 1);
    atomicAdd_system(&c->add, 1);
    for (int old = c->cas, was; (was = atomicCAS(&c->cas, old, old + 2)) != old; old = was)
        ;
    unsigned long long *bits = (unsigned long long *)&c->casd, old = *bits, was;
    for (; (was = atomicCAS(bits, old, __double_as_longlong(__longlong_as_double(old) * 1.0 + i))) != old; old = was)
        ;
    for (unsigned short o = c->cas16[1], w; (w = atomicCAS(&c->cas16[1], o, o + 1)) != o; o = w)
        ;
    atomicAdd(&c->halves, __halves2half2(__float2half(1), __float2half(-1)));
    atomicAdd(&c->half1, __float2half(1));
    unsigned long long o64 = c->cas64, w64;
    for (; (w64 = atomicCAS(&c->cas64, o64, o64 + (1ull << 32))) != o64; o64 = w64)
        ;
}

__device__ cell global_cell;
__global__ void on_global() { everything(&global_cell, blockIdx.x * blockDim.x + threadIdx.x); }
__global__ void on_shared(cell *out, const cell *start) {
    __shared__ cell c;
    if (threadIdx.x == 0)
        c = *start;
    __syncthreads();
    for (int i = threadIdx.x; i < ALL; i += blockDim.x)
        everything(&c, i);
    __syncthreads();
    if (threadIdx.x == 0)
        *out = c;
}

// A lock that one lane of each warp takes, as older programs do it.
__device__ int lock_word, guarded;
__global__ void locked(int times) {
    for (int i = 0; i < times; i++)
        if (threadIdx.x % 32 == 0) {
            while (atomicCAS(&lock_word, 0, 1) != 0)
                ;
            __threadfence();
            *(volatile int *)&guarded += 1;
            __threadfence();
            atomicExch(&lock_word, 0);
        }
}

// The last block adds the sums that the other blocks stored, as in threadFenceReduction of the CUDA samples.
__device__ unsigned blocks_done;
__global__ void last_block(const int *in, int *parts, int *out, int n) {
    __shared__ int sum;
    __shared__ bool last;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd_block(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int all = 0;
        for (int i = 0; i < gridDim.x; i++)
            all += ((volatile int *)parts)[i];
        *out = all;
    }
}

static cell begin() {
    cell c = {};
    c.umin = ~0u;
    c.land = ~0u;
    c.min64 = ~0ull;
    c.smax64 = -(1ll << 62);
    c.min = 1 << 20;
    c.max = -(1 << 20);
    return c;
}

static void check(const cell &c) {
    int sum = ALL * (ALL - 1) / 2;
    unsigned x31 = 0;
    unsigned long long x64 = 0;
    for (int i = 0; i < ALL; i++) {
        x31 ^= 1u << i % 31;
        x64 ^= (unsigned long long)i << 35;
    }
    WANT(c.add == sum + 2 * ALL && c.sub == -sum && c.max == ALL - 1 && c.min == -(ALL - 2));
    WANT(c.exchanged == 5 && c.umax == (unsigned)-1 && c.umin == 0);
    WANT(c.inc == ALL % 101 && c.dec == (101 - ALL % 101) % 101); // both counters wrap after 101 steps
    WANT(c.land == 0 && c.lor == 0xffff && c.lxor == x31);
    WANT(c.add64 == (unsigned long long)ALL << 33 && c.max64 == (unsigned long long)(ALL - 1) << 40 &&
         c.min64 == 1ull << 40);
    WANT(c.xor64 == x64 && c.smax64 == 0 && c.smin64 == -((long long)(ALL - 1) << 36));
    WANT(c.addf == 0.5f * sum && c.addd == 0.25 * sum && c.cas == 2 * ALL && c.casd == sum);
    WANT(c.cas16[0] == 0 && c.cas16[1] == ALL && c.cas64 == (unsigned long long)ALL << 32);
    WANT(__low2float(c.halves) == ALL && __high2float(c.halves) == -ALL && __half2float(c.half1) == ALL);
}

int main() {
    cell c = begin(), *d;
    OK(cudaMemcpyToSymbol(global_cell, &c, sizeof c));
    on_global<<<BLOCKS, THREADS>>>();
    OK(cudaMemcpyFromSymbol(&c, global_cell, sizeof c));
    check(c);
    OK(cudaMalloc(&d, 2 * sizeof c));
    c = begin();
    OK(cudaMemcpy(d, &c, sizeof c, cudaMemcpyHostToDevice));
    on_shared<<<1, 64>>>(d + 1, d);
    OK(cudaMemcpy(&c, d + 1, sizeof c, cudaMemcpyDeviceToHost));
    check(c);
    int n = 0, *in, *parts, *out, host[1000];
    locked<<<4, 64>>>(5);
    OK(cudaMemcpyFromSymbol(&n, guarded, 4));
    WANT(n == 4 * 2 * 5);
    for (int i = 0; i < 1000; i++)
        host[i] = i;
    OK(cudaMalloc(&in, sizeof host));
    OK(cudaMalloc(&parts, 64));
    OK(cudaMalloc(&out, 4));
    OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    for (int i = 0; i < 3; i++) {
        last_block<<<7, 64>>>(in, parts, out, 1000);
        OK(cudaMemcpy(&n, out, 4, cudaMemcpyDeviceToHost));
        WANT(n == 999 * 1000 / 2);
    }
    return done();
}
