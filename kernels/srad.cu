// srad: speckle-reducing anisotropic diffusion of an ultrasound image, two launches a step: srad_gradient computes
// each pixel's four differences and its diffusion coefficient, srad_update the divergence and the new image. The host
// computes the statistics of the region of interest between steps. Image sides are multiples of 16.
// From: Rodinia, srad_v2 (srad_cuda_1, srad_cuda_2). Values beyond the image are not read here (there, they are read
//   and discarded); constants are float.
// Divergence: srad_gradient: a chain of nine cases for a pixel's place in the tile (if, else if, ..., else), four of
//   them for one thread each, then a chain of three that limits the coefficient (compiled to selections). srad_update:
//   a chain of four. Chains on the block's place in the grid are uniform. Nesting: 8 and 3.
// Instructions after reconvergence: 31 (arithmetic) in srad_gradient, 26 in srad_update; 1 to 7 after uniform ones.
// Barriers: 4 and 5. Block: 16 x 16. Shared memory: 6 KiB and 5 KiB.
enum { TILE = 16, LAST = TILE - 1 };

extern "C" __global__ void srad_gradient(float *east_of, float *west_of, float *north_of, float *south_of,
                                         const float *image, float *coefficient, int columns, float q0) {
    __shared__ float temp[TILE][TILE], result[TILE][TILE];
    __shared__ float north[TILE][TILE], south[TILE][TILE], east[TILE][TILE], west[TILE][TILE];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int tile = columns * TILE * by + TILE * bx, at = tile + columns * ty + tx;
    if (by == 0)
        north[ty][tx] = image[TILE * bx + tx];
    else
        north[ty][tx] = image[tile + tx - columns];
    if (by == gridDim.y - 1)
        south[ty][tx] = image[tile + columns * LAST + tx];
    else
        south[ty][tx] = image[tile + columns * TILE + tx];
    __syncthreads();
    if (bx == 0)
        west[ty][tx] = image[tile + columns * ty];
    else
        west[ty][tx] = image[tile + columns * ty - 1];
    if (bx == gridDim.x - 1)
        east[ty][tx] = image[tile + columns * ty + LAST];
    else
        east[ty][tx] = image[tile + columns * ty + TILE];
    __syncthreads();
    temp[ty][tx] = image[at];
    __syncthreads();
    float here = temp[ty][tx], n, s, w, e;
    if (ty == 0 && tx == 0) {
        n = north[ty][tx] - here;
        s = temp[ty + 1][tx] - here;
        w = west[ty][tx] - here;
        e = temp[ty][tx + 1] - here;
    } else if (ty == 0 && tx == LAST) {
        n = north[ty][tx] - here;
        s = temp[ty + 1][tx] - here;
        w = temp[ty][tx - 1] - here;
        e = east[ty][tx] - here;
    } else if (ty == LAST && tx == LAST) {
        n = temp[ty - 1][tx] - here;
        s = south[ty][tx] - here;
        w = temp[ty][tx - 1] - here;
        e = east[ty][tx] - here;
    } else if (ty == LAST && tx == 0) {
        n = temp[ty - 1][tx] - here;
        s = south[ty][tx] - here;
        w = west[ty][tx] - here;
        e = temp[ty][tx + 1] - here;
    } else if (ty == 0) {
        n = north[ty][tx] - here;
        s = temp[ty + 1][tx] - here;
        w = temp[ty][tx - 1] - here;
        e = temp[ty][tx + 1] - here;
    } else if (tx == LAST) {
        n = temp[ty - 1][tx] - here;
        s = temp[ty + 1][tx] - here;
        w = temp[ty][tx - 1] - here;
        e = east[ty][tx] - here;
    } else if (ty == LAST) {
        n = temp[ty - 1][tx] - here;
        s = south[ty][tx] - here;
        w = temp[ty][tx - 1] - here;
        e = temp[ty][tx + 1] - here;
    } else if (tx == 0) {
        n = temp[ty - 1][tx] - here;
        s = temp[ty + 1][tx] - here;
        w = west[ty][tx] - here;
        e = temp[ty][tx + 1] - here;
    } else {
        n = temp[ty - 1][tx] - here;
        s = temp[ty + 1][tx] - here;
        w = temp[ty][tx - 1] - here;
        e = temp[ty][tx + 1] - here;
    }
    float g2 = fmaf(e, e, fmaf(w, w, fmaf(s, s, n * n))) / (here * here), l = (n + s + w + e) / here;
    float above = fmaf(0.5f, g2, -(1.0f / 16 * (l * l))), below = fmaf(0.25f, l, 1);
    float q = above / (below * below), c = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
    if (c < 0)
        result[ty][tx] = 0;
    else if (c > 1)
        result[ty][tx] = 1;
    else
        result[ty][tx] = c;
    __syncthreads();
    coefficient[at] = result[ty][tx];
    east_of[at] = e;
    west_of[at] = w;
    south_of[at] = s;
    north_of[at] = n;
}

extern "C" __global__ void srad_update(const float *east_of, const float *west_of, const float *north_of,
                                       const float *south_of, float *image, const float *coefficient, int columns,
                                       float lambda) {
    __shared__ float south[TILE][TILE], east[TILE][TILE], own[TILE][TILE], result[TILE][TILE], temp[TILE][TILE];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int tile = columns * TILE * by + TILE * bx, at = tile + columns * ty + tx;
    temp[ty][tx] = image[at];
    __syncthreads();
    if (by == gridDim.y - 1)
        south[ty][tx] = coefficient[tile + columns * LAST + tx];
    else
        south[ty][tx] = coefficient[tile + columns * TILE + tx];
    __syncthreads();
    if (bx == gridDim.x - 1)
        east[ty][tx] = coefficient[tile + columns * ty + LAST];
    else
        east[ty][tx] = coefficient[tile + columns * ty + TILE];
    __syncthreads();
    own[ty][tx] = coefficient[at];
    __syncthreads();
    float c = own[ty][tx], cs, ce;
    if (ty == LAST && tx == LAST) {
        cs = south[ty][tx];
        ce = east[ty][tx];
    } else if (tx == LAST) {
        cs = own[ty + 1][tx];
        ce = east[ty][tx];
    } else if (ty == LAST) {
        cs = south[ty][tx];
        ce = own[ty][tx + 1];
    } else {
        cs = own[ty + 1][tx];
        ce = own[ty][tx + 1];
    }
    float d = fmaf(ce, east_of[at], fmaf(c, west_of[at], fmaf(cs, south_of[at], c * north_of[at])));
    result[ty][tx] = fmaf(0.25f * lambda, d, temp[ty][tx]);
    __syncthreads();
    image[at] = result[ty][tx];
}
