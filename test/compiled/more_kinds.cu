// Kernels of kinds that kernels/ lacks, for the comparison with ptxas in test/frontend/passes/select_ptxas.c: a hash
// join, a random number generator, matrices and sorts in registers, string matching, hashes, filters, stencils, forces,
// transforms, quantised and sparse products, scans, and differential equations. No test runs them. Compiled by
//   nvcc -O3 -arch=sm_75 -ptx more_kinds.cu
typedef unsigned u32;
typedef unsigned long long u64;

__device__ u32 hashu(u32 x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}
extern "C" __global__ void hashjoin(const u32 *key, const u32 *val, const u32 *tab, const u32 *tabv, u32 mask, u32 *out,
                                    u32 *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u32 k = key[i], h = hashu(k) & mask;
    while (true) {
        u32 t = tab[h];
        if (t == k) {
            u32 p = atomicAdd(count, 1);
            out[2 * p] = val[i];
            out[2 * p + 1] = tabv[h];
            break;
        }
        if (t == 0xffffffffu)
            break;
        h = (h + 1) & mask;
    }
}
extern "C" __global__ void philox(u32 *out, u32 seed, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 4 >= n)
        return;
    u32 c0 = i, c1 = 0, c2 = 0, c3 = 0, k0 = seed, k1 = seed ^ 0xdeadbeef;
#pragma unroll
    for (int r = 0; r < 10; r++) {
        u32 h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2),
            l1 = 0xCD9E8D57u * c2;
        c0 = h1 ^ c1 ^ k0;
        c2 = h0 ^ c3 ^ k1;
        c1 = l1;
        c3 = l0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[i * 4] = c0;
    out[i * 4 + 1] = c1;
    out[i * 4 + 2] = c2;
    out[i * 4 + 3] = c3;
}
extern "C" __global__ void lu4(const float *a, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float m[4][4];
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < 4; c++)
            m[r][c] = a[(r * 4 + c) * n + i];
#pragma unroll
    for (int k = 0; k < 4; k++)
