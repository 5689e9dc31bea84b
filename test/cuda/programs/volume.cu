// Volumes, as in volumeRender, simpleLayeredTexture and simpleCubemapTexture of the CUDA samples: arrays with three
// dimensions and with layers, copies with offsets between all kinds of memory, surfaces, and linear filtering.
#include "mistakes.h"
#include <cstring>
#include <vector>

enum { W = 10, H = 6, D = 5 };

__global__ void sample(cudaTextureObject_t t, float *out, float shift) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    out[(z * H + y) * W + x] = tex3D<float>(t, x + 0.5f + shift, y + 0.5f, z + 0.5f);
}
__global__ void layers(cudaTextureObject_t t, float *out) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    out[(z * H + y) * W + x] = tex2DLayered<float>(t, x + 0.5f, y + 0.5f, D - 1 - z);
}
__global__ void line_layers(cudaTextureObject_t t, int2 *out) {
    out[blockIdx.x * W + threadIdx.x] = tex1DLayered<int2>(t, threadIdx.x, blockIdx.x);
}
__global__ void write(cudaSurfaceObject_t s, float by) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    float v;
    surf3Dread(&v, s, x * (int)sizeof v, y, z);
    surf3Dwrite(v * by, s, x * (int)sizeof v, y, z);
    surf3Dwrite(-1.0f, s, W * (int)sizeof v, y, z, cudaBoundaryModeZero); // outside of the surface: no effect
}
__global__ void halve(cudaSurfaceObject_t to, cudaTextureObject_t from, int n) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x < n && y < n)
        surf2Dwrite(tex2D<float>(from, (x + 0.5f) / n, (y + 0.5f) / n), to, x * 4, y);
}
__global__ void at_levels(cudaTextureObject_t t, float *out) {
    out[threadIdx.x] = tex2DLod<float>(t, 0.3f, 0.6f, threadIdx.x * 0.5f);
}
__global__ void write_layer(cudaSurfaceObject_t s, int layer) {
    surf2DLayeredwrite(100.0f + threadIdx.x, s, threadIdx.x * 4, threadIdx.y, layer);
}
__global__ void stencil(cudaPitchedPtr in, cudaPitchedPtr out) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    auto at = [&](cudaPitchedPtr p, int i, int j, int k) -> float * {
        return (float *)((char *)p.ptr + (k * p.ysize + j) * p.pitch) + i;
    };
    float sum = *at(in, x, y, z);
    if (x > 0 && x < W - 1 && y > 0 && y < H - 1 && z > 0 && z < D - 1)
        sum += *at(in, x - 1, y, z) + *at(in, x + 1, y, z) + *at(in, x, y - 1, z) + *at(in, x, y + 1, z) +
               *at(in, x, y, z - 1) + *at(in, x, y, z + 1);
    *at(out, x, y, z) = sum;
}

static float cells[D][H][W], seen[D][H][W];

static cudaTextureObject_t texture(cudaArray_t a, cudaTextureFilterMode filter) {
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t = 0;
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = cudaAddressModeClamp;
    d.filterMode = filter;
    OK(cudaCreateTextureObject(&t, &r, &d, NULL));
    return t;
}

static void copy(cudaArray_t to_array, cudaArray_t from_array, void *to, const void *from, cudaMemcpyKind kind) {
    cudaMemcpy3DParms c = {};
    c.srcArray = from_array;
    c.dstArray = to_array;
    if (from)
        c.srcPtr = make_cudaPitchedPtr((void *)from, W * 4, W, H);
    if (to)
        c.dstPtr = make_cudaPitchedPtr(to, W * 4, W, H);
    c.extent = make_cudaExtent(W, H, D);
    c.kind = kind;
    OK(cudaMemcpy3D(&c));
}

