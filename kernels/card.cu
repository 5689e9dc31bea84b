// card: five kernels with the arithmetic and the memories of public programs, where Heddle's own benchmarks of the same
// work differ, so that their cycles and power can be held against a card.
// card_layer: products of inputs and weights, summed in a tree whose steps are powers of two from the special function
//   unit, with remainders. Rodinia, backprop. Divergence: as backprop_forward. Barriers: 9. Block: 16 x 16.
// card_adjust: changes weights, with rate and momentum in f64. Rodinia, backprop. Barriers: 1. Block: 16 x 16.
// card_heat: temperatures of a chip, partly in f64, with four divisions. Rodinia, hotspot. Divergence: ifs without else
//   for the ring of threads that compute nothing. Barriers: 1 and 2 a step. Block: 16 x 16. Shared memory: 3 KiB.
// card_nearest: the nearest of five centres; the points are a texture, as there. Rodinia, kmeans. Block: 256 x 1.
// card_phase: the matrix Q of an image; samples come from constant memory in pairs of values, as ptxas loads them.
//   Parboil, mri-q. Block: 256 x 1.
// Contraction: left to nvcc, as in the public programs.
enum { UNITS = 16, TILE = 16, CENTRES = 5, FEATURES = 34, SAMPLES = 1024 };

extern "C" __global__ void card_layer(const float *input, float *weight, float *partial) {
    __shared__ float in[UNITS], product[UNITS][UNITS];
    int tx = threadIdx.x, ty = threadIdx.y, at = (UNITS + 1) * (UNITS * blockIdx.y + ty + 1) + tx + 1;
    if (tx == 0)
        in[ty] = input[UNITS * blockIdx.y + ty + 1];
    __syncthreads();
    product[ty][tx] = weight[at];
    __syncthreads();
    product[ty][tx] = product[ty][tx] * in[ty];
    __syncthreads();
    for (int i = 1; i <= __log2f(UNITS); i++) {
        int step = __powf(2, i);
        if (ty % step == 0)
            product[ty][tx] += product[ty + step / 2][tx];
        __syncthreads();
    }
    weight[at] = product[ty][tx];
    __syncthreads();
    if (tx == 0)
        partial[blockIdx.y * UNITS + ty] = product[tx][ty];
}

// `before`: the previous change of each weight. Pointers may overlap for the compiler, so that each sum loads again.
extern "C" __global__ void card_adjust(float *delta, float *input, float *weight, float *before) {
    const double rate = 0.3, momentum = 0.3;
    int tx = threadIdx.x, ty = threadIdx.y, x = tx + 1, y = UNITS * blockIdx.y + ty + 1, at = (UNITS + 1) * y + x;
    weight[at] += rate * delta[x] * input[y] + momentum * before[at];
    before[at] = rate * delta[x] * input[y] + momentum * before[at];
    __syncthreads();
    if (ty == 0 && blockIdx.y == 0) {
        weight[x] += rate * delta[x] + momentum * before[x];
        before[x] = rate * delta[x] + momentum * before[x];
    }
}

static __device__ bool within(int i, int least, int most) { return i >= least && i <= most; }

// Each thread divides by `capacity`, `rx`, `ry` and `rz`, as there.
extern "C" __global__ void card_heat(const float *power, const float *from, float *to, int rows, int columns, int steps,
                                     float capacity, float rx, float ry, float rz, float time) {
    __shared__ float heat[TILE][TILE], watts[TILE][TILE], next[TILE][TILE];
    float c = time / capacity, along_x = 1 / rx, along_y = 1 / ry, sink = 1 / rz;
    int tx = threadIdx.x, ty = threadIdx.y, inner = TILE - 2 * steps;
    int top = inner * blockIdx.y - steps, left = inner * blockIdx.x - steps;
    int row = top + ty, column = left + tx, at = columns * row + column;
    if (within(row, 0, rows - 1) && within(column, 0, columns - 1)) {
        heat[ty][tx] = from[at];
        watts[ty][tx] = power[at];
    }
    __syncthreads();
    // rows and columns of the tile that are on the chip
    int y_least = top < 0 ? -top : 0, y_most = top + TILE > rows ? rows - 1 - top : TILE - 1;
    int x_least = left < 0 ? -left : 0, x_most = left + TILE > columns ? columns - 1 - left : TILE - 1;
    int north = max(ty - 1, y_least), south = min(ty + 1, y_most);
    int west = max(tx - 1, x_least), east = min(tx + 1, x_most);
    bool computed = false;
    for (int step = 1; step <= steps; step++) {
        computed = within(tx, step, TILE - 1 - step) && within(ty, step, TILE - 1 - step) &&
                   within(tx, x_least, x_most) && within(ty, y_least, y_most);
        if (computed)
            next[ty][tx] =
                heat[ty][tx] +
                c * (watts[ty][tx] + (heat[south][tx] + heat[north][tx] - 2.0 * heat[ty][tx]) * along_y +
                     (heat[ty][east] + heat[ty][west] - 2.0 * heat[ty][tx]) * along_x + (80.0f - heat[ty][tx]) * sink);
        __syncthreads();
        if (step == steps)
            break;
        if (computed)
            heat[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed)
        to[at] = next[ty][tx];
}

__constant__ float card_centres[CENTRES * FEATURES];

extern "C" __global__ void card_nearest(cudaTextureObject_t data, int *member, int points, int features, int centres) {
    int point = blockIdx.x * blockDim.x + threadIdx.x, nearest = -1;
    if (point >= points)
        return;
    float least = 3.40282347e+38f;
    for (int c = 0; c < centres; c++) {
        float distance = 0;
#pragma unroll 1
        for (int f = 0; f < features; f++) {
            float d = tex1Dfetch<float>(data, point + f * points) - card_centres[c * features + f];
            distance += d * d;
        }
        if (distance < least) {
            least = distance;
            nearest = c;
        }
    }
    member[point] = nearest;
}

__constant__ float2 card_samples[2 * SAMPLES]; // x and y, z and magnitude

extern "C" __global__ void card_phase(int samples, const float *xs, const float *ys, const float *zs, float *real,
                                      float *imaginary) {
    int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    float x = xs[voxel], y = ys[voxel], z = zs[voxel], re = real[voxel], im = imaginary[voxel];
#pragma unroll 2
    for (int k = 0; k < samples; k++) {
        float2 a = card_samples[2 * k], b = card_samples[2 * k + 1];
        float angle = 6.28318531f * (a.x * x + a.y * y + b.x * z);
        re += b.y * __cosf(angle);
        im += b.y * __sinf(angle);
    }
    real[voxel] = re;
    imaginary[voxel] = im;
}
