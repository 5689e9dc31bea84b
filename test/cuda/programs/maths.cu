// Compares functions of float, double and half with those of the host, as Black-Scholes, n-body and transforms use
// them. The tolerance is a few units in the last place, and 2^-20 for the fast functions.
#include "mistakes.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

enum { N = 192, FUNCTIONS = 24 };

template <typename T> __host__ __device__ void evaluate(T x, T *out) {
    T a = x < 0 ? -x : x, s, c;
    int e;
    sincos(x, &s, &c);
    out[0] = s;
    out[1] = c;
    out[2] = tan(x);
    out[3] = exp(x);
    out[4] = log(a + T(0.1));
    out[5] = pow(a + T(0.1), T(1.7));
    out[6] = erf(x);
    out[7] = erfc(x);
    out[8] = tgamma(a + T(0.5));
    out[9] = lgamma(a + T(0.5));
    out[10] = atan2(x, T(0.7));
    out[11] = asin(x / 8);
    out[12] = sinh(x);
    out[13] = tanh(x);
    out[14] = cbrt(x);
    out[15] = hypot(x, T(3));
    out[16] = fmod(x, T(0.7));
    out[17] = remainder(x, T(0.7));
    out[18] = frexp(x, &e) + e;
    out[19] = ldexp(x, 5) + floor(x) + ceil(x) + trunc(x) + rint(x) + round(x);
    out[20] = log1p(a) + expm1(x / 4) + log2(a + 1) + exp2(x) + log10(a + 1);
    out[21] = fma(x, x, T(1) / 3) + sqrt(a) + T(1) / sqrt(a + 1);
    out[22] = copysign(a, -x) + fmax(x, T(0.5)) + fmin(x, T(-0.5)) + fdim(x, T(1));
    out[23] = acosh(a + 1) + asinh(x) + atanh(x / 8) + j0(x) + y1(a + 1);
}
template <typename T> __global__ void on_device(const T *x, T *out) {
    evaluate<T>(x[threadIdx.x], out + threadIdx.x * FUNCTIONS);
}

