// quasi: points that cover a cube more evenly than random points, and normal numbers from uniform ones. Block shapes
// and problem sizes are those of public programs, so that cycles can be held against a card's.
// niederreiter: points of Niederreiter's sequence in base 2, one dimension for each row of threads. Each digit of the
//   point's index selects a column of a matrix in constant memory. CUDA samples, quasirandomGenerator. Divergence: none
//   (selections). Block: 128 x 3.
// moro: values of the normal distribution's inverse at equal distances, by Moro's approximation. CUDA samples,
//   quasirandomGenerator. Divergence: if with else, for the tails of the distribution. Block: 128 x 1.
// sobol: points of Sobol's sequence, one dimension for each row of CTAs. A thread computes its first point from the
//   Gray code of its index and each further point from the last. CUDA samples, SobolQRNG. Divergence: the loop's end.
//   Barriers: 1. Block: 64 x 1. Shared memory: 128 bytes.
// Contraction: left to nvcc, as in the public programs.

enum { DIMENSIONS = 3, DIGITS = 31, DIRECTIONS = 32 };

__constant__ unsigned quasi_columns[DIMENSIONS][DIGITS];

// Products have 24 bits, as there.
extern "C" __global__ void niederreiter(float *point, unsigned first, unsigned points) {
    const unsigned *column = quasi_columns[threadIdx.y];
    unsigned at = __umul24(blockDim.x, blockIdx.x) + threadIdx.x, threads = __umul24(blockDim.x, gridDim.x);
    for (; at < points; at += threads) {
        unsigned sum = 0, digits = first + at;
        for (int d = 0; d < DIGITS; d++, digits >>= 1)
            if (digits & 1)
                sum ^= column[d];
        point[__umul24(threadIdx.y, points) + at] = (float)(sum + 1) * (1 / (float)0x80000001u);
    }
}

// Returns the value below which a share of (x + 1/2) / 2^32 of all normal numbers lies.
static __device__ float inverse_normal(unsigned x) {
    unsigned lower = (int)x >> 31 ^ x; // the same share or its complement, less than a half
    const float unit = 1 / (float)0xffffffffu;
    float p = lower * unit + unit / 2, y = p - 0.5f, z;
    if (y > -0.42f) {
        z = y * y;
        z = y * (((-25.44106049637f * z + 41.39119773534f) * z - 18.61500062529f) * z + 2.50662823884f) /
            ((((3.13082909833f * z - 21.06224101826f) * z + 23.08336743743f) * z - 8.4735109309f) * z + 1);
    } else {
        const float c[9] = {0.3374754822726147f, 0.9761690190917186f, 0.1607979714918209f,
                            0.0276438810333863f, 0.0038405729373609f, 0.0003951896511919f,
                            0.0000321767881768f, 0.0000002888167364f, 0.0000003960315187f};
        float log = __logf(-__logf(p));
        z = c[8];
#pragma unroll
        for (int i = 7; i >= 0; i--)
            z = c[i] + log * z;
        z = -z;
    }
    return (int)x < 0 ? -z : z;
}

extern "C" __global__ void moro(float *value, const unsigned *share, unsigned values) {
    unsigned distance = 0xffffffffu / (values + 1);
    unsigned first = __umul24(blockDim.x, blockIdx.x) + threadIdx.x, threads = __umul24(blockDim.x, gridDim.x);
    if (share) {
        for (unsigned at = first; at < values; at += threads)
            value[at] = inverse_normal(share[at]);
    } else {
        for (unsigned at = first; at < values; at += threads)
            value[at] = inverse_normal((at + 1) * distance);
    }
}

// The number of threads in a row of CTAs is a power of two.
extern "C" __global__ void sobol(unsigned points, unsigned dimensions, const unsigned *direction, float *point) {
    __shared__ unsigned v[DIRECTIONS];
    direction += DIRECTIONS * blockIdx.y;
    point += points * blockIdx.y;
    if (threadIdx.x < DIRECTIONS)
        v[threadIdx.x] = direction[threadIdx.x];
    __syncthreads();
    int first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    unsigned gray = first ^ first >> 1, x = 0;
    for (unsigned d = 0; d < __ffs(threads) - 1; d++, gray >>= 1)
        x ^= -(gray & 1) & v[d];
    if (first < points)
        point[first] = (float)x * 0x1p-32f;
    // Between points `threads` apart, lower directions change an even number of times, except for the last one.
    unsigned last = v[__ffs(threads) - 2], lower = threads - 1;
    for (unsigned at = first + threads; at < points; at += threads) {
        x ^= last ^ v[__ffs(~(at - threads | lower)) - 1];
        point[at] = (float)x * 0x1p-32f;
    }
}
