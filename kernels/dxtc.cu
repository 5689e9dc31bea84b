// dxtc: compression of a picture to four bits a pixel (DXT1): each square of 4 x 4 pixels has two end colours of 16
// bits, and for each pixel the choice among four colours between them. A block of 64 threads compresses a square. It
// sorts the pixels along their principal axis. Each thread tries every 64th way to divide the sorted row into four
// runs, and keeps the best; then the block finds the best of all.
// From: CUDA samples, dxtc (compress: loadColorBlock, sortColors, evalAllPermutations, findMinError, saveBlockDXT1),
//   its four-colour mode; the ways to divide come from the host, as there.
// Divergence: ifs without else for the 16 threads that load and sort (half a warp), in the sort around a uniform loop;
//   all threads compute the same axis; a loop over the ways to divide with a break at the ragged end, around a uniform
//   loop over pixels, then an if without else for a better way (compiled to selections); a tree with an if without
//   else at each level and one in it for the better of two; an if without else for the best thread at the end.
//   Nesting: 3.
// Instructions after reconvergence: 248 (the axis) after the load's if, 3 after the sort's; in the loop over ways 20
//   (loop, selections) and 14 after it; 6 (loop, barrier) a level of the tree, none at the end. The loop over pixels
//   is unrolled four times, with its test of a bit as an if without else around a division each (20 to 24 after it).
// Barriers: 4, and 1 a level of the tree. Block: 64 x 1. Shared memory: 1.1 KiB.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
enum { PIXELS = 16, THREADS = 64, ROUNDS = 8 };

static __device__ float dot(const float *a, const float *b) { return fmaf(a[2], b[2], fmaf(a[1], b[1], a[0] * b[0])); }

// Rounds `v` to the nearest colour of 5, 6 and 5 bits and returns its bits
static __device__ unsigned rounded(float *v) {
    const float most[3] = {31, 63, 31};
    unsigned bits = 0;
    for (int i = 0; i < 3; i++) {
        float whole = floorf(fmaf(fminf(fmaxf(v[i], 0.0f), 1.0f), most[i], 0.5f));
        bits = bits << (i == 1 ? 6 : 5) | (unsigned)whole;
        v[i] = whole / most[i];
    }
    return bits;
}

// Finds the best end colours for a way to divide the pixels: two bits a pixel, 0 and 1 for the ends, 2 and 3 for one and
// two thirds from the first. Returns the squared error, less a constant.
static __device__ float attempt(const float (*colour)[3], unsigned way, unsigned *first, unsigned *last) {
    float aa = 0, bb = 0, ab = 0, ax[3] = {0, 0, 0}, bx[3] = {0, 0, 0};
    for (int i = 0; i < PIXELS; i++) {
        unsigned bits = way >> 2 * i;
        float b = bits & 1;
        if (bits & 2)
            b = (1 + b) / 3.0f;
        float a = 1 - b;
        aa = fmaf(a, a, aa);
        bb = fmaf(b, b, bb);
        ab = fmaf(a, b, ab);
        for (int c = 0; c < 3; c++) {
            ax[c] = fmaf(a, colour[i][c], ax[c]);
            bx[c] = fmaf(b, colour[i][c], bx[c]);
        }
    }
    float factor = 1 / fmaf(aa, bb, -(ab * ab)), one[3], other[3];
    for (int c = 0; c < 3; c++) {
        one[c] = fmaf(ax[c], bb, -(bx[c] * ab)) * factor;
        other[c] = fmaf(bx[c], aa, -(ax[c] * ab)) * factor;
    }
    *first = rounded(one);
    *last = rounded(other);
    float lost = 0;
    for (int c = 0; c < 3; c++) {
        float square = fmaf(one[c] * one[c], aa, other[c] * other[c] * bb);
        lost += fmaf(2.0f, fmaf(one[c] * other[c], ab, -fmaf(one[c], ax[c], other[c] * bx[c])), square);
    }
    return lost;
}

