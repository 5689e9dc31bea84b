// Four programs of the PEPSC paper in source form, for one CTA of 32 threads: branches stay where the source has them,
// with arithmetic on both sides, and one lane adds up the lanes' sums. Assembly keeps each f32 operation on its side,
// since nvcc moves equal operations of both sides behind the join; the paper's compiler, Trimaran, does not.
// From: Rodinia's srad (nine cases for a pixel's place) and lud (half of the lanes compute a row, half a column), the
//   programs lps, here with insulated faces, and mc.
// Divergence: the last iteration of an inner loop; in srad_sides a chain of nine cases, of which three occur in a row;
//   in lps_sides an if and else for the two faces across the lanes; in lu_sides one for row and column; in mc_sides one
//   of a rational function (84 %) and a logarithm's polynomial (16 %), and one lane's serial sum. Nesting: 2 to 9.
// Instructions after reconvergence: 2 to 30.
// Barriers: none. Block: 32 x 1. Shared memory: 256 bytes in mc_sides.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
enum { LANES = 32 };

#define OPERATION(name, text)                                                                                          \
    static __device__ __forceinline__ float name(float a, float b) {                                                   \
        float d;                                                                                                       \
        asm volatile(text ".rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));                                           \
        return d;                                                                                                      \
    }
OPERATION(plus, "add")
OPERATION(less, "sub")
OPERATION(times, "mul")

// As srad_loop in loops.cu. Beyond the picture is the pixel itself.
#define DIFFERENCES(n, s, w, e)                                                                                        \
    do {                                                                                                               \
        north = less(n, centre);                                                                                       \
        south = less(s, centre);                                                                                       \
        west = less(w, centre);                                                                                        \
        east = less(e, centre);                                                                                        \
    } while (0)
extern "C" __global__ void srad_sides(float *image, float *slopes, float *coefficient, int rows, int cols, float lambda,
                                      int rounds) {
    int size = rows * cols, last = rows - 1, right = cols - 1;
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
#pragma unroll 1
            for (int col = threadIdx.x; col < cols; col += LANES) {
                const float *at = image + row * cols + col;
                float centre = at[0], north, south, west, east;
                if (row == 0 && col == 0)
                    DIFFERENCES(centre, at[cols], centre, at[1]);
                else if (row == 0 && col == right)
                    DIFFERENCES(centre, at[cols], at[-1], centre);
                else if (row == last && col == right)
                    DIFFERENCES(at[-cols], centre, at[-1], centre);
                else if (row == last && col == 0)
                    DIFFERENCES(at[-cols], centre, centre, at[1]);
                else if (row == 0)
                    DIFFERENCES(centre, at[cols], at[-1], at[1]);
                else if (col == right)
                    DIFFERENCES(at[-cols], at[cols], at[-1], centre);
                else if (row == last)
                    DIFFERENCES(at[-cols], centre, at[-1], at[1]);
                else if (col == 0)
                    DIFFERENCES(at[-cols], at[cols], centre, at[1]);
                else
                    DIFFERENCES(at[-cols], at[cols], at[-1], at[1]);
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

// As lps_loop in loops.cu, with faces that let nothing through: beyond a face is the cell inside it.
extern "C" __global__ void lps_sides(float *from, float *to, int nx, int ny, int nz, int rounds) {
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
#pragma unroll 1
        for (int z = 0; z < nz; z++) {
            int below = (z ? z - 1 : 1) * ny, above = (z < nz - 1 ? z + 1 : z - 1) * ny;
#pragma unroll 1
            for (int y = 0; y < ny; y++) {
                const float *row = from + (z * ny + y) * nx, *front = from + (z * ny + (y ? y - 1 : 1)) * nx;
                const float *back = from + (z * ny + (y < ny - 1 ? y + 1 : y - 1)) * nx;
                const float *low = from + (below + y) * nx, *high = from + (above + y) * nx;
#pragma unroll 1
                for (int x = threadIdx.x; x < nx; x += LANES) {
                    float next;
                    if (x == 0 || x == nx - 1) {
                        float inside = row[x ? x - 1 : 1];
                        next = plus(inside, inside);
                        next = plus(plus(plus(plus(next, front[x]), back[x]), low[x]), high[x]);
                        next = times(next, 1.0f / 6.0f);
                    } else {
                        next = plus(row[x - 1], row[x + 1]);
                        next = plus(plus(plus(plus(next, front[x]), back[x]), low[x]), high[x]);
                        next = times(next, 1.0f / 6.0f);
                    }
                    to[(z * ny + y) * nx + x] = next;
                }
            }
        }
        __syncwarp();
        float *swap = from;
        from = to;
        to = swap;
    }
}

// LU decomposition of an n x n matrix in place, without pivoting, a row and a column at a time (Doolittle): some lanes
// compute elements of row k from the diagonal on, others of column k below it.
extern "C" __global__ void lu_sides(float *a, int n) {
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        int elements = n - k;
#pragma unroll 1
        for (int t = threadIdx.x; t < 2 * elements - 1; t += LANES) {
            bool in_row = t < elements;
            int i = in_row ? k : k + 1 + t - elements, j = in_row ? k + t : k;
            float sum = a[i * n + j];
#pragma unroll 1
            for (int m = 0; m < k; m++) {
                if (in_row)
                    sum = less(sum, times(a[k * n + m], a[m * n + j]));
                else
                    sum = less(sum, times(a[i * n + m], a[m * n + k]));
            }
            a[i * n + j] = sum;
        }
        __syncwarp();
        float pivot = 1.0f / a[k * n + k];
#pragma unroll 1
        for (int i = k + 1 + threadIdx.x; i < n; i += LANES)
            a[i * n + k] *= pivot;
        __syncwarp();
    }
}

struct option {
    float price, strike, drift, spread; // the last two: mean and deviation of the logarithm of the share's growth
};

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

// As mc_loop in loops.cu; the first loop makes normal numbers from uniform ones. Lane 0 adds up the lanes' sums in
// shared memory.
extern "C" __global__ void mc_sides(float2 *sums, float *normal, const struct option *options, const float *uniform,
                                    int paths, int n) {
    __shared__ float once[LANES], squared[LANES];
#pragma unroll 1
    for (int i = threadIdx.x; i < paths; i += LANES)
        normal[i] = normal_at(uniform[i]);
    __syncwarp();
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
        once[threadIdx.x] = sum;
        squared[threadIdx.x] = sum2;
        __syncwarp();
        if (threadIdx.x == 0) {
            float all = 0, all2 = 0;
            for (int lane = 0; lane < LANES; lane++)
                all += once[lane];
            for (int lane = 0; lane < LANES; lane++)
                all2 += squared[lane];
            sums[option] = make_float2(all, all2);
        }
        __syncwarp();
    }
}
