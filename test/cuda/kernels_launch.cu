// A program with kernels that launch kernels, linked with CUDA's device library: a quicksort.
#include "programs/mistakes.h"
enum { N = 300, SMALL = 16 };

__global__ void insertion(int *x, int n) {
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && x[k] < x[k - 1]; k--) {
            int t = x[k];
            x[k] = x[k - 1];
            x[k - 1] = t;
        }
}

__global__ void sort(int *x, int n) {
    int pivot = x[n / 2], left = 0, right = n - 1;
    while (left <= right) {
        while (x[left] < pivot)
            left++;
        while (x[right] > pivot)
            right--;
        if (left <= right) {
            int t = x[left];
            x[left++] = x[right];
            x[right--] = t;
        }
    }
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    if (right > SMALL)
        sort<<<1, 1, 0, s>>>(x, right + 1);
    else
        insertion<<<1, 1>>>(x, right + 1);
    if (n - left > SMALL)
        sort<<<1, 1>>>(x + left, n - left);
    else
        insertion<<<1, 1, 0, s>>>(x + left, n - left);
    cudaStreamDestroy(s);
}

// CUDA's device library fills memory with a kernel of its own. The library of CUDA 13.0 writes zeros, whatever the
// value.
__global__ void fill(int *x) { cudaMemsetAsync(x, 0, N * sizeof *x); }

int main() {
    int *x, seen[256] = {};
    unsigned seed = 1;
    OK(cudaMallocManaged(&x, N * sizeof *x));
    for (int i = 0; i < N; i++)
        seen[x[i] = next_random(&seed) >> 24]++;
    sort<<<1, 1>>>(x, N);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) {
        seen[x[i]]--;
        WANT(i == 0 || x[i - 1] <= x[i]);
    }
    for (int i = 0; i < 256; i++)
        WANT(seen[i] == 0);
    fill<<<1, 1>>>(x);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++)
        WANT(x[i] == 0);
    OK(cudaFree(x));
    return done();
}
