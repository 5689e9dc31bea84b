// large: four programs of the size of real ones, for sampled simulation.
// From: written for Heddle.
//   jacobi: one step of a 5-point stencil; the host launches it a thousand times.
//   level: one level of a breadth-first search of a long graph; the host launches it once a level.
//   product, attention_rows, attention_back, relu, add_scaled: a training step of a transformer.
//   pixels: a ray tracer: spheres, one shadow ray, one reflection.
// Divergence: jacobi: an if at the border. level: an if without else with a loop of uneven length. pixels: loops with
//   breaks, if without else. The kernels of the transformer do not diverge.
// Instructions after reconvergence: none of interest.
// Barriers: product, in its loop over tiles. Shared memory: product, two tiles of 16 x 16.
extern "C" __global__ void jacobi(const float *in, float *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * n + x;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

extern "C" __global__ void level(const int *first, const int *edge, int *depth, int n, int now) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && depth[i] == now)
        for (int e = first[i]; e < first[i + 1]; e++)
            if (depth[edge[e]] < 0)
                depth[edge[e]] = now + 1;
}

// c (rows x columns) = scale * a b, or c + scale * a b with `more`. The strides choose transposed operands. All sizes
// are multiples of 16.
extern "C" __global__ void product(const float *a, int a_row, int a_column, const float *b, int b_row, int b_column,
                                   float *c, int columns, int inner, float scale, int more) {
    __shared__ float ta[16][17], tb[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int k = 0; k < inner; k += 16) {
        ta[ty][tx] = a[row * a_row + (k + tx) * a_column];
        tb[ty][tx] = b[(k + ty) * b_row + column * b_column];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += ta[ty][j] * tb[j][tx];
        __syncthreads();
    }
    int at = row * columns + column;
    c[at] = more ? c[at] + scale * sum : scale * sum;
}

// Each thread divides the squares of a row by their sum: a normalisation without exponentials, so that a CPU computes
// the same bits.
extern "C" __global__ void attention_rows(const float *scores, float *weights, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 1;
    for (int c = 0; c < columns; c++)
        sum += scores[c * rows + r] * scores[c * rows + r];
    for (int c = 0; c < columns; c++)
        weights[c * rows + r] = scores[c * rows + r] * scores[c * rows + r] / sum;
}

// The gradient of attention_rows().
extern "C" __global__ void attention_back(const float *scores, const float *weights, const float *dweights,
                                          float *dscores, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 1, dot = 0;
    for (int c = 0; c < columns; c++) {
        int i = c * rows + r;
        sum += scores[i] * scores[i];
        dot += weights[i] * dweights[i];
    }
    for (int c = 0; c < columns; c++) {
        int i = c * rows + r;
        dscores[i] = 2 * scores[i] / sum * (dweights[i] - dot);
    }
}

// out = max(in, 0), or with `gradient` that gradient where `in` is positive.
extern "C" __global__ void relu(const float *in, const float *gradient, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] > 0 ? gradient ? gradient[i] : in[i] : 0;
}

extern "C" __global__ void add_scaled(const float *a, const float *b, float *out, int n, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + scale * b[i];
}

// Returns the distance of the nearest sphere on the ray, and its number in *hit; -1: none.
__device__ float nearest(const float4 *sphere, int n, float3 o, float3 d, int *hit) {
    float best = 1e30f;
    *hit = -1;
    for (int i = 0; i < n; i++) {
        float4 s = sphere[i];
        float x = s.x - o.x, y = s.y - o.y, z = s.z - o.z;
        float along = x * d.x + y * d.y + z * d.z, left = along * along - (x * x + y * y + z * z) + s.w * s.w;
        if (left <= 0)
            continue;
        float t = along - sqrtf(left);
        if (t > 1e-3f && t < best) {
            best = t;
            *hit = i;
        }
    }
    return best;
}

extern "C" __global__ void pixels(const float4 *sphere, int n, float *image, int width, int height) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    float3 o = make_float3(0, 0, -8), d = make_float3((px - width / 2) / (float)height, (py - height / 2) / (float)height, 1);
    float size = sqrtf(d.x * d.x + d.y * d.y + d.z * d.z), light = 0, weight = 1;
    d.x /= size, d.y /= size, d.z /= size;
    for (int bounce = 0; bounce < 3; bounce++) {
        int hit, shadow;
        float t = nearest(sphere, n, o, d, &hit);
        if (hit < 0) {
            light += weight * 0.2f;
            break;
        }
        float4 s = sphere[hit];
        o = make_float3(o.x + t * d.x, o.y + t * d.y, o.z + t * d.z);
        float3 normal = make_float3((o.x - s.x) / s.w, (o.y - s.y) / s.w, (o.z - s.z) / s.w);
        float3 sun = make_float3(0.6f, 0.64f, -0.48f);
        float bright = normal.x * sun.x + normal.y * sun.y + normal.z * sun.z;
        if (bright > 0) {
            nearest(sphere, n, o, sun, &shadow);
            if (shadow < 0)
                light += weight * bright;
        }
        float dot = 2 * (d.x * normal.x + d.y * normal.y + d.z * normal.z);
        d = make_float3(d.x - dot * normal.x, d.y - dot * normal.y, d.z - dot * normal.z);
        weight *= 0.5f;
    }
    image[py * width + px] = light;
}
