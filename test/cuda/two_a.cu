/* Kernel, function and variables in two files, linked on the device (-rdc=true). */
#include <cstdio>
__device__ int twice(int);
extern __device__ int table[4];
extern __constant__ int offset;
static __device__ int mine = 1;
__global__ void apply(int *p) { p[threadIdx.x] = twice(p[threadIdx.x]) + table[threadIdx.x]; }
__global__ void sum(int *p) { *p = mine + offset; }
int main() {
    int h[4] = {1, 2, 3, 4}, s, *d;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    apply<<<1, 4>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    int ten = 10;
    cudaMemcpyToSymbol(offset, &ten, sizeof ten);
    sum<<<1, 1>>>(d);
    cudaMemcpy(&s, d, sizeof s, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d, %d\n", h[0], h[1], h[2], h[3], s);
    return 0;
}
