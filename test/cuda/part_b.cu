__device__ int table[4] = {10, 20, 30, 40};
__device__ int twice(int x) { return 2 * x; }
