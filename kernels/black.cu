// black: prices of European options, a call and a put each, by the formula of Black and Scholes. Threads stride
// over the options.
// From: CUDA samples, BlackScholes (BlackScholesGPU of the releases with one option an iteration).
// Divergence: the loop over options, whose last iteration only some threads execute; in it, two ifs without else for
//   the sign of an argument (compiled to selections). Nesting: 2.
// Instructions after reconvergence: none.
// Barriers: none. Block: 128 x 1. Shared memory: none.
// Contraction: left to nvcc; the polynomial is a chain of five products and sums.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.

// The normal distribution's integral from minus infinity to d (Abramowitz and Stegun, 26.2.17; error at most 7.5e-8)
static __device__ float normal_below(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float below = 0.39894228f * __expf(-0.5f * d * d) * tail;
    if (d > 0)
        below = 1.0f - below;
    return below;
}

// `rate`: risk-free interest rate, `volatility`: of the share, both for a year
extern "C" __global__ void black(float *call, float *put, const float *price, const float *strike, const float *years,
                                 float rate, float volatility, int options) {
    int step = blockDim.x * gridDim.x;
#pragma unroll 1
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < options; i += step) {
        float s = price[i], x = strike[i], t = years[i], root = sqrtf(t);
        float d1 = (__logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
        float d2 = d1 - volatility * root;
        float exercised = normal_below(d1), paid = normal_below(d2), discounted = x * __expf(-rate * t);
        call[i] = s * exercised - discounted * paid;
        put[i] = discounted * (1.0f - paid) - s * (1.0f - exercised);
    }
}
