__device__ int table[4] = {10, 20, 30, 40};
__constant__ int offset = 5;
static __device__ int mine = 2;
__device__ int twice(int x) { return mine * x; }