template <typename T> static void functions(double tolerance) {
    std::vector<T> x(N), out(N * FUNCTIONS);
    T *dx, *dout, right[FUNCTIONS];
    unsigned seed = 31;
    for (T &v : x)
        v = 10 * next_float(&seed) - 5;
    OK(cudaMalloc(&dx, N * sizeof(T)));
    OK(cudaMalloc(&dout, out.size() * sizeof(T)));
    OK(cudaMemcpy(dx, x.data(), N * sizeof(T), cudaMemcpyHostToDevice));
    on_device<T><<<1, N>>>(dx, dout);
    OK(cudaMemcpy(out.data(), dout, out.size() * sizeof(T), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        evaluate<T>(x[i], right);
        for (int f = 0; f < FUNCTIONS; f++)
            if (!near(out[i * FUNCTIONS + f], right[f], tolerance)) {
                printf("function %d of %.17g: %.17g, not %.17g\n", f, (double)x[i], (double)out[i * FUNCTIONS + f],
                       (double)right[f]);
                mistakes++;
            }
    }
    OK(cudaFree(dx));
    OK(cudaFree(dout));
}

// Black-Scholes with the fast functions, as in the CUDA sample.
__device__ __host__ static float cnd(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float c = 0.39894228f * expf(-0.5f * d * d) *
              (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - c : c;
}
__global__ void black_scholes(const float *s, const float *x, const float *t, float *call, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float root = __fsqrt_rn(t[i]),
          d1 = __fdividef(__logf(__fdividef(s[i], x[i])) + (0.02f + 0.5f * 0.3f * 0.3f) * t[i], 0.3f * root);
    call[i] = s[i] * cnd(d1) - x[i] * __expf(-0.02f * t[i]) * cnd(d1 - 0.3f * root);
}

struct rounded {
    float up, down, zero, near_even, saturated, reciprocal, root;
    double sum_up, sum_down;
    int to_int_up, to_int_down, from_double;
    unsigned bits;
    float half_sum, bfloat, half_max;
    long long big;
};
__global__ void rounding(float a, float b, double c, rounded *r) {
    r->up = __fadd_ru(a, b);
    r->down = __fadd_rd(a, b);
    r->zero = __fmul_rz(a, b);
    r->near_even = __fmaf_rn(a, b, a);
    r->saturated = __saturatef(a * 100);
    r->reciprocal = __frcp_ru(a);
    r->root = __frsqrt_rn(b);
    r->sum_up = __dadd_ru(c, 1e-30);
    r->sum_down = __dadd_rd(c, -1e-30);
    r->to_int_up = __float2int_ru(a * 10);
    r->to_int_down = __float2int_rd(a * 10);
    r->from_double = __double2int_rz(-c * 1e6);
    r->bits = __float_as_uint(a);
    __half2 h = __floats2half2_rn(a, b), sum = __hadd2(h, __hmul2(h, h));
    r->half_sum = __half2float(__low2half(sum)) + __half2float(__high2half(sum));
    r->half_max = __half2float(__hmax(__float2half(a), __float2half(-b)));
    r->bfloat = __bfloat162float(__float2bfloat16(a));
    r->big = __double2ll_rn(c * 1e15);
}

int main() {
    functions<double>(1e-14);
    functions<float>(2e-5);
    const int n = 500;
    std::vector<float> in(3 * n), call(n);
    unsigned seed = 12;
    for (int i = 0; i < n; i++) {
        in[i] = 5 + 25 * next_float(&seed);
        in[n + i] = 1 + 99 * next_float(&seed);
        in[2 * n + i] = 0.25f + 9.75f * next_float(&seed);
    }
    float *d;
    OK(cudaMalloc(&d, 4 * n * 4));
    OK(cudaMemcpy(d, in.data(), 3 * n * 4, cudaMemcpyHostToDevice));
    black_scholes<<<4, 128>>>(d, d + n, d + 2 * n, d + 3 * n, n);
    OK(cudaMemcpy(call.data(), d + 3 * n, n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        float s = in[i], x = in[n + i], t = in[2 * n + i], root = std::sqrt(t);
        float d1 = (std::log(s / x) + (0.02f + 0.045f) * t) / (0.3f * root);
        WANT(near(call[i], s * cnd(d1) - x * std::exp(-0.02f * t) * cnd(d1 - 0.3f * root), 2e-5));
    }
    rounded *r, here;
    float a = 0.1f, b = 3.3e-6f;
    double c = 0.7;
    OK(cudaMalloc(&r, sizeof here));
    rounding<<<1, 1>>>(a, b, c, r);
    OK(cudaMemcpy(&here, r, sizeof here, cudaMemcpyDeviceToHost));
    double exact = (double)a + b;
    WANT(here.up >= exact && here.down <= exact && here.up == std::nextafter(here.down, 1.0f));
    WANT(here.zero <= (double)a * b && here.near_even == std::fma(a, b, a) && here.saturated == 1);
    WANT(here.reciprocal >= 1 / (double)a && here.reciprocal <= std::nextafter(10.0f, 11.0f));
    WANT(here.root == (float)(1 / std::sqrt((double)b)));
    WANT(here.sum_up == std::nextafter(c, 1.0) && here.sum_down == std::nextafter(c, 0.0));
    WANT(here.to_int_up == 2 - (a * 10 == 1.0f) && here.to_int_down == 1 &&
         here.from_double == -700000 + (c * 1e6 < 700000));
    WANT(here.bits == 0x3dcccccdu && here.big == 700000000000000ll);
    WANT(near(here.half_sum, 0.1 + 0.01, 1e-3) && near(here.half_max, 0.1, 1e-3) && near(here.bfloat, 0.1, 4e-3));
    return done();
}
