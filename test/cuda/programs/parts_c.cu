#include "parts.h"
__device__ float base::value(float x) const { return x; }
__device__ base::~base() {}
__device__ derived::derived(int i, float b) : by(b) { id = i; }
__device__ float derived::value(float x) const { return by * x + id; }