#pragma unroll
        for (int r = k + 1; r < 4; r++) {
            m[r][k] /= m[k][k];
#pragma unroll
            for (int c = k + 1; c < 4; c++)
                m[r][c] -= m[r][k] * m[k][c];
        }
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < 4; c++)
            o[(r * 4 + c) * n + i] = m[r][c];
}
extern "C" __global__ void match(const unsigned char *text, const unsigned char *pat, int m, int n, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - m)
        return;
    int j = 0;
    while (j < m && text[i + j] == pat[j])
        j++;
    if (j == m)
        atomicMin(out, i);
}
extern "C" __global__ void nbody(const float4 *p, float4 *acc, int n, float eps) {
    __shared__ float4 s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = p[i];
    float ax = 0, ay = 0, az = 0;
    for (int t = 0; t < n; t += 256) {
        s[threadIdx.x] = p[t + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 256; j++) {
            float dx = s[j].x - me.x, dy = s[j].y - me.y, dz = s[j].z - me.z, d = dx * dx + dy * dy + dz * dz + eps,
                  r = rsqrtf(d), f = s[j].w * r * r * r;
            ax += dx * f;
            ay += dy * f;
            az += dz * f;
        }
        __syncthreads();
    }
    acc[i] = make_float4(ax, ay, az, 0);
}
extern "C" __global__ void spmvv(const int *row, const int *col, const float *v, const float *x, float *y, int n) {
    int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, l = threadIdx.x & 31;
    if (w >= n)
        return;
    float s = 0;
    for (int k = row[w] + l; k < row[w + 1]; k += 32)
        s += v[k] * x[col[k]];
    for (int o = 16; o; o /= 2)
        s += __shfl_down_sync(0xffffffffu, s, o);
    if (!l)
        y[w] = s;
}
extern "C" __global__ void softmax(const float *x, float *y, int cols) {
    int r = blockIdx.x;
    const float *p = x + (long)r * cols;
    float m = -1e30f;
    for (int c = threadIdx.x; c < cols; c += 32)
        m = fmaxf(m, p[c]);
    for (int o = 16; o; o /= 2)
        m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
    float s = 0;
    for (int c = threadIdx.x; c < cols; c += 32)
        s += __expf(p[c] - m);
    for (int o = 16; o; o /= 2)
        s += __shfl_xor_sync(0xffffffffu, s, o);
    float q = 1 / s;
    for (int c = threadIdx.x; c < cols; c += 32)
        y[(long)r * cols + c] = __expf(p[c] - m) * q;
}
extern "C" __global__ void sten27(const float *in, float *out, int nx, int ny, int nz, float c0, float c1, float c2,
                                  float c3) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= nx - 1 || y >= ny - 1)
        return;
    for (int z = 1; z < nz - 1; z++) {
        float s = 0;
#pragma unroll
        for (int dz = -1; dz <= 1; dz++)
#pragma unroll
            for (int dy = -1; dy <= 1; dy++)
#pragma unroll
                for (int dx = -1; dx <= 1; dx++) {
                    int k = (dx != 0) + (dy != 0) + (dz != 0);
                    float c = k == 0 ? c0 : k == 1 ? c1 : k == 2 ? c2 : c3;
                    s += c * in[((z + dz) * ny + y + dy) * nx + x + dx];
                }
        out[(z * ny + y) * nx + x] = s;
    }
}
extern "C" __global__ void sha(const u32 *in, u32 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    u32 w[16], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
#pragma unroll
    for (int k = 0; k < 16; k++)
        w[k] = in[k * n + i];
#pragma unroll
    for (int k = 0; k < 32; k++) {
        u32 wk = w[k & 15];
        if (k >= 16) {
            u32 a = w[(k + 1) & 15], b = w[(k + 14) & 15];
            wk += w[(k + 9) & 15] + (__funnelshift_r(a, a, 7) ^ __funnelshift_r(a, a, 18) ^ (a >> 3)) +
                  (__funnelshift_r(b, b, 17) ^ __funnelshift_r(b, b, 19) ^ (b >> 10));
            w[k & 15] = wk;
        }
        u32 e = s[4],
            t1 = s[7] + (__funnelshift_r(e, e, 6) ^ __funnelshift_r(e, e, 11) ^ __funnelshift_r(e, e, 25)) +
                 ((e & s[5]) ^ (~e & s[6])) + wk + 0x428a2f98u * (k + 1),
            a = s[0],
            t2 = (__funnelshift_r(a, a, 2) ^ __funnelshift_r(a, a, 13) ^ __funnelshift_r(a, a, 22)) +
                 ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        s[7] = s[6];
        s[6] = s[5];
        s[5] = e;
        s[4] = s[3] + t1;
        s[3] = s[2];
        s[2] = s[1];
        s[1] = a;
        s[0] = t1 + t2;
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        out[k * n + i] = s[k];
}
extern "C" __global__ void mandel(int *out, int w, int h, double x0, double y0, double d, int it) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    double cx = x0 + x * d, cy = y0 + y * d, a = 0, b = 0;
    int k = 0;
    while (k < it && a * a + b * b < 4) {
        double t = a * a - b * b + cx;
        b = 2 * a * b + cy;
        a = t;
        k++;
    }
    out[y * w + x] = k;
}
struct c2 {
    float x, y;
};
__device__ c2 cadd(c2 a, c2 b) { return {a.x + b.x, a.y + b.y}; }
__device__ c2 csub(c2 a, c2 b) { return {a.x - b.x, a.y - b.y}; }
__device__ c2 cmul(c2 a, c2 b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
extern "C" __global__ void fft8(const c2 *in, c2 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c2 v[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = in[k * n + i];
    const float r = 0.70710678f;
    c2 a0 = cadd(v[0], v[4]), a1 = csub(v[0], v[4]), a2 = cadd(v[2], v[6]), a3 = csub(v[2], v[6]),
       a4 = cadd(v[1], v[5]), a5 = csub(v[1], v[5]), a6 = cadd(v[3], v[7]), a7 = csub(v[3], v[7]);
    a3 = {a3.y, -a3.x};
    a7 = {a7.y, -a7.x};
    c2 b0 = cadd(a0, a2), b1 = csub(a0, a2), b2 = cadd(a1, a3), b3 = csub(a1, a3), b4 = cadd(a4, a6), b5 = csub(a4, a6),
       b6 = cadd(a5, a7), b7 = csub(a5, a7);
    b5 = {b5.y, -b5.x};
    b6 = {r * (b6.x + b6.y), r * (b6.y - b6.x)};
    b7 = {r * (b7.y - b7.x), -r * (b7.x + b7.y)};
    c2 w[8] = {cadd(b0, b4), cadd(b2, b6), cadd(b1, b5), cadd(b3, b7),
               csub(b0, b4), csub(b2, b6), csub(b1, b5), csub(b3, b7)};
    float ph = -6.2831853f * i / (8.f * n);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float s, c;
        __sincosf(ph * k, &s, &c);
        out[i * 8 + k] = cmul(w[k], {c, s});
    }
}
extern "C" __global__ void mergepath(const int *a, int na, const int *b, int nb, int *out, int per) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, d = min(t * per, na + nb);
    int lo = max(0, d - nb), hi = min(d, na);
    while (lo < hi) {
        int m = (lo + hi) / 2;
        if (a[m] <= b[d - 1 - m])
            lo = m + 1;
        else
            hi = m;
    }
    int i = lo, j = d - lo;
    for (int k = 0; k < per && i + j < na + nb; k++) {
        bool ta = j >= nb || (i < na && a[i] <= b[j]);
        out[d + k] = ta ? a[i++] : b[j++];
    }
}
extern "C" __global__ void bilateral(const float *in, float *out, int w, int h, float is, float ir) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float c = in[y * w + x], s = 0, t = 0;
    for (int dy = -3; dy <= 3; dy++)
        for (int dx = -3; dx <= 3; dx++) {
            int xx = min(max(x + dx, 0), w - 1), yy = min(max(y + dy, 0), h - 1);
            float v = in[yy * w + xx], d = v - c, g = __expf(-(dx * dx + dy * dy) * is - d * d * ir);
            s += g * v;
            t += g;
        }
    out[y * w + x] = s / t;
}
extern "C" __global__ void bitonic(u32 *d) {
    int l = threadIdx.x & 31;
    u32 v = d[blockIdx.x * blockDim.x + threadIdx.x];
#pragma unroll
    for (int k = 2; k <= 32; k *= 2)
#pragma unroll
        for (int j = k / 2; j; j /= 2) {
            u32 o = __shfl_xor_sync(0xffffffffu, v, j);
            bool up = ((l & k) == 0) == ((l & j) == 0);
            v = up ? min(v, o) : max(v, o);
        }
    d[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
extern "C" __global__ void qgemv(const u32 *q, const float *scale, const float *x, float *y, int cols) {
    int row = blockIdx.x, l = threadIdx.x;
    float s = 0;
    for (int c = l * 8; c < cols; c += blockDim.x * 8) {
        u32 w = q[(row * cols + c) / 8];
        float t = 0;
#pragma unroll
        for (int k = 0; k < 8; k++)
            t += (float)((int)(w >> (4 * k) & 15) - 8) * x[c + k];
        s += t * scale[(row * cols + c) / 32];
    }
    __shared__ float r[8];
    for (int o = 16; o; o /= 2)
        s += __shfl_xor_sync(0xffffffffu, s, o);
    if ((l & 31) == 0)
        r[l / 32] = s;
    __syncthreads();
    if (l == 0) {
        float z = 0;
        for (int k = 0; k < blockDim.x / 32; k++)
            z += r[k];
        y[row] = z;
    }
}
__device__ float cnd(float d) {
    float k = 1 / (1 + 0.2316419f * fabsf(d)),
          c = 0.39894228f * __expf(-0.5f * d * d) *
              (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1 - c : c;
}
extern "C" __global__ void blsch(const float *S, const float *X, const float *T, float *c, float *p, float r, float v,
                                 int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float sq = sqrtf(T[i]), d1 = (__logf(S[i] / X[i]) + (r + 0.5f * v * v) * T[i]) / (v * sq), d2 = d1 - v * sq,
              n1 = cnd(d1), n2 = cnd(d2), e = __expf(-r * T[i]);
        c[i] = S[i] * n1 - X[i] * e * n2;
        p[i] = X[i] * e * (1 - n2) - S[i] * (1 - n1);
    }
}
extern "C" __global__ void gemmreg(const float *A, const float *B, float *C, int n) {
    __shared__ float as[16][64], bs[16][64];
    int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    float acc[4][4] = {};
    for (int k = 0; k < n; k += 16) {
#pragma unroll
        for (int q = 0; q < 4; q++) {
            int e = threadIdx.x + q * 256;
            as[e / 64][e % 64] = A[(k + e / 64) * n + blockIdx.y * 64 + e % 64];
            bs[e / 64][e % 64] = B[(k + e / 64) * n + blockIdx.x * 64 + e % 64];
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 16; kk++) {
            float a[4], b[4];
#pragma unroll
            for (int q = 0; q < 4; q++)
                a[q] = as[kk][ty * 4 + q], b[q] = bs[kk][tx * 4 + q];
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            C[(blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 + tx * 4 + j] = acc[i][j];
}
extern "C" __global__ void lj(const float4 *x, const int *nb, const int *nn, float4 *f, int n, int mx, float rc) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 p = x[i];
    float fx = 0, fy = 0, fz = 0;
    for (int k = 0; k < nn[i]; k++) {
        int j = nb[k * n + i];
        float4 q = x[j];
        float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z, r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < rc) {
            float i2 = 1 / r2, i6 = i2 * i2 * i2, g = i6 * (48 * i6 - 24) * i2;
            fx += g * dx;
            fy += g * dy;
            fz += g * dz;
        }
    }
    f[i] = make_float4(fx, fy, fz, 0);
}
extern "C" __global__ void scan64(const u64 *in, u64 *out, int n) {
    __shared__ u64 s[256];
    int t = threadIdx.x;
    u64 v = in[blockIdx.x * 256 + t];
    s[t] = v;
    __syncthreads();
    for (int o = 1; o < 256; o *= 2) {
        u64 a = t >= o ? s[t - o] : 0;
        __syncthreads();
        s[t] += a;
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = s[t] - v;
}
extern "C" __global__ void rk4(double *y, int n, double h, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double a = y[i], b = y[n + i];
    for (int s = 0; s < steps; s++) {
        double k1 = b, l1 = -a + b * (1 - a * a), k2 = b + h / 2 * l1, a2 = a + h / 2 * k1,
               l2 = -a2 + k2 * (1 - a2 * a2), k3 = b + h / 2 * l2, a3 = a + h / 2 * k2, l3 = -a3 + k3 * (1 - a3 * a3),
               k4 = b + h * l3, a4 = a + h * k3, l4 = -a4 + k4 * (1 - a4 * a4);
        a += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
        b += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
    }
    y[i] = a;
    y[n + i] = b;
}
