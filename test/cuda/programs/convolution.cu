// Image filters, as in the CUDA samples (convolution, sobel, bicubic), with weights in constant memory. Tests textures
// of pitched memory and of arrays, every address mode, normalized coordinates, bytes read as fractions, and surfaces.
#include "mistakes.h"
#include <algorithm>
#include <vector>

enum { W = 61, H = 37, R = 3 };
__constant__ float weights[2 * R + 1];
__constant__ struct {
    int offset;
    float scale;
} how;

__global__ void line(cudaTextureObject_t in, float *out, size_t pitch, bool vertical) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H)
        return;
    float sum = 0;
#pragma unroll
    for (int i = -R; i <= R; i++)
        sum += weights[i + R] * tex2D<float>(in, x + (vertical ? 0 : i) + 0.5f, y + (vertical ? i : 0) + 0.5f);
    *((float *)((char *)out + y * pitch) + x) = sum;
}

__global__ void sample(cudaTextureObject_t t, const float2 *at, float4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex2D<float4>(t, at[i].x, at[i].y);
}

__global__ void invert(cudaSurfaceObject_t s) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = threadIdx.y;
    uchar4 c;
    if (x >= W)
        return;
    surf2Dread(&c, s, x * 4, y);
    surf2Dwrite(make_uchar4(255 - c.x, c.y + how.offset, (unsigned char)(c.z * how.scale), c.w), s, x * 4, y);
}

static void separable() {
    std::vector<float> image(W * H), mid(W * H), seen(W * H);
    float filter[2 * R + 1] = {0.05f, 0.1f, 0.2f, 0.3f, 0.2f, 0.1f, 0.05f}, *d[2];
    unsigned seed = 5;
    size_t pitch;
    for (float &v : image)
        v = next_float(&seed);
    auto pass = [&](const std::vector<float> &in, std::vector<float> &out, int dx, int dy) {
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                float sum = 0;
                for (int i = -R; i <= R; i++)
                    sum += filter[i + R] *
                           in[std::min(std::max(y + i * dy, 0), H - 1) * W + std::min(std::max(x + i * dx, 0), W - 1)];
                out[y * W + x] = sum;
            }
    };
    OK(cudaMemcpyToSymbol(weights, filter, sizeof filter));
    cudaTextureObject_t t[2];
    for (int i = 0; i < 2; i++) {
        OK(cudaMallocPitch(&d[i], &pitch, W * 4, H));
        cudaResourceDesc r = {};
        r.resType = cudaResourceTypePitch2D;
        r.res.pitch2D = {d[i], cudaCreateChannelDesc<float>(), W, H, pitch};
        cudaTextureDesc desc = {};
        desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
        OK(cudaCreateTextureObject(&t[i], &r, &desc, NULL));
    }
    OK(cudaMemcpy2D(d[0], pitch, image.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));
    line<<<dim3(4, 5), dim3(16, 8)>>>(t[0], d[1], pitch, false);
    line<<<dim3(4, 5), dim3(16, 8)>>>(t[1], d[0], pitch, true);
    OK(cudaMemcpy2D(seen.data(), W * 4, d[0], pitch, W * 4, H, cudaMemcpyDeviceToHost));
    pass(image, mid, 1, 0);
    pass(mid, image, 0, 1);
    for (int i = 0; i < W * H; i++)
        WANT(near(seen[i], image[i], 1e-5));
    for (int i = 0; i < 2; i++) {
        OK(cudaDestroyTextureObject(t[i]));
        OK(cudaFree(d[i]));
    }
}

// Returns the texel that a coordinate selects, by the CUDA C Programming Guide; -1 for the border.
static int texel(int i, int n, cudaTextureAddressMode mode) {
    if (mode == cudaAddressModeWrap)
        return ((i % n) + n) % n;
    if (mode == cudaAddressModeMirror) {
        int m = ((i % (2 * n)) + 2 * n) % (2 * n);
        return m < n ? m : 2 * n - 1 - m;
    }
    if (mode == cudaAddressModeBorder)
        return i < 0 || i >= n ? -1 : i;
    return std::min(std::max(i, 0), n - 1);
}

