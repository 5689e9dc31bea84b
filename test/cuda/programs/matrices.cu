// Linear algebra, as in PolyBench, Parboil's sgemm and the CUDA samples: naive and tiled products of matrices of every
// element type, products with vectors, a transpose without bank conflicts, LU in place, an FFT in shared memory.
#include "mistakes.h"
#include <complex>
#include <vector>

enum { N = 48, TILE = 16 };

template <typename T> __global__ void naive(T alpha, const T *a, const T *b, T beta, T *c, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n)
        return;
    T sum = beta * c[i * n + j];
    for (int k = 0; k < n; k++)
        sum += alpha * a[i * n + k] * b[k * n + j];
    c[i * n + j] = sum;
}
template <typename T, int SIZE> __global__ void tiled(const T *a, const T *b, T *c, int n) {
    __shared__ T as[SIZE][SIZE], bs[SIZE][SIZE + 1];
    int x = threadIdx.x, y = threadIdx.y;
    T sum = 0;
    for (int k = 0; k < n; k += SIZE) {
        as[y][x] = a[(blockIdx.y * SIZE + y) * n + k + x];
        bs[y][x] = b[(k + y) * n + blockIdx.x * SIZE + x];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < SIZE; i++)
            sum += as[y][i] * bs[i][x];
        __syncthreads();
    }
    c[(blockIdx.y * SIZE + y) * n + blockIdx.x * SIZE + x] = sum;
}
template <typename T> __global__ void transpose(const T *in, T *out, int n) {
    __shared__ T tile[TILE][TILE + 1];
    tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * TILE + threadIdx.y) * n + blockIdx.x * TILE + threadIdx.x];
    __syncthreads();
    out[(blockIdx.x * TILE + threadIdx.y) * n + blockIdx.y * TILE + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void atax(const double *a, const double *x, double *tmp, double *y, int n, int pass) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double sum = 0;
    for (int j = 0; j < n; j++)
        sum += pass == 0 ? a[i * n + j] * x[j] : a[j * n + i] * tmp[j];
    (pass == 0 ? tmp : y)[i] = sum;
}
__global__ void eliminate(double *a, int n, int k) {
    int i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y, j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && j < n)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
}
__global__ void divide(double *a, int n, int k) {
    int i = k + 1 + threadIdx.x;
    if (i < n)
        a[i * n + k] /= a[k * n + k];
}
template <int SIZE> __global__ void fourier(float2 *data) {
    __shared__ float2 s[SIZE];
    int t = threadIdx.x, bits = __ffs(SIZE) - 1;
    for (int i = t; i < SIZE; i += SIZE / 2)
        s[__brev(i) >> (32 - bits)] = data[blockIdx.x * SIZE + i];
    for (int half = 1; half < SIZE; half *= 2) {
        __syncthreads();
        int k = t % half, i = (t / half) * 2 * half + k;
        float sn, cs;
        sincospif(-(float)k / half, &sn, &cs);
        float2 a = s[i], b = s[i + half], c = make_float2(b.x * cs - b.y * sn, b.x * sn + b.y * cs);
        s[i] = make_float2(a.x + c.x, a.y + c.y);
        s[i + half] = make_float2(a.x - c.x, a.y - c.y);
    }
    __syncthreads();
    for (int i = t; i < SIZE; i += SIZE / 2)
        data[blockIdx.x * SIZE + i] = s[i];
}

template <typename T> static T *upload(const std::vector<T> &v) {
    T *d = NULL;
    OK(cudaMalloc(&d, v.size() * sizeof(T)));
    OK(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return d;
}
template <typename T> static std::vector<T> download(T *d, size_t n) {
    std::vector<T> v(n);
    OK(cudaMemcpy(v.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost));
    OK(cudaFree(d));
    return v;
}

template <typename T> static void products(double tolerance) {
    std::vector<T> a(N * N), b(N * N), c(N * N);
    unsigned seed = 17;
    for (int i = 0; i < N * N; i++) {
        a[i] = (T)(16 * next_float(&seed));
        b[i] = (T)(16 * next_float(&seed));
        c[i] = (T)(16 * next_float(&seed));
    }
    T *da = upload(a), *db = upload(b), *dc = upload(c), *dt = upload(c), *dd = upload(c);
    naive<T><<<dim3(2, 6), dim3(32, 8)>>>(3, da, db, 2, dc, N);
    tiled<T, TILE><<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(da, db, dt, N);
    transpose<T><<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(da, dd, N);
    std::vector<T> rc = download(dc, N * N), rt = download(dt, N * N), rd = download(dd, N * N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += (double)a[i * N + k] * b[k * N + j];
            WANT(near(rc[i * N + j], 3 * sum + 2.0 * c[i * N + j], tolerance) && near(rt[i * N + j], sum, tolerance));
            WANT(rd[i * N + j] == a[j * N + i]);
        }
    OK(cudaFree(da));
    OK(cudaFree(db));
}

int main() {
    products<int>(0);
    products<float>(1e-5);
    products<double>(1e-13);
    products<long long>(0);
    unsigned seed = 23;
    std::vector<double> a(N * N), x(N), zero(N);
    for (double &v : a)
        v = next_float(&seed);
    for (int i = 0; i < N; i++) {
        a[i * N + i] += N;
        x[i] = next_float(&seed);
    }
    double *da = upload(a), *dx = upload(x), *dt = upload(zero), *dy = upload(zero);
    atax<<<2, 32>>>(da, dx, dt, dy, N, 0);
    atax<<<2, 32>>>(da, dx, dt, dy, N, 1);
    std::vector<double> y = download(dy, N), t(N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            t[i] += a[i * N + j] * x[j];
    for (int j = 0; j < N; j++) {
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += a[i * N + j] * t[i];
        WANT(near(y[j], sum, 1e-12));
    }
    for (int k = 0; k < N - 1; k++) {
        divide<<<1, N>>>(da, N, k);
        eliminate<<<dim3(3, 3), dim3(16, 16)>>>(da, N, k);
    }
    std::vector<double> lu = download(da, N * N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k <= (i < j ? i : j); k++)
                sum += (k == i ? 1 : lu[i * N + k]) * lu[k * N + j];
            WANT(near(sum, a[i * N + j], 1e-12));
        }
    const int size = 128, batch = 3;
    std::vector<float2> signal(size * batch);
    for (float2 &v : signal)
        v = make_float2(next_float(&seed), next_float(&seed));
    float2 *df = upload(signal);
    fourier<size><<<batch, size / 2>>>(df);
    std::vector<float2> f = download(df, signal.size());
    for (int i = 0; i < batch; i++)
        for (int k = 0; k < size; k++) {
            std::complex<double> sum = 0;
            for (int n = 0; n < size; n++)
                sum += std::complex<double>(signal[i * size + n].x, signal[i * size + n].y) *
                       std::polar(1.0, -2 * 3.14159265358979324 * k * n / size);
            WANT(near(f[i * size + k].x, sum.real(), 1e-4) && near(f[i * size + k].y, sum.imag(), 1e-4));
        }
    return done();
}
