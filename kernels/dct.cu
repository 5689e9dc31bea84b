// dct: discrete cosine transforms of a picture's tiles of 8 x 8 pixels. Block shapes are those of a public program, so
// that cycles can be held against a card's.
// dct_matrix: multiplies a tile by a matrix on both sides; the picture is a texture, and threads of a warp read
//   different words of the matrix in constant memory. CUDA samples, dct8x8. Barriers: 3. Block: 8 x 8. Shared memory:
//   512 bytes.
// dct_lines: transforms rows, then columns; each thread computes a line of eight pixels in registers. CUDA samples,
//   dct8x8. Barriers: 3. Block: 8 x 4 x 2. Shared memory: 2,112 bytes.
// Contraction: left to nvcc, as in the public program.

enum { SIDE = 8, WIDTH = 4 * SIDE, HEIGHT = 2 * SIDE, STRIDE = WIDTH + 1 };

__constant__ float dct_basis[SIDE][SIDE]; // position, frequency

extern "C" __global__ void dct_matrix(float *out, int width, int first_x, int first_y, cudaTextureObject_t picture) {
    __shared__ float tile[SIDE][SIDE], half[SIDE][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = (blockIdx.x + first_x) * SIDE + tx, y = (blockIdx.y + first_y) * SIDE + ty;
    tile[ty][tx] = tex2D<float>(picture, x + 0.5f, y + 0.5f);
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < SIDE; i++)
        sum += dct_basis[i][ty] * tile[i][tx];
    half[ty][tx] = sum;
    __syncthreads();
    sum = 0;
#pragma unroll
    for (int i = 0; i < SIDE; i++)
        sum += half[ty][i] * dct_basis[i][tx];
    tile[ty][tx] = sum;
    __syncthreads();
    out[__mul24(y, width) + x] = tile[ty][tx];
}

// Transforms eight values, `step` words apart. cosK = sqrt(2) cos(K pi / 16).
static __device__ void transform(float *line, int step) {
    const float scale = 0.3535533905932738f, cos1 = 1.387039845322148f, cos2 = 1.306562964876377f,
                cos3 = 1.175875602419359f, cos5 = 0.785694958387102f, cos6 = 0.541196100146197f,
                cos7 = 0.275899379282943f;
    float v[SIDE];
#pragma unroll
    for (int i = 0; i < SIDE; i++)
        v[i] = line[i * step];
    float sum0 = v[0] + v[7], sum1 = v[1] + v[6], sum2 = v[2] + v[5], sum3 = v[3] + v[4];
    float dif0 = v[0] - v[7], dif1 = v[6] - v[1], dif2 = v[2] - v[5], dif3 = v[4] - v[3];
    float outer = sum0 + sum3, inner = sum1 + sum2, far = sum0 - sum3, near = sum1 - sum2;
    line[0] = scale * (outer + inner);
    line[2 * step] = scale * (cos2 * far + cos6 * near);
    line[4 * step] = scale * (outer - inner);
    line[6 * step] = scale * (cos6 * far - cos2 * near);
    line[1 * step] = scale * (cos1 * dif0 - cos3 * dif1 + cos5 * dif2 - cos7 * dif3);
    line[3 * step] = scale * (cos3 * dif0 + cos7 * dif1 - cos1 * dif2 + cos5 * dif3);
    line[5 * step] = scale * (cos5 * dif0 + cos1 * dif1 + cos7 * dif2 - cos3 * dif3);
    line[7 * step] = scale * (cos7 * dif0 + cos5 * dif1 + cos3 * dif2 + cos1 * dif3);
}

extern "C" __global__ void dct_lines(float *out, const float *in, int width) {
    __shared__ float tiles[HEIGHT * STRIDE];
    int x = threadIdx.y * SIDE + threadIdx.x, y = threadIdx.z * SIDE;
    int at = __mul24(blockIdx.y * HEIGHT + y, width) + blockIdx.x * WIDTH + x;
    float *column = tiles + y * STRIDE + x;
    in += at;
    out += at;
#pragma unroll
    for (unsigned i = 0; i < SIDE; i++)
        column[i * STRIDE] = in[i * width];
    __syncthreads();
    transform(tiles + (y + threadIdx.x) * STRIDE + x - threadIdx.x, 1);
    __syncthreads();
    transform(column, STRIDE);
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < SIDE; i++)
        out[i * width] = column[i * STRIDE];
}
