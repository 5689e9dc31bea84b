// Sparse matrices, as in Parboil and SHOC: objects in managed memory that host and device read, rows of a CSR matrix
// for threads and for warps, ELLPACK by columns, loads with __ldg, and managed memory with advice and prefetching.
#include "mistakes.h"
#include <new>

struct managed {
    void *operator new(size_t n) {
        void *p = NULL;
        OK(cudaMallocManaged(&p, n));
        OK(cudaDeviceSynchronize());
        return p;
    }
    void *operator new[](size_t n) { return operator new(n); }
    void operator delete(void *p) { OK(cudaFree(p)); }
};

template <typename T> class array : public managed {
    T *data;
    int n;

  public:
    explicit array(int count) : data(NULL), n(count) {
        OK(cudaMallocManaged(&data, n * sizeof(T)));
        for (int i = 0; i < n; i++)
            new (data + i) T();
    }
    array(const array &) = delete;
    ~array() { OK(cudaFree(data)); }
    __host__ __device__ T &operator[](int i) { return data[i]; }
    __host__ __device__ const T *begin() const { return data; }
    __host__ __device__ int size() const { return n; }
};

template <typename T> struct csr : managed {
    int rows;
    array<int> first, column;
    array<T> value;
    csr(int r, int nonzeros) : rows(r), first(r + 1), column(nonzeros), value(nonzeros) {}
    __host__ __device__ T row(int y, const array<T> &x, int from, int by) const {
        T sum = 0;
        for (int i = first.begin()[y] + from; i < first.begin()[y + 1]; i += by)
            sum += value.begin()[i] * x.begin()[column.begin()[i]];
        return sum;
    }
};

template <typename T> __global__ void by_threads(const csr<T> &a, const array<T> *x, array<T> *y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < a.rows; i += blockDim.x * gridDim.x)
        (*y)[i] = a.row(i, *x, 0, 1);
}
template <typename T> __global__ void by_warps(const csr<T> &a, const array<T> *x, array<T> *y) {
    int lane = threadIdx.x % 32, i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (i >= a.rows)
        return;
    T sum = a.row(i, *x, lane, 32);
    for (int o = 16; o; o /= 2)
        sum += __shfl_down_sync(~0u, sum, o);
    if (lane == 0)
        (*y)[i] = sum;
}
__global__ void ellpack(const float *__restrict__ value, const int *__restrict__ column, int rows, int width,
                        const float *__restrict__ x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows)
        return;
    float sum = 0;
    for (int k = 0; k < width; k++) {
        int c = __ldg(&column[k * rows + i]);
        if (c >= 0)
            sum += __ldg(&value[k * rows + i]) * __ldg(&x[c]);
    }
    y[i] = sum;
}

enum { ROWS = 300, MOST = 40 };
template <typename T> static void multiply() {
    unsigned seed = 21;
    array<int> lengths(ROWS);
    int nonzeros = 0;
    for (int i = 0; i < ROWS; i++)
        nonzeros += lengths[i] = next_random(&seed) >> 8 & (MOST - 1);
    csr<T> *a = new csr<T>(ROWS, nonzeros);
    array<T> *x = new array<T>(ROWS), *y = new array<T>(ROWS);
    for (int i = 0, k = 0; i < ROWS; i++) {
        (*x)[i] = next_float(&seed);
        for (int e = 0; e < lengths[i]; e++, k++) {
            a->column[k] = (next_random(&seed) >> 8) % ROWS;
            a->value[k] = next_float(&seed);
        }
        a->first[i + 1] = k;
    }
#if CUDART_VERSION >= 13000
    cudaMemLocation device = {}, cpu = {};
    device.type = cudaMemLocationTypeDevice;
    cpu.type = cudaMemLocationTypeHost;
    OK(cudaMemAdvise(&(*x)[0], ROWS * sizeof(T), cudaMemAdviseSetReadMostly, device));
    OK(cudaMemPrefetchAsync(&(*x)[0], ROWS * sizeof(T), device, 0, 0));
    OK(cudaMemPrefetchAsync(&(*x)[0], ROWS * sizeof(T), cpu, 0, 0));
#else
    OK(cudaMemAdvise(&(*x)[0], ROWS * sizeof(T), cudaMemAdviseSetReadMostly, 0));
    OK(cudaMemPrefetchAsync(&(*x)[0], ROWS * sizeof(T), 0));
    OK(cudaMemPrefetchAsync(&(*x)[0], ROWS * sizeof(T), cudaCpuDeviceId));
#endif
    for (int variant = 0; variant < 2; variant++) {
        for (int i = 0; i < ROWS; i++)
            (*y)[i] = -1;
        if (variant)
            by_warps<T><<<(ROWS * 32 + 127) / 128, 128>>>(*a, x, y);
        else
            by_threads<T><<<2, 64>>>(*a, x, y);
        OK(cudaDeviceSynchronize());
        for (int i = 0; i < ROWS; i++)
            WANT(near((*y)[i], a->row(i, *x, 0, 1), 1e-4));
    }
    delete a;
    delete x;
    delete y;
}

int main() {
    multiply<float>();
    multiply<double>();
    unsigned seed = 4;
    const int rows = 200, width = 7;
    float *value, *x, *y;
    int *column;
    OK(cudaMallocManaged(&value, rows * width * 4));
    OK(cudaMallocManaged(&column, rows * width * 4));
    OK(cudaMallocManaged(&x, rows * 4));
    OK(cudaMallocManaged(&y, rows * 4));
    for (int i = 0; i < rows * width; i++) {
        value[i] = next_float(&seed);
        column[i] = (int)((next_random(&seed) >> 8) % (rows + 20)) - 20;
    }
    for (int i = 0; i < rows; i++)
        x[i] = next_float(&seed);
    ellpack<<<4, 64>>>(value, column, rows, width, x, y);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < rows; i++) {
        float sum = 0;
        for (int k = 0; k < width; k++)
            sum += column[k * rows + i] >= 0 ? value[k * rows + i] * x[column[k * rows + i]] : 0;
        WANT(near(y[i], sum, 1e-5));
    }
    OK(cudaFree(value));
    OK(cudaFree(column));
    OK(cudaFree(x));
    OK(cudaFree(y));
    return done();
}
