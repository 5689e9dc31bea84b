// fft: Fourier transforms of 512 complex numbers each, forward, a block of 64 threads for each. A thread holds eight
// numbers and transforms them three times; in between, the block exchanges them through shared memory, real parts
// first.
// From: Volkov and Kazian's FFT for GPUs, as in SHOC (FFT512_device): radix 8, numbers in registers, fast sines.
// Divergence: none, and no branch. Instructions after reconvergence: none.
// Barriers: 3 for each exchange, and 1 between them. Block: 64 x 1. Shared memory: 2.25 KiB.
// Contraction: left to nvcc.
enum { POINTS = 512, THREADS = 64, STEP = 8 };

static __device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
static __device__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
static __device__ float2 operator*(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
static __device__ float2 quarter_back(float2 a) { return make_float2(a.y, -a.x); } // times -i

// Replaces two numbers by their sum and difference
static __device__ void pair(float2 *a, float2 *b) {
    float2 sum = *a + *b;
    *b = *a - *b;
    *a = sum;
}

static __device__ void four(float2 *a, float2 *b, float2 *c, float2 *d) {
    pair(a, c);
    pair(b, d);
    *d = quarter_back(*d);
    pair(a, b);
    pair(c, d);
}

// Transforms eight numbers in place; the result of frequency k is at order[k]
static __device__ void eight(float2 *v) {
    const float half = 0.70710678f; // 1 / sqrt(2)
    for (int i = 0; i < 4; i++)
        pair(&v[i], &v[i + 4]);
    v[5] = make_float2(half * (v[5].x + v[5].y), half * (v[5].y - v[5].x));
    v[6] = quarter_back(v[6]);
    v[7] = make_float2(half * (v[7].y - v[7].x), -half * (v[7].x + v[7].y));
    four(&v[0], &v[1], &v[2], &v[3]);
    four(&v[4], &v[5], &v[6], &v[7]);
}
#define ORDER(k) ((k) >> 2 & 1 | (k) & 2 | ((k) & 1) << 2)

// Rotates frequency k of v back by k * turn / points of a full turn
static __device__ void twiddle(float2 *v, int turn, int points) {
    for (int k = 1; k < 8; k++) {
        float angle = -6.28318531f / points * k * turn, s, c;
        __sincosf(angle, &s, &c);
        v[ORDER(k)] = v[ORDER(k)] * make_float2(c, s);
    }
}

// Stores frequency k to work[to + k * to_step], then loads v[i] from work[from + i * from_step]
static __device__ void exchange(float2 *v, float *work, int to, int to_step, int from, int from_step) {
    for (int k = 0; k < 8; k++)
        work[to + k * to_step] = v[ORDER(k)].x;
    __syncthreads();
    float2 got[8];
    for (int i = 0; i < 8; i++)
        got[i].x = work[from + i * from_step];
    __syncthreads();
    for (int k = 0; k < 8; k++)
        work[to + k * to_step] = v[ORDER(k)].y;
    __syncthreads();
    for (int i = 0; i < 8; i++) {
        got[i].y = work[from + i * from_step];
        v[i] = got[i];
    }
}

// Strides of 72 and 68 keep the lanes of a warp in different banks.
extern "C" __global__ void fft(const float2 *in, float2 *out) {
    __shared__ float work[8 * 72];
    int t = threadIdx.x, low = t % 8, high = t / 8;
    float2 v[8];
    in += blockIdx.x * POINTS + t;
    out += blockIdx.x * POINTS + t;
    for (int i = 0; i < 8; i++)
        v[i] = in[i * THREADS];
    eight(v);
    twiddle(v, t, POINTS);
    exchange(v, work, t, 72, high * 72 + low, STEP);
    eight(v);
    twiddle(v, low, THREADS);
    __syncthreads();
    exchange(v, work, low * 68 + high, STEP, t, 68);
    eight(v);
    for (int k = 0; k < 8; k++)
        out[k * THREADS] = v[ORDER(k)];
}
