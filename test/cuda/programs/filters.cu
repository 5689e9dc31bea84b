// Image filters with textures of bytes read as fractions, surfaces, gathers of four texels, and cube maps. Also solvers
// of equations, particles and distances, as in common benchmark collections.
#include "mistakes.h"
#include <cstring>
#include <vector>
__device__ float euclid(float4 a, float4 b, float d) {
    float m = (b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y) + (b.z - a.z) * (b.z - a.z);
    return __expf(-m / (2 * d * d));
}
__constant__ float gauss[64];
__device__ unsigned pack(float4 c) {
    c.x = __saturatef(fabsf(c.x));
    c.y = __saturatef(fabsf(c.y));
    c.z = __saturatef(fabsf(c.z));
    c.w = __saturatef(fabsf(c.w));
    return (unsigned(c.w * 255) << 24) | (unsigned(c.z * 255) << 16) | (unsigned(c.y * 255) << 8) | unsigned(c.x * 255);
}
__global__ void bilateral(unsigned *out, int w, int h, float e, int r, cudaTextureObject_t t) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float sum = 0;
    float4 s = make_float4(0, 0, 0, 0), c = tex2D<float4>(t, x, y);
    for (int i = -r; i <= r; i++)
        for (int j = -r; j <= r; j++) {
            float4 p = tex2D<float4>(t, x + j, y + i);
            float f = gauss[i + r] * gauss[j + r] * euclid(p, c, e);
            s.x += f * p.x;
            s.y += f * p.y;
            s.z += f * p.z;
            s.w += f * p.w;
            sum += f;
        }
    out[y * w + x] = pack(make_float4(s.x / sum, s.y / sum, s.z / sum, s.w / sum));
}
__global__ void box(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float s = 0;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) {
            float v;
            surf2Dread(&v, in, (x + j) * 4, y + i, cudaBoundaryModeClamp);
            s += v;
        }
    surf2Dwrite(s / 9, out, x * 4, y, cudaBoundaryModeTrap);
}
__global__ void gather(cudaTextureObject_t t, float4 *o) {
    o[threadIdx.x] = tex2Dgather<float4>(t, threadIdx.x + 1.0f, 1.0f, 0);
}
__global__ void ints(cudaTextureObject_t t, int4 *o) { o[threadIdx.x] = tex1Dfetch<int4>(t, threadIdx.x); }
__global__ void cube(cudaTextureObject_t t, float *o) {
    o[0] = texCubemap<float>(t, 1, 0, 0);
    o[1] = texCubemap<float>(t, 0, -1, 0);
    o[2] = texCubemap<float>(t, 0, 0, 1);
}
struct Params {
    double a[5];
    float dt;
    int steps;
};
__global__ void ode(const __grid_constant__ Params p, double *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = y[i];
    for (int s = 0; s < p.steps; s++) {
        double k1 = -p.a[i % 5] * v, k2 = -p.a[i % 5] * (v + 0.5 * p.dt * k1), k3 = -p.a[i % 5] * (v + 0.5 * p.dt * k2),
               k4 = -p.a[i % 5] * (v + p.dt * k3);
        v += p.dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    y[i] = v;
}
__global__ void nn(const float2 *p, float *d, int n, float lat, float lng) {
    int g = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
    if (g < n)
        d[g] = sqrtf((lat - p[g].x) * (lat - p[g].x) + (lng - p[g].y) * (lng - p[g].y));
}
__global__ void resample(const double *cdf, const double *u, const double *x, double *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int k = n - 1;
        for (int j = 0; j < n; j++)
            if (cdf[j] >= u[i]) {
                k = j;
                break;
            }
        o[i] = x[k];
    }
}
__global__ void weights(double *w, const double *x, int n, double *total) {
    __shared__ double s[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? w[i] = exp(-x[i] * x[i] / 2) / sqrt(2 * M_PI) : 0;
    __syncthreads();
    for (int d = 64; d; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (!threadIdx.x)
        atomicAdd(total, s[0]);
}
int main() {
    const int w = 40, h = 30;
    unsigned st = 3;
    std::vector<uchar4> img(w * h);
    for (auto &c : img) {
        unsigned r = next_random(&st);
        memcpy(&c, &r, 4);
    }
    uchar4 *d;
    size_t pitch;
    OK(cudaMallocPitch(&d, &pitch, w * 4, h));
    OK(cudaMemcpy2D(d, pitch, img.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    cudaResourceDesc r;
    memset(&r, 0, sizeof r);
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = d;
    r.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
    r.res.pitch2D.width = w;
    r.res.pitch2D.height = h;
    r.res.pitch2D.pitchInBytes = pitch;
    cudaTextureDesc td;
    memset(&td, 0, sizeof td);
    td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
    td.filterMode = cudaFilterModePoint;
    td.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t t;
    OK(cudaCreateTextureObject(&t, &r, &td, NULL));
    float g[64];
    for (int i = 0; i < 7; i++)
        g[i] = expf(-(i - 3.0f) * (i - 3) / 8);
    OK(cudaMemcpyToSymbol(gauss, g, sizeof(float) * 7));
    unsigned *o;
    OK(cudaMalloc(&o, w * h * 4));
    bilateral<<<dim3(3, 2), dim3(16, 16)>>>(o, w, h, 0.1f, 3, t);
    std::vector<unsigned> out(w * h);
    OK(cudaMemcpy(out.data(), o, w * h * 4, cudaMemcpyDeviceToHost));
    auto at = [&](int x, int y) {
        x = x < 0 ? 0 : x >= w ? w - 1 : x;
        y = y < 0 ? 0 : y >= h ? h - 1 : y;
        return img[y * w + x];
    };
    int off = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            double s = 0, sx = 0;
            uchar4 c = at(x, y);
            for (int i = -3; i <= 3; i++)
                for (int j = -3; j <= 3; j++) {
                    uchar4 p = at(x + j, y + i);
                    double m = ((p.x - c.x) * (p.x - c.x) + (p.y - c.y) * (p.y - c.y) + (p.z - c.z) * (p.z - c.z)) /
                               65025.0,
                           f = g[i + 3] * g[j + 3] * exp(-m / 0.02);
                    s += f;
                    sx += f * p.x / 255;
                }
            if (x < 32)
                off += abs(int(out[y * w + x] & 255) - int(sx / s * 255)) > 1;
        }
    WANT(off == 0);
    cudaArray_t a, b;
    auto f1 = cudaCreateChannelDesc<float>();
    OK(cudaMallocArray(&a, &f1, 16, 16, cudaArraySurfaceLoadStore | cudaArrayTextureGather));
    OK(cudaMallocArray(&b, &f1, 16, 16, cudaArraySurfaceLoadStore));
    std::vector<float> in(256), bo(256);
    for (int i = 0; i < 256; i++)
        in[i] = i;
    OK(cudaMemcpy2DToArray(a, 0, 0, in.data(), 64, 64, 16, cudaMemcpyHostToDevice));
    cudaSurfaceObject_t sa, sb;
    memset(&r, 0, sizeof r);
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    OK(cudaCreateSurfaceObject(&sa, &r));
    cudaResourceDesc r2 = r;
    r2.res.array.array = b;
    OK(cudaCreateSurfaceObject(&sb, &r2));
    box<<<dim3(2, 2), dim3(8, 8)>>>(sa, sb, 16, 16);
    OK(cudaMemcpy2DFromArray(bo.data(), 64, b, 0, 0, 64, 16, cudaMemcpyDeviceToHost));
    WANT(fabs(bo[17] - 17) < 1e-4 && fabs(bo[0] - 51.0 / 9) < 1e-4);
    memset(&td, 0, sizeof td);
    td.readMode = cudaReadModeElementType;
    cudaTextureObject_t tg;
    OK(cudaCreateTextureObject(&tg, &r, &td, NULL));
    float4 *fo, hf[4];
    OK(cudaMalloc(&fo, 64));
    gather<<<1, 4>>>(tg, fo);
    OK(cudaMemcpy(hf, fo, 64, cudaMemcpyDeviceToHost));
    WANT(hf[0].x == 16 && hf[0].y == 17 && hf[0].z == 1 && hf[0].w == 0);
    int4 *di, hi[8];
    OK(cudaMalloc(&di, 128));
    for (int i = 0; i < 8; i++)
        hi[i] = make_int4(i, -i, i * i, 7);
    OK(cudaMemcpy(di, hi, 128, cudaMemcpyHostToDevice));
    memset(&r, 0, sizeof r);
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = di;
    r.res.linear.desc = cudaCreateChannelDesc<int4>();
    r.res.linear.sizeInBytes = 128;
    cudaTextureObject_t ti;
    OK(cudaCreateTextureObject(&ti, &r, &td, NULL));
    int4 *io, ho[8];
    OK(cudaMalloc(&io, 128));
    ints<<<1, 8>>>(ti, io);
    OK(cudaMemcpy(ho, io, 128, cudaMemcpyDeviceToHost));
    WANT(ho[5].z == 25 && ho[5].y == -5);
    cudaArray_t ca;
    cudaError_t ce = cudaMalloc3DArray(&ca, &f1, make_cudaExtent(4, 4, 6), cudaArrayCubemap);

    cudaGetLastError();
    if (!ce) {
        std::vector<float> cv(96);
        for (int i = 0; i < 96; i++)
            cv[i] = i / 16;
        cudaMemcpy3DParms m = {};
        m.srcPtr = make_cudaPitchedPtr(cv.data(), 16, 4, 4);
        m.dstArray = ca;
        m.extent = make_cudaExtent(4, 4, 6);
        m.kind = cudaMemcpyHostToDevice;
        OK(cudaMemcpy3D(&m));
        memset(&r, 0, sizeof r);
        r.resType = cudaResourceTypeArray;
        r.res.array.array = ca;
        cudaTextureObject_t tc;
        OK(cudaCreateTextureObject(&tc, &r, &td, NULL));
        float *co, hc[3];
        OK(cudaMalloc(&co, 12));
        cube<<<1, 1>>>(tc, co);
        OK(cudaMemcpy(hc, co, 12, cudaMemcpyDeviceToHost));
        WANT(hc[0] == 0 && hc[1] == 3 && hc[2] == 4);
    }
    Params p = {{1, 2, 3, 4, 5}, 0.01f, 100};
    std::vector<double> y(64, 1);
    double *dy;
    OK(cudaMalloc(&dy, 512));
    OK(cudaMemcpy(dy, y.data(), 512, cudaMemcpyHostToDevice));
    ode<<<2, 32>>>(p, dy);
    OK(cudaMemcpy(y.data(), dy, 512, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        WANT(near(y[i], exp(-p.a[i % 5]), 1e-5));
    const int n = 300;
    std::vector<double> x(n), u(n), cdf(n), xo(n), wt(n);
    for (int i = 0; i < n; i++) {
        x[i] = next_float(&st) * 4 - 2;
        u[i] = next_float(&st);
        cdf[i] = (i + 1.0) / n;
    }
    double *dx, *du, *dc, *dox, *dw, *tot, ht;
    OK(cudaMalloc(&dx, n * 8));
    OK(cudaMalloc(&du, n * 8));
    OK(cudaMalloc(&dc, n * 8));
    OK(cudaMalloc(&dox, n * 8));
    OK(cudaMalloc(&dw, n * 8));
    OK(cudaMalloc(&tot, 8));
    OK(cudaMemset(tot, 0, 8));
    OK(cudaMemcpy(dx, x.data(), n * 8, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(du, u.data(), n * 8, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(dc, cdf.data(), n * 8, cudaMemcpyHostToDevice));
    resample<<<3, 128>>>(dc, du, dx, dox, n);
    OK(cudaMemcpy(xo.data(), dox, n * 8, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < n - 1 && cdf[k] < u[i])
            k++;
        WANT(xo[i] == x[k]);
    }
    weights<<<3, 128>>>(dw, dx, n, tot);
    OK(cudaMemcpy(&ht, tot, 8, cudaMemcpyDeviceToHost));
    double wantt = 0;
    for (double q : x)
        wantt += exp(-q * q / 2) / sqrt(2 * M_PI);
    WANT(near(ht, wantt, 1e-9));
    float2 *pts;
    float *dist, hd[100];
    OK(cudaMallocManaged(&pts, 800));
    for (int i = 0; i < 100; i++)
        pts[i] = make_float2(i, 2 * i);
    OK(cudaMalloc(&dist, 400));
    nn<<<dim3(2, 2), 32>>>(pts, dist, 100, 30, 90);
    OK(cudaMemcpy(hd, dist, 400, cudaMemcpyDeviceToHost));
    WANT(near(hd[40], sqrt(200.0), 1e-6));
    return done();
}
