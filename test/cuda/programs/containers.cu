// Containers that kernels create and destroy in a heap whose limit the program has raised, and placement new.
#include "mistakes.h"
#include <new>
#include <vector>
template <class T> struct Stack {
    virtual __device__ void push(T v) = 0;
    virtual __device__ T pop() = 0;
    virtual __device__ ~Stack() {}
};
template <class T> struct Vec : Stack<T> {
    T *d;
    int n, cap;
    __device__ Vec(int c) : n(0), cap(c) { d = new T[c]; }
    __device__ ~Vec() { delete[] d; }
    __device__ void push(T v) override {
        if (n == cap) {
            T *e = new T[cap * 2];
            for (int i = 0; i < n; i++)
                e[i] = d[i];
            delete[] d;
            d = e;
            cap *= 2;
        }
        d[n++] = v;
    }
    __device__ T pop() override { return n ? d[--n] : T(-1); }
};
__device__ Stack<int> *shared_stack;
__global__ void make() {
    shared_stack = new Vec<int>(2);
    for (int i = 0; i < 100; i++)
        shared_stack->push(i);
}
__global__ void use(int *out) {
    int s = 0;
    for (int i = 0; i < 100; i++)
        s += shared_stack->pop();
    *out = s;
}
__global__ void drop() { delete shared_stack; }
__global__ void big(int **p, size_t bytes) {
    p[blockIdx.x] = (int *)malloc(bytes);
    if (p[blockIdx.x])
        for (size_t i = threadIdx.x; i < bytes / 4; i += 4096)
            p[blockIdx.x][i] = i;
}
__global__ void sum(int **p, unsigned long long *o) {
    if (p[blockIdx.x]) {
        atomicAdd(o, (unsigned long long)p[blockIdx.x][4096]);
        free(p[blockIdx.x]);
    }
}
struct Complex {
    float r, i;
    __device__ Complex() : r(1), i(2) {}
};
__global__ void place(float *o) {
    __shared__ alignas(16) char room[sizeof(Complex) * 4];
    Complex *c = new (room + sizeof(Complex) * threadIdx.x) Complex;
    __syncthreads();
    o[threadIdx.x] = ((Complex *)room)[3 - threadIdx.x].i + c->r;
}
int main() {
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    size_t lim;
    OK(cudaDeviceGetLimit(&lim, cudaLimitMallocHeapSize));
    WANT(lim >= 64 << 20);
    int *o, h;
    OK(cudaMalloc(&o, 4));
    make<<<1, 1>>>();
    use<<<1, 1>>>(o);
    drop<<<1, 1>>>();
    OK(cudaMemcpy(&h, o, 4, cudaMemcpyDeviceToHost));
    WANT(h == 4950);
    FAILS(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitMallocHeapSize, 128 << 20));
    int **p;
    unsigned long long *s;
    OK(cudaMalloc(&p, 10 * 8));
    OK(cudaMallocManaged(&s, 8));
    *s = 0;
    big<<<7, 1>>>(p, 9 << 20);
    sum<<<7, 1>>>(p, s);
    OK(cudaDeviceSynchronize());
    WANT(*s == 7 * 4096);
    int *hp[10];
    big<<<10, 1>>>(p, 9 << 20);
    OK(cudaMemcpy(hp, p, 80, cudaMemcpyDeviceToHost));
    int got = 0;
    for (auto q : hp)
        got += q != nullptr;
    WANT(got == 7);
    float *f, hf[4];
    OK(cudaMalloc(&f, 16));
    place<<<1, 4>>>(f);
    OK(cudaMemcpy(hf, f, 16, cudaMemcpyDeviceToHost));
    WANT(hf[0] == 3);
    return done();
}
