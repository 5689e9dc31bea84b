// public: four kernels that do the work of public programs with their block shapes and problem sizes, so that their
// cycles can be held against cycles measured on a card.
// histogram64: counts the upper six bits of bytes; each thread has 64 counters of a byte in shared memory. CUDA samples,
//   histogram. Divergence: the end of the data. Barriers: 2. Block: 64 x 1. Shared memory: 4 KiB.
// diffuse: the diffusion coefficients of an image, one thread a pixel, partly in f64. Rodinia, srad_v1. Divergence: ifs
//   without else at the end of a row and at both limits of a coefficient. Block: 512 x 1.
// multiply: a product of matrices, A stored by columns and B by rows; a thread computes 16 columns of one row. Parboil,
//   sgemm. Barriers: 2 in each of the loop's iterations. Block: 16 x 8. Shared memory: 512 bytes.
// binomial: prices of options in a tree of 2048 steps; a thread keeps 16 neighbouring nodes in registers. CUDA samples,
//   binomialOptions. Divergence: in the last steps, threads have no nodes left (if without else). Barriers: 2 a step.
//   Block: 128 x 1. Shared memory: 516 bytes.
// Contraction: left to nvcc, as in the public programs.

enum { BINS = 64, COUNTERS = 64 };

// Threads whose numbers differ by 16 share a word, so that the 64 counters of a bin take 16 banks.
static __device__ unsigned byte_of(unsigned thread) { return (thread & 15) << 2 | thread >> 4; }

static __device__ void count_word(unsigned char *own, unsigned word) {
    own[(word >> 2 & 63) * COUNTERS]++;
    own[(word >> 10 & 63) * COUNTERS]++;
    own[(word >> 18 & 63) * COUNTERS]++;
    own[(word >> 26 & 63) * COUNTERS]++;
}

extern "C" __global__ void histogram64(unsigned *partial, const uint4 *data, unsigned count) {
    __shared__ unsigned char counters[BINS * COUNTERS];
    unsigned char *own = counters + byte_of(threadIdx.x);
#pragma unroll
    for (unsigned i = 0; i < BINS * COUNTERS / 4 / COUNTERS; i++)
        ((unsigned *)counters)[threadIdx.x + i * COUNTERS] = 0;
    __syncthreads();
    for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += blockDim.x * gridDim.x) {
        uint4 four = data[at];
        count_word(own, four.x);
        count_word(own, four.y);
        count_word(own, four.z);
        count_word(own, four.w);
    }
    __syncthreads();
    const unsigned char *bin = counters + threadIdx.x * COUNTERS;
    unsigned sum = 0, from = 4 * (threadIdx.x & 15);
#pragma unroll
    for (unsigned i = 0; i < COUNTERS / 4; i++) {
        sum += bin[from] + bin[from + 1] + bin[from + 2] + bin[from + 3];
        from = (from + 4) & (COUNTERS - 1);
    }
    partial[blockIdx.x * BINS + threadIdx.x] = sum;
}

extern "C" __global__ void diffuse(int rows, int columns, long elements, const int *north, const int *south,
                                   const int *east, const int *west, float *to_n, float *to_s, float *to_e, float *to_w,
                                   float variance, float *coefficient, const float *image) {
    int at = blockIdx.x * 512 + threadIdx.x;
    int row = (at + 1) % rows - 1, column = (at + 1) / rows;
    if ((at + 1) % rows == 0) {
        row = rows - 1;
        column = column - 1;
    }
    if (at >= elements)
        return;
    float here = image[at];
    float n = image[north[row] + rows * column] - here, s = image[south[row] + rows * column] - here;
    float w = image[row + rows * west[column]] - here, e = image[row + rows * east[column]] - here;
    float gradient = (n * n + s * s + w * w + e * e) / (here * here);
    float laplacian = (n + s + w + e) / here;
    float num = 0.5 * gradient - 1.0 / 16.0 * (laplacian * laplacian);
    float den = 1 + 0.25 * laplacian;
    float square = num / (den * den);
    den = (square - variance) / (variance * (1 + variance));
    float c = 1.0 / (1.0 + den);
    if (c < 0)
        c = 0;
    else if (c > 1)
        c = 1;
    to_n[at] = n;
    to_s[at] = s;
    to_w[at] = w;
    to_e[at] = e;
    coefficient[at] = c;
}

enum { ROWS = 128, COLUMNS = 16, DEPTH = 8 };

extern "C" __global__ void multiply(const float *a, int a_stride, const float *b, int b_stride, float *c, int c_stride,
                                    int depth, float alpha, float beta) {
    __shared__ __align__(16) float tile[DEPTH][COLUMNS];
    float sum[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        sum[i] = 0;
    int row = blockIdx.x * ROWS + threadIdx.y * blockDim.x + threadIdx.x, column = blockIdx.y * COLUMNS + threadIdx.x;
    for (int k = 0; k < depth; k += DEPTH) {
        tile[threadIdx.y][threadIdx.x] = b[column + (k + threadIdx.y) * b_stride];
        __syncthreads();
        for (int j = 0; j < DEPTH; j++) {
            float factor = a[row + (k + j) * a_stride];
            for (int i = 0; i < COLUMNS; i += 4) { // one load, as ptxas makes of four: the card counts so many
                float4 four = *(const float4 *)&tile[j][i];
                sum[i] += factor * four.x;
                sum[i + 1] += factor * four.y;
                sum[i + 2] += factor * four.z;
                sum[i + 3] += factor * four.w;
            }
        }
        __syncthreads();
    }
    int at = c_stride * blockIdx.y * COLUMNS + row;
    for (int i = 0; i < COLUMNS; i++)
        c[at + i * c_stride] = c[at + i * c_stride] * beta + alpha * sum[i];
}

enum { STEPS = 2048, THREADS = 128, NODES = STEPS / THREADS, MOST_OPTIONS = 1024 };
struct option {
    float price, strike, move, up, down; // move: log of a step's factor; up, down: discounted probabilities
};
__constant__ option public_options[MOST_OPTIONS];

static __device__ float at_expiry(const option *o, int node) {
    float gain = o->price * __expf(o->move * (2.0f * node - STEPS)) - o->strike;
    return gain > 0 ? gain : 0;
}

extern "C" __global__ void binomial(float *value) {
    __shared__ float first[THREADS + 1];
    const option *o = &public_options[blockIdx.x];
    float node[NODES + 1];
    int thread = threadIdx.x;
#pragma unroll
    for (int i = 0; i < NODES; i++)
        node[i] = at_expiry(o, thread * NODES + i);
    if (thread == 0)
        first[THREADS] = at_expiry(o, STEPS);
    int ends = thread * NODES - 1 > 0 ? thread * NODES - 1 : 0;
    float up = o->up, down = o->down;
#pragma unroll 1
    for (int step = STEPS; step > 0; step--) {
        first[thread] = node[0];
        __syncthreads();
        node[NODES] = first[thread + 1];
        __syncthreads();
        if (step > ends)
#pragma unroll
            for (int i = 0; i < NODES; i++)
                node[i] = up * node[i + 1] + down * node[i];
    }
    if (thread == 0)
        value[blockIdx.x] = node[0];
}