// The principal axis of 16 colours: the first eigenvector of their covariance, by power iteration
static __device__ void axis_of(const float (*colour)[3], float *axis) {
    float mean[3] = {0, 0, 0}, xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;
    for (int i = 0; i < PIXELS; i++)
        for (int c = 0; c < 3; c++)
            mean[c] = fmaf(colour[i][c], 1.0f / PIXELS, mean[c]);
    for (int i = 0; i < PIXELS; i++) {
        float x = colour[i][0] - mean[0], y = colour[i][1] - mean[1], z = colour[i][2] - mean[2];
        xx = fmaf(x, x, xx);
        xy = fmaf(x, y, xy);
        xz = fmaf(x, z, xz);
        yy = fmaf(y, y, yy);
        yz = fmaf(y, z, yz);
        zz = fmaf(z, z, zz);
    }
    axis[0] = axis[1] = axis[2] = 1;
#pragma unroll 1
    for (int i = 0; i < ROUNDS; i++) {
        float x = fmaf(axis[2], xz, fmaf(axis[1], xy, axis[0] * xx)), y = fmaf(axis[2], yz, fmaf(axis[1], yy, axis[0] * xy));
        float z = fmaf(axis[2], zz, fmaf(axis[1], yz, axis[0] * xz)), most = fmaxf(fmaxf(x, y), z);
        float scale = 1 / (most > 0 ? most : 1.0f);
        axis[0] = x * scale;
        axis[1] = y * scale;
        axis[2] = z * scale;
    }
}

// `picture`: squares of 16 pixels, 0x00bbggrr each. `squares`: first colour's and last colour's bits, and pixels' bits
extern "C" __global__ void dxtc(const unsigned *picture, const unsigned *ways, int n, uint2 *squares) {
    __shared__ float colour[PIXELS][3], sorted[PIXELS][3], along[PIXELS], error[THREADS];
    __shared__ int rank[PIXELS], thread[THREADS];
    int t = threadIdx.x;
    if (t < PIXELS) {
        unsigned pixel = picture[blockIdx.x * PIXELS + t];
        for (int c = 0; c < 3; c++)
            colour[t][c] = (pixel >> 8 * c & 255) * (1 / 255.0f);
    }
    __syncthreads();
    float axis[3];
    axis_of(colour, axis);
    if (t < PIXELS)
        along[t] = dot(colour[t], axis);
    __syncthreads();
    if (t < PIXELS) {
        int before = 0;
#pragma unroll 1
        for (int i = 0; i < PIXELS; i++)
            before += along[i] < along[t] || (along[i] == along[t] && i < t);
        rank[t] = before;
        for (int c = 0; c < 3; c++)
            sorted[before][c] = colour[t][c];
    }
    __syncthreads();
    float least = 3.40282347e+38f;
    unsigned first = 0, last = 0, way = 0;
#pragma unroll 1
    for (int i = t; i < n; i += THREADS) {
        unsigned one, other;
        float lost = attempt(sorted, ways[i], &one, &other);
        if (lost < least) {
            least = lost;
            first = one;
            last = other;
            way = ways[i];
        }
    }
    error[t] = least;
    thread[t] = t;
#pragma unroll 1
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (t < half && (error[t + half] < error[t] || (error[t + half] == error[t] && thread[t + half] < thread[t]))) {
            error[t] = error[t + half];
            thread[t] = thread[t + half];
        }
    }
    __syncthreads();
    if (t == thread[0]) {
        if (first < last) { // the order selects the four-colour mode: swaps the ends and the colours between
            unsigned other = first;
            first = last;
            last = other;
            way ^= 0x55555555;
        }
        unsigned bits = 0;
        for (int i = 0; i < PIXELS; i++)
            bits |= (way >> 2 * rank[i] & 3) << 2 * i;
        squares[blockIdx.x] = make_uint2(last << 16 | first, bits);
    }
}