static void volumes() {
    cudaArray_t a, b;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>(), got;
    cudaExtent e = make_cudaExtent(W, H, D), size;
    unsigned flags = 0;
    float *out;
    OK(cudaMalloc(&out, sizeof seen));
    OK(cudaMalloc3DArray(&a, &f, e, cudaArraySurfaceLoadStore));
    OK(cudaMalloc3DArray(&b, &f, e));
    OK(cudaArrayGetInfo(&got, &size, &flags, a));
    WANT(got.x == 32 && got.f == cudaChannelFormatKindFloat && size.width == W && size.height == H && size.depth == D);
    WANT(flags == cudaArraySurfaceLoadStore);
    copy(a, NULL, NULL, cells, cudaMemcpyHostToDevice);
    copy(b, a, NULL, NULL, cudaMemcpyDeviceToDevice);
    cudaTextureObject_t t = texture(b, cudaFilterModePoint);
    sample<<<D, dim3(W, H)>>>(t, out, 0);
    OK(cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost));
    WANT(memcmp(seen, cells, sizeof seen) == 0);
    OK(cudaDestroyTextureObject(t));
    t = texture(b, cudaFilterModeLinear);
    sample<<<D, dim3(W, H)>>>(t, out, 0.5f); // half a texel to the right: the mean of two texels, or the last texel
    OK(cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost));
    for (int i = 0; i < D * H * W; i++) {
        const float *c = &cells[0][0][i];
        WANT(near((&seen[0][0][0])[i], i % W == W - 1 ? *c : (c[0] + c[1]) / 2, 1e-5));
    }
    OK(cudaDestroyTextureObject(t));
    cudaResourceDesc r = {};
    cudaSurfaceObject_t s;
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    OK(cudaCreateSurfaceObject(&s, &r));
    write<<<D, dim3(W, H)>>>(s, 3);
    OK(cudaDestroySurfaceObject(s));
    copy(NULL, a, seen, NULL, cudaMemcpyDeviceToHost);
    for (int i = 0; i < D * H * W; i++)
        WANT((&seen[0][0][0])[i] == 3 * (&cells[0][0][0])[i]);
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(b));
    OK(cudaFree(out));
}

static void layered() {
    cudaArray_t a, l;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>(), i2 = cudaCreateChannelDesc<int2>();
    float *out;
    OK(cudaMalloc(&out, sizeof seen));
    OK(cudaMalloc3DArray(&a, &f, make_cudaExtent(W, H, D), cudaArrayLayered | cudaArraySurfaceLoadStore));
    copy(a, NULL, NULL, cells, cudaMemcpyHostToDevice);
    cudaSurfaceObject_t s;
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    OK(cudaCreateSurfaceObject(&s, &r));
    write_layer<<<1, dim3(W, H)>>>(s, 2);
    OK(cudaDestroySurfaceObject(s));
    cudaTextureObject_t t = texture(a, cudaFilterModePoint);
    layers<<<D, dim3(W, H)>>>(t, out);
    OK(cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost));
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                WANT(seen[z][y][x] == (z == 2 ? 100 + x : cells[D - 1 - z][y][x]));
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(a));
    std::vector<int2> lines(W * D), back(W * D);
    for (int i = 0; i < W * D; i++)
        lines[i] = make_int2(i, -i);
    OK(cudaMalloc3DArray(&l, &i2, make_cudaExtent(W, 0, D), cudaArrayLayered));
    cudaMemcpy3DParms c = {};
    c.dstArray = l;
    c.srcPtr = make_cudaPitchedPtr(lines.data(), W * 8, W, 1);
    c.extent = make_cudaExtent(W, 1, D);
    c.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&c));
    t = texture(l, cudaFilterModePoint);
    int2 *pairs;
    OK(cudaMalloc(&pairs, W * D * 8));
    line_layers<<<D, W>>>(t, pairs);
    OK(cudaMemcpy(back.data(), pairs, W * D * 8, cudaMemcpyDeviceToHost));
    WANT(memcmp(back.data(), lines.data(), W * D * 8) == 0);
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(l));
    OK(cudaFree(pairs));
    OK(cudaFree(out));
}

