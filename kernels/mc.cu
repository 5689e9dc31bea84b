// mc: prices of European calls by Monte Carlo. mc_normals makes normally distributed numbers, one for each path, from
// uniform ones (a counter, mixed); mc_paths, with a block for each option, adds up the option's yield on all paths,
// and its square, and reduces the block's sums at the end.
// From: CUDA samples, MonteCarlo (inverseCNDKernel, MonteCarloOneBlockPerOption, sumReduce), the last 32 sums of
//   which are reduced by a warp here with shuffles, as later releases and libraries do.
// Divergence: mc_normals: in a loop, an if and else of a rational function (84 %) and a logarithm's polynomial (16 %),
//   and one without else for the sign. mc_paths: one without else for a positive yield (compiled to selections) in a
//   uniform loop; in the reduction an if without else for half the threads at each level (whole warps), at the end one
//   for the first warp and one for its first lane. Nesting: 3 and 2.
// Instructions after reconvergence: 6 (store, loop) in mc_normals; 3 (barrier, test) a reduction level, 0 at the end.
// Barriers: 4 in mc_paths. Block: 128 x 1 and 256 x 1. Shared memory: 2 KiB; 16 bytes of constant memory an option.
// Contraction: left to nvcc.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
enum { THREADS = 256, WARP = 32, OPTIONS = 64 };

struct option {
    float price, strike, drift, spread; // the last two: mean and deviation of the logarithm of the share's growth
};
__constant__ struct option mc_options[OPTIONS];

// Moro's inverse of the normal distribution's integral, p in (0, 1)
static __device__ float normal_at(float p) {
    float y = p - 0.5f, z;
    if (fabsf(y) < 0.42f) {
        z = y * y;
        z = y * (((-25.44106049637f * z + 41.39119773534f) * z + -18.61500062529f) * z + 2.50662823884f) /
            ((((3.13082909833f * z + -21.06224101826f) * z + 23.08336743743f) * z + -8.47351093090f) * z + 1.0f);
    } else {
        z = __logf(-__logf(y > 0 ? 1.0f - p : p));
        const float c[] = {0.3374754822726147f, 0.9761690190917186f, 0.1607979714918209f,
                           0.0276438810333863f, 0.0038405729373609f, 0.0003951896511919f,
                           0.0000321767881768f, 0.0000002888167364f, 0.0000003960315187f};
        float x = z;
        z = c[8];
        for (int i = 7; i >= 0; i--)
            z = c[i] + x * z;
        if (y < 0)
            z = -z;
    }
    return z;
}

extern "C" __global__ void mc_normals(float *normal, int paths, unsigned seed) {
    int step = blockDim.x * gridDim.x;
#pragma unroll 1
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < paths; i += step) {
        unsigned h = i * 0x9e3779b9u + seed;
        h = (h ^ h >> 16) * 0x85ebca6bu;
        h = (h ^ h >> 13) * 0xc2b2ae35u;
        h ^= h >> 16;
        normal[i] = normal_at(((h >> 9) + 0.5f) * 0x1p-23f);
    }
}

extern "C" __global__ void mc_paths(float2 *sums, const float *normal, int paths) {
    __shared__ float once[THREADS], squared[THREADS];
    struct option o = mc_options[blockIdx.x];
    int t = threadIdx.x;
    float sum = 0, sum2 = 0;
#pragma unroll 1
    for (int i = t; i < paths; i += THREADS) {
        float gain = o.price * __expf(o.drift + o.spread * normal[i]) - o.strike;
        gain = gain > 0 ? gain : 0;
        sum += gain;
        sum2 += gain * gain;
    }
    once[t] = sum;
    squared[t] = sum2;
    __syncthreads();
#pragma unroll
    for (int half = THREADS / 2; half >= WARP; half /= 2) {
        if (t < half) {
            once[t] = sum = sum + once[t + half];
            squared[t] = sum2 = sum2 + squared[t + half];
        }
        if (half > WARP)
            __syncthreads();
    }
    if (t < WARP) {
        for (int distance = WARP / 2; distance; distance /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, distance);
            sum2 += __shfl_down_sync(0xffffffff, sum2, distance);
        }
        if (t == 0)
            sums[blockIdx.x] = make_float2(sum, sum2);
    }
}
