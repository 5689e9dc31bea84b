// Ten programs as plain loops, for one CTA of 32 threads: the form in which the PEPSC paper simulated its caches. A lane
// executes every 32nd iteration of an inner loop, and arrays are read and written in memory: there are no tiles in
// shared memory, no CTA barriers and no other warps that hide a miss.
// From: the algorithms of the programs nw, srad, binopt, black, fft, fwt, lps, lu, mc and sde.
// Divergence: the last iteration of an inner loop, which only some lanes execute; in lps_loop an if and else for cells on
//   the faces of the box; one lane adds up the lanes' sums in mc_loop. Nesting: 2 to 3.
// Instructions after reconvergence: 2 to 4 (an outer loop).
// Barriers: none. Block: 32 x 1. Shared memory: none. Between dependent inner loops the warp synchronises.
// Loops are not unrolled, as the compilers of the original's time left them.
enum { LANES = 32 };

// Scores of Needleman and Wunsch, stored by antidiagonals: cell (i, d - i) is at d * (n + 1) + i. So neighbouring lanes
// read neighbouring words. `match`: similarities in the same order; the first row and column hold multiples of -gap.
extern "C" __global__ void nw_loop(int *score, const int *match, int n, int gap) {
    int width = n + 1;
#pragma unroll 1
    for (int d = 2; d <= 2 * n; d++) {
        int last = d <= n ? d - 1 : n;
#pragma unroll 1
        for (int i = (d <= n ? 1 : d - n) + threadIdx.x; i <= last; i += LANES) {
            int both = score[(d - 2) * width + i - 1] + match[d * width + i];
            int one = max(score[(d - 1) * width + i - 1], score[(d - 1) * width + i]) - gap;
            score[d * width + i] = max(both, one);
        }
        __syncwarp();
    }
}

// Speckle-reducing anisotropic diffusion, `rounds` rounds. `slopes`: differences to the four neighbours of each pixel.
extern "C" __global__ void srad_loop(float *image, float *slopes, float *coefficient, int rows, int cols, float lambda,
                                     int rounds) {
    int size = rows * cols;
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        float sum = 0, sum2 = 0;
#pragma unroll 1
        for (int i = threadIdx.x; i < size; i += LANES) {
            sum += image[i];
            sum2 += image[i] * image[i];
        }
        for (int distance = LANES / 2; distance; distance /= 2) {
            sum += __shfl_xor_sync(0xffffffff, sum, distance);
            sum2 += __shfl_xor_sync(0xffffffff, sum2, distance);
        }
        float mean = sum / size, spread = (sum2 / size - mean * mean) / (mean * mean);
#pragma unroll 1
        for (int row = 0; row < rows; row++) {
            const float *here = image + row * cols, *up = row ? here - cols : here;
            const float *down = row < rows - 1 ? here + cols : here;
#pragma unroll 1
            for (int col = threadIdx.x; col < cols; col += LANES) {
                float centre = here[col], north = up[col] - centre, south = down[col] - centre;
                float west = here[max(col - 1, 0)] - centre, east = here[min(col + 1, cols - 1)] - centre;
                float squares = (north * north + south * south + west * west + east * east) / (centre * centre);
                float laplace = (north + south + west + east) / centre, divisor = 1.0f + 0.25f * laplace;
                float q = (0.5f * squares - 0.0625f * laplace * laplace) / (divisor * divisor);
                float c = 1.0f / (1.0f + (q - spread) / (spread * (1.0f + spread)));
                float *slope = slopes + row * cols + col;
                slope[0] = north;
                slope[size] = south;
                slope[2 * size] = west;
                slope[3 * size] = east;
                coefficient[row * cols + col] = fminf(fmaxf(c, 0.0f), 1.0f);
            }
        }
        __syncwarp();
#pragma unroll 1
        for (int row = 0; row < rows; row++) {
            const float *here = coefficient + row * cols, *down = row < rows - 1 ? here + cols : here;
#pragma unroll 1
            for (int col = threadIdx.x; col < cols; col += LANES) {
                const float *slope = slopes + row * cols + col;
                float flow = here[col] * slope[0] + down[col] * slope[size] + here[col] * slope[2 * size] +
                             here[min(col + 1, cols - 1)] * slope[3 * size];
                image[row * cols + col] += 0.25f * lambda * flow;
            }
        }
        __syncwarp();
    }
}

// Binomial trees of European options: `leaves` holds the values at the end of each option's tree, `steps` + 1 words an option;
// `spare` has room for one tree. `up`: discounted probability of a rise for each option, `down`: of a fall.
extern "C" __global__ void binopt_loop(float *result, float *leaves, float *spare, const float *up, const float *down,
                                       int steps, int options) {
#pragma unroll 1
    for (int option = 0; option < options; option++) {
        float *from = leaves + option * (steps + 1), *to = spare, rise = up[option], fall = down[option];
#pragma unroll 1
        for (int step = steps; step > 0; step--) {
#pragma unroll 1
            for (int i = threadIdx.x; i < step; i += LANES)
                to[i] = rise * from[i + 1] + fall * from[i];
            __syncwarp();
            float *swap = from;
            from = to;
            to = swap;
        }
        if (threadIdx.x == 0)
            result[option] = from[0];
        __syncwarp();
    }
}

// The normal distribution's integral from minus infinity to d (Abramowitz and Stegun, 26.2.17; error at most 7.5e-8)
static __device__ float normal_below(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float below = 0.39894228f * __expf(-0.5f * d * d) * tail;
    return d > 0 ? 1.0f - below : below;
}

