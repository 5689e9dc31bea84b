// Warp matrix functions, as in the samples cudaTensorCoreGemm, bf16TensorCoreGemm, tf32TensorCoreGemm,
// dmmaTensorCoreGemm and immaTensorCoreGemm: d = alpha a b + beta c from global memory and through shared memory, for
// every type of these samples. Fragments are filled, loaded, scaled element by element and stored.
#include "mistakes.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>
using namespace nvcuda;

enum { SIZE = 64 }; // rows and columns of all matrices: a multiple of the rows and columns of each fragment

// Each warp computes a fragment of d. Matrix a is stored by rows, b by columns.
template <int M, int N, int K, typename Element, typename Fragment, typename Sum>
__global__ void product(const Element *a, const Element *b, const Sum *c, Sum *d, Sum alpha, Sum beta) {
    const int row = blockIdx.y * M, column = (blockIdx.x * blockDim.y + threadIdx.y) * N;
    wmma::fragment<wmma::matrix_a, M, N, K, Fragment, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, Fragment, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> sum, fc;
    if (column >= SIZE)
        return;
    wmma::fill_fragment(sum, Sum(0));
    for (int k = 0; k < SIZE; k += K) {
        wmma::load_matrix_sync(fa, a + row * SIZE + k, SIZE);
        wmma::load_matrix_sync(fb, b + column * SIZE + k, SIZE);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::load_matrix_sync(fc, c + row * SIZE + column, SIZE, wmma::mem_row_major);
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] = alpha * sum.x[i] + beta * fc.x[i];
    wmma::store_matrix_sync(d + row * SIZE + column, fc, SIZE, wmma::mem_row_major);
}

// Does the same through shared memory, with rows longer by eight to avoid bank conflicts. b is by rows, d by columns.
__global__ void staged(const half *a, const half *b, half *d) {
    __shared__ __align__(32) half as[16][SIZE + 8], bs[SIZE][16 + 8];
    const int row = blockIdx.y * 16, column = blockIdx.x * 16;
    for (int i = threadIdx.x; i < 16 * SIZE; i += 32) {
        as[i / SIZE][i % SIZE] = a[(row + i / SIZE) * SIZE + i % SIZE];
        bs[i / 16][i % 16] = b[(i / 16) * SIZE + column + i % 16];
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> sum;
    wmma::fill_fragment(sum, __float2half(0));
    for (int k = 0; k < SIZE; k += 16) {
        wmma::load_matrix_sync(fa, &as[0][k], SIZE + 8);
        wmma::load_matrix_sync(fb, &bs[k][0], 16 + 8);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(d + column * SIZE + row, sum, SIZE, wmma::mem_col_major);
}

static float number(half x) { return __half2float(x); }
static float number(__nv_bfloat16 x) { return __bfloat162float(x); }
template <typename T> static double number(T x) { return x; }

template <typename T> static std::vector<T> random_numbers(unsigned *state) {
    std::vector<T> v(SIZE * SIZE);
    for (T &x : v)
        x = T((int)(next_random(state) >> 16) % 5 - (T(-1) < T(0) ? 2 : 0));
    return v;
}
template <typename T> static T *on_device(const std::vector<T> &v) {
    T *p;
    OK(cudaMalloc(&p, v.size() * sizeof(T)));
    OK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

// Sums of small whole numbers are exact in all types.
template <int M, int N, int K, typename Element, typename Fragment, typename Sum> static void check(void) {
    unsigned state = M * 7 + K;
    std::vector<Element> a = random_numbers<Element>(&state), b = random_numbers<Element>(&state);
    std::vector<Sum> c = random_numbers<Sum>(&state), d(SIZE * SIZE);
    Element *pa = on_device(a), *pb = on_device(b);
    Sum *pc = on_device(c), *pd = on_device(d);
    product<M, N, K, Element, Fragment, Sum>
        <<<dim3((SIZE / N + 3) / 4, SIZE / M), dim3(32, 4)>>>(pa, pb, pc, pd, Sum(2), Sum(3));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(d.data(), pd, d.size() * sizeof(Sum), cudaMemcpyDeviceToHost));
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = 0;
            for (int k = 0; k < SIZE; k++)
                sum += number(a[i * SIZE + k]) * number(b[j * SIZE + k]);
            WANT(number(d[i * SIZE + j]) == 2 * sum + 3 * number(c[i * SIZE + j]));
        }
    for (void *p : {(void *)pa, (void *)pb, (void *)pc, (void *)pd})
        OK(cudaFree(p));
}

static void check_staged(void) {
    unsigned state = 3;
    std::vector<half> a = random_numbers<half>(&state), b = random_numbers<half>(&state), d(SIZE * SIZE);
    half *pa = on_device(a), *pb = on_device(b), *pd = on_device(d);
    staged<<<dim3(SIZE / 16, SIZE / 16), 32>>>(pa, pb, pd);
    OK(cudaMemcpy(d.data(), pd, d.size() * sizeof(half), cudaMemcpyDeviceToHost));
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            float sum = 0;
            for (int k = 0; k < SIZE; k++)
                sum += number(a[i * SIZE + k]) * number(b[k * SIZE + j]);
            WANT(number(d[j * SIZE + i]) == sum);
        }
}

int main(void) {
    check<16, 16, 16, half, half, float>();
    check<32, 8, 16, half, half, float>();
    check<8, 32, 16, half, half, float>();
    check<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float>();
    check<16, 16, 8, float, wmma::precision::tf32, float>();
    check<8, 8, 4, double, double, double>();
    check<16, 16, 16, signed char, signed char, int>();
    check<32, 8, 16, unsigned char, unsigned char, int>();
    check_staged();
    return done();
}
