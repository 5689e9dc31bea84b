// One program of three files, which call functions, use variables and tables of functions, and derive classes across
// the files. Two files have static names that are equal.
#include "mistakes.h"
#include "parts.h"

static __device__ int hidden = 1;
__device__ int total;
__global__ void all(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const base *b = i % 2 ? new derived(i, 3) : new base();
    out[i] = table[i % 3](in[i], 2.0f) * scale[i % 2] + poly(in[i], 3) + squared(in[i]) + b->value(in[i]);
    delete b;
    atomicAdd(&total, hidden);
}

int main() {
    const int n = 100;
    float in[n], out[n], s[2] = {10, 100}, *d;
    int *p, sum = 0, changed = 5, three[3];
    for (int i = 0; i < n; i++)
        in[i] = i * 0.25f;
    OK(cudaMalloc(&d, 2 * sizeof in));
    OK(cudaMalloc(&p, sizeof three));
    OK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
    OK(cudaMemcpyToSymbol(scale, s, sizeof s));
    all<<<4, 32>>>(d + n, d, n);
    OK(cudaMemcpy(out, d + n, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        float x = in[i], t[3] = {x + 2, x - 2, x * 2}, poly = ((x + 1) * x + 1) * x + 1; // poly() in three steps
        WANT(near(out[i], t[i % 3] * s[i % 2] + poly + x * x + (i % 2 ? 3 * x + i : x), 1e-6));
    }
    OK(cudaMemcpyFromSymbol(&sum, total, 4));
    WANT(sum == n);
    OK(cudaMemcpyToSymbol(hidden, &changed, 4)); // the variable of this file
    WANT(static_of_b() == 2);
    OK(launch_elsewhere(p));
    elsewhere<<<1, 1>>>(p + 1);
    OK(cudaMemcpy(three, p, 8, cudaMemcpyDeviceToHost));
    WANT(three[0] == n + 2 && three[1] == n + 2);
    return done();
}