// Prices of calls and puts by the formula of Black and Scholes.
extern "C" __global__ void black_loop(float *call, float *put, const float *price, const float *strike,
                                      const float *years, float rate, float volatility, int options) {
#pragma unroll 1
    for (int i = threadIdx.x; i < options; i += LANES) {
        float s = price[i], x = strike[i], t = years[i], root = sqrtf(t);
        float d1 = (__logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
        float d2 = d1 - volatility * root;
        float exercised = normal_below(d1), paid = normal_below(d2), discounted = x * __expf(-rate * t);
        call[i] = s * exercised - discounted * paid;
        put[i] = discounted * (1.0f - paid) - s * (1.0f - exercised);
    }
}

// A Fourier transform of n complex numbers (a power of two) by radix 2 with sorted results (Stockham). `twiddle`: n / 2
// powers of exp(-2 pi i / n). The result is in `from` if the number of stages is even, else in `to`.
extern "C" __global__ void fft_loop(float2 *from, float2 *to, const float2 *twiddle, int n) {
    int half = n / 2;
#pragma unroll 1
    for (int p = 1; p < n; p *= 2) {
        int step = half / p;
#pragma unroll 1
        for (int i = threadIdx.x; i < half; i += LANES) {
            int k = i & (p - 1), j = 2 * (i - k) + k;
            float2 a = from[i], b = from[i + half], w = twiddle[k * step];
            float2 c = make_float2(b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x);
            to[j] = make_float2(a.x + c.x, a.y + c.y);
            to[j + p] = make_float2(a.x - c.x, a.y - c.y);
        }
        __syncwarp();
        float2 *swap = from;
        from = to;
        to = swap;
    }
}

// A Walsh transform of n numbers (a power of two) in place.
extern "C" __global__ void fwt_loop(float *data, int n) {
#pragma unroll 1
    for (int distance = 1; distance < n; distance *= 2) {
#pragma unroll 1
        for (int i = threadIdx.x; i < n / 2; i += LANES) {
            int low = i & (distance - 1), at = 2 * (i - low) + low;
            float a = data[at], b = data[at + distance];
            data[at] = a + b;
            data[at + distance] = a - b;
        }
        __syncwarp();
    }
}

// `rounds` steps of Jacobi's iteration for Laplace's equation; cells on the faces of the box stay. The result is in
// `from` if the number of rounds is even, else in `to`.
extern "C" __global__ void lps_loop(float *from, float *to, int nx, int ny, int nz, int rounds) {
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
#pragma unroll 1
        for (int z = 0; z < nz; z++) {
#pragma unroll 1
            for (int y = 0; y < ny; y++) {
                int row = (z * ny + y) * nx;
#pragma unroll 1
                for (int x = threadIdx.x; x < nx; x += LANES) {
                    int i = row + x;
                    float next;
                    if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1 || z == 0 || z == nz - 1)
                        next = from[i];
                    else
                        next = (from[i - 1] + from[i + 1] + from[i - nx] + from[i + nx] + from[i - nx * ny] +
                                from[i + nx * ny]) *
                               (1.0f / 6.0f);
                    to[i] = next;
                }
            }
        }
        __syncwarp();
        float *swap = from;
        from = to;
        to = swap;
    }
}

// LU decomposition of an n x n matrix in place, without pivoting.
extern "C" __global__ void lu_loop(float *a, int n) {
#pragma unroll 1
    for (int k = 0; k < n - 1; k++) {
        float pivot = 1.0f / a[k * n + k];
#pragma unroll 1
        for (int i = k + 1 + threadIdx.x; i < n; i += LANES)
            a[i * n + k] *= pivot;
        __syncwarp();
#pragma unroll 1
        for (int i = k + 1; i < n; i++) {
            float factor = a[i * n + k];
#pragma unroll 1
            for (int j = k + 1 + threadIdx.x; j < n; j += LANES)
                a[i * n + j] -= factor * a[k * n + j];
        }
        __syncwarp();
    }
}

struct option {
    float price, strike, drift, spread; // the last two: mean and deviation of the logarithm of the share's growth
};

// Prices of calls by Monte Carlo: the sum of an option's yields on all paths, and of their squares. `lanes`: the sums of
// each lane; at the end of an option lane 0 adds them up one after another.
extern "C" __global__ void mc_loop(float2 *sums, float2 *lanes, const struct option *options, const float *normal,
                                   int paths, int n) {
#pragma unroll 1
    for (int option = 0; option < n; option++) {
        struct option o = options[option];
        float sum = 0, sum2 = 0;
#pragma unroll 1
        for (int i = threadIdx.x; i < paths; i += LANES) {
            float gain = o.price * __expf(o.drift + o.spread * normal[i]) - o.strike;
            gain = gain > 0 ? gain : 0;
            sum += gain;
            sum2 += gain * gain;
        }
        lanes[threadIdx.x] = make_float2(sum, sum2);
        __syncwarp();
        if (threadIdx.x == 0) {
            float2 all = make_float2(0, 0);
#pragma unroll 1
            for (int lane = 0; lane < LANES; lane++) {
                all.x += lanes[lane].x;
                all.y += lanes[lane].y;
            }
            sums[option] = all;
        }
        __syncwarp();
    }
}

// Paths of dx = (x - x^3 + a cos(w t)) dt + s dW by the Euler-Maruyama method. `noise`: the random term of each step and
// path, `force`: a cos(w t) of each step. The places after all steps replace those in `place`.
extern "C" __global__ void sde_loop(float *place, const float *noise, const float *force, float dt, int paths,
                                    int steps) {
#pragma unroll 1
    for (int path = threadIdx.x; path < paths; path += LANES) {
        float x = place[path];
#pragma unroll 1
        for (int step = 0; step < steps; step++)
            x += (x - x * x * x + force[step]) * dt + noise[step * paths + path];
        place[path] = x;
    }
}
