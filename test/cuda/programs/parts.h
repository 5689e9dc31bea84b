// Declarations that the three files of one program share. They are compiled with -rdc=true.
#ifndef PARTS_H
#define PARTS_H
#include <cuda_runtime.h>
typedef float (*operation)(float, float);
struct base {
    int id;
    __device__ virtual float value(float x) const;
    __device__ virtual ~base();
};
struct derived : base {
    float by;
    __device__ derived(int id, float by);
    __device__ float value(float x) const override;
};
extern __device__ operation table[3];
extern __constant__ float scale[2];
extern __device__ int total;
__device__ float poly(float x, int depth);
template <typename T> __device__ T squared(T x) { return x * x; }
__global__ void elsewhere(int *p);
cudaError_t launch_elsewhere(int *p);
int static_of_b(void);
#endif