// A kernel makes each level from the previous level with the linear filter, as in bindlessTexture of the CUDA samples.
static void mipmaps() {
    enum { SIZE = 16, LEVELS = 5 };
    std::vector<float> level[LEVELS];
    cudaMipmappedArray_t m;
    cudaArray_t a[LEVELS], none;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    unsigned seed = 19;
    for (int i = 0; i < SIZE * SIZE; i++)
        level[0].push_back(next_float(&seed));
    OK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(SIZE, SIZE, 0), LEVELS + 3, cudaArraySurfaceLoadStore));
    for (int i = 0; i < LEVELS; i++)
        OK(cudaGetMipmappedArrayLevel(&a[i], m, i));
    FAILS(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&none, m, LEVELS)); // levels: 16, 8, 4, 2, 1 texels
    FAILS(cudaErrorInvalidValue, cudaFreeArray(a[1]));                          // the array belongs to the mipmap
    OK(cudaMemcpy2DToArray(a[0], 0, 0, level[0].data(), SIZE * 4, SIZE * 4, SIZE, cudaMemcpyHostToDevice));
    cudaTextureDesc d = {};
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
    d.filterMode = cudaFilterModeLinear;
    d.normalizedCoords = 1;
    for (int i = 1, n = SIZE / 2; i < LEVELS; i++, n /= 2) {
        cudaResourceDesc r = {};
        cudaSurfaceObject_t s;
        cudaTextureObject_t t;
        cudaExtent e;
        r.resType = cudaResourceTypeArray;
        r.res.array.array = a[i];
        OK(cudaArrayGetInfo(NULL, &e, NULL, a[i]));
        WANT(e.width == n && e.height == n && e.depth == 0);
        OK(cudaCreateSurfaceObject(&s, &r));
        r.res.array.array = a[i - 1];
        OK(cudaCreateTextureObject(&t, &r, &d, NULL));
        halve<<<1, dim3(n, n)>>>(s, t, n);
        OK(cudaDestroySurfaceObject(s));
        OK(cudaDestroyTextureObject(t));
        level[i].resize(n * n);
        OK(cudaMemcpy2DFromArray(level[i].data(), n * 4, a[i], 0, 0, n * 4, n, cudaMemcpyDeviceToHost));
        for (int k = 0; k < n * n; k++) {
            const float *p = &level[i - 1][k / n * 4 * n + k % n * 2];
            WANT(near(level[i][k], (p[0] + p[1] + p[2 * n] + p[2 * n + 1]) / 4, 1e-5));
        }
    }
    float *out, got[9];
    cudaResourceDesc r = {};
    cudaTextureObject_t t;
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = m;
    d.filterMode = cudaFilterModePoint;
    d.mipmapFilterMode = cudaFilterModeLinear;
    OK(cudaMalloc(&out, sizeof got));
    for (int last : {LEVELS - 1, 2}) {
        d.maxMipmapLevelClamp = last;
        OK(cudaCreateTextureObject(&t, &r, &d, NULL));
        at_levels<<<1, 9>>>(t, out);
        OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 9; i++) {
            int k = i / 2 < last ? i / 2 : last, n = SIZE >> k, m2 = n / 2;
            float here = level[k][(int)(0.6f * n) * n + (int)(0.3f * n)];
            if (i % 2 && k < last)
                here = (here + level[k + 1][(int)(0.6f * m2) * m2 + (int)(0.3f * m2)]) / 2;
            WANT(near(got[i], here, 1e-5));
        }
        OK(cudaDestroyTextureObject(t));
    }
    OK(cudaFreeMipmappedArray(m));
    FAILS(cudaErrorInvalidResourceHandle, cudaCreateTextureObject(&t, &r, &d, NULL));
    OK(cudaFree(out));
}

static void pitched() {
    cudaPitchedPtr p[2];
    cudaMemcpy3DParms c = {};
    OK(cudaMalloc3D(&p[0], make_cudaExtent(W * 4, H, D)));
    OK(cudaMalloc3D(&p[1], make_cudaExtent(W * 4, H, D)));
    c.srcPtr = make_cudaPitchedPtr(cells, W * 4, W, H);
    c.dstPtr = p[0];
    c.extent = make_cudaExtent(W * 4, H, D);
    c.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3DAsync(&c, 0));
    OK(cudaMemset3D(p[1], 0, c.extent));
    stencil<<<D, dim3(W, H)>>>(p[0], p[1]);
    memset(seen, 0, sizeof seen);
    c.srcPtr = p[1];
    c.srcPos = make_cudaPos(4, 1, 1); // in bytes, rows and planes: the volume without its outer cells
    c.dstPtr = make_cudaPitchedPtr(seen, W * 4, W, H);
    c.dstPos = make_cudaPos(4, 1, 1);
    c.extent = make_cudaExtent((W - 2) * 4, H - 2, D - 2);
    c.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&c));
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                bool inside = x > 0 && x < W - 1 && y > 0 && y < H - 1 && z > 0 && z < D - 1;
                WANT(near(seen[z][y][x],
                          !inside ? 0
                                  : cells[z][y][x] + cells[z][y][x - 1] + cells[z][y][x + 1] + cells[z][y - 1][x] +
                                        cells[z][y + 1][x] + cells[z - 1][y][x] + cells[z + 1][y][x],
                          1e-6));
            }
    c.extent = make_cudaExtent(W * 4 + 4, H, D);
    c.srcPos = c.dstPos = make_cudaPos(0, 0, 0);
    WANT(cudaMemcpy3D(&c) != cudaSuccess);
    cudaGetLastError();
    OK(cudaFree(p[0].ptr));
    OK(cudaFree(p[1].ptr));
}

int main() {
    unsigned seed = 6;
    for (int i = 0; i < D * H * W; i++)
        (&cells[0][0][0])[i] = next_float(&seed);
    volumes();
    layered();
    mipmaps();
    pitched();
    return done();
}