static void address_modes() {
    std::vector<uchar4> image(W * H);
    std::vector<float2> at;
    unsigned seed = 11;
    for (uchar4 &c : image)
        c = make_uchar4(next_random(&seed) >> 24, next_random(&seed) >> 24, next_random(&seed) >> 24, 255);
    for (int i = 0; i < 200; i++) {
        int x = (int)(next_random(&seed) >> 16) % (3 * W) - W, y = (int)(next_random(&seed) >> 16) % (3 * H) - H;
        at.push_back(make_float2((x + 0.5f) / W, (y + 0.5f) / H)); // the middle of a texel
    }
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    OK(cudaMallocArray(&array, &format, W, H, cudaArraySurfaceLoadStore));
    OK(cudaMemcpy2DToArray(array, 0, 0, image.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    float2 *where;
    float4 *out;
    std::vector<float4> seen(at.size());
    OK(cudaMalloc(&where, at.size() * sizeof *where));
    OK(cudaMalloc(&out, at.size() * sizeof *out));
    OK(cudaMemcpy(where, at.data(), at.size() * sizeof *where, cudaMemcpyHostToDevice));
    for (int filter = 0; filter < 2; filter++)
        for (cudaTextureAddressMode mode :
             {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder}) {
            cudaTextureDesc d = {};
            cudaTextureObject_t t;
            d.addressMode[0] = d.addressMode[1] = mode;
            d.normalizedCoords = 1;
            d.readMode = cudaReadModeNormalizedFloat;
            d.filterMode = filter ? cudaFilterModeLinear : cudaFilterModePoint;
            d.borderColor[0] = 0.25f;
            OK(cudaCreateTextureObject(&t, &r, &d, NULL));
            sample<<<(int)(at.size() + 31) / 32, 32>>>(t, where, out, (int)at.size());
            OK(cudaMemcpy(seen.data(), out, seen.size() * sizeof seen[0], cudaMemcpyDeviceToHost));
            for (size_t i = 0; i < at.size(); i++) {
                int x = texel((int)std::floor(at[i].x * W), W, mode), y = texel((int)std::floor(at[i].y * H), H, mode);
                float4 c = make_float4(0.25f, 0, 0, 0);
                if (x >= 0 && y >= 0) {
                    uchar4 b = image[y * W + x];
                    c = make_float4(b.x / 255.0f, b.y / 255.0f, b.z / 255.0f, b.w / 255.0f);
                }
                // with filtering, the hardware's weights are rounded to 1/256
                float slack = filter ? 0.02f : 1e-6f;
                WANT(near(seen[i].x, c.x, slack) && near(seen[i].y, c.y, slack) && near(seen[i].z, c.z, slack) &&
                     near(seen[i].w, c.w, slack));
            }
            OK(cudaDestroyTextureObject(t));
        }
    cudaSurfaceObject_t s;
    struct {
        int offset;
        float scale;
    } h = {7, 0.5f};
    OK(cudaMemcpyToSymbol(how, &h, sizeof h));
    OK(cudaCreateSurfaceObject(&s, &r));
    invert<<<dim3(2), dim3(32, H > 32 ? 32 : H)>>>(s);
    OK(cudaDestroySurfaceObject(s));
    std::vector<uchar4> back(W * H);
    OK(cudaMemcpy2DFromArray(back.data(), W * 4, array, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
    for (int i = 0; i < W * H; i++) {
        uchar4 a = image[i], b = back[i];
        if (i < 32 * W)
            WANT(b.x == 255 - a.x && b.y == (unsigned char)(a.y + 7) && b.z == a.z / 2 && b.w == a.w);
        else
            WANT(b.x == a.x && b.y == a.y);
    }
    OK(cudaFreeArray(array));
    OK(cudaFree(where));
    OK(cudaFree(out));
}

int main() {
    separable();
    address_modes();
    return done();
}
