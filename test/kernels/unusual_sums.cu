// Sums in trees and ladders, chains, branches and loops of floats, shared memory. Comments say what is special.
// Compiled by: nvcc -ptx -arch=sm_80 -Xcicc -O1 (unusual_sums_nvcc.ptx), and by clang -O1 -x cuda --cuda-device-only -nocudainc
// -nocudalib --cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx64 -S (unusual_sums_clang.ptx).
#include "unusual.h"

KERNEL(hillis) { // scan with two buffers
    __shared__ u32 a[2][1024];
    PLACE;
    int p = 0;
    a[0][at] = in[i];
    wait_all();
    for (int d = 1; d < all; d <<= 1, p ^= 1) {
        a[p ^ 1][at] = at >= d ? a[p][at] + a[p][at - d] : a[p][at];
        wait_all();
    }
    out[i] = a[p][at] + a[p][all - 1] * (u32)k;
}
KERNEL(bitonic) { // sorts the block's first m elements; m is the largest power of two
    __shared__ u32 a[1024];
    PLACE;
    int m = 1;
    while (2 * m <= all)
        m *= 2;
    a[at] = in[i] >> 3;
    wait_all();
    for (int w = 2; w <= m; w <<= 1)
        for (int d = w >> 1; d > 0; d >>= 1) {
            int o = at ^ d;
            if (at < m && o > at) {
                u32 p = a[at], q = a[o];
                if ((p > q) == ((at & w) == 0))
                    a[at] = q, a[o] = p;
            }
            wait_all();
        }
    out[i] = a[at];
}
KERNEL(turned) { // a transposed tile with an additional column
    __shared__ u32 t[32][33];
    PLACE;
    for (int r = 0; r < n; r++) {
        for (int s = at; s < 1024; s += all)
            t[s / 32][s % 32] = in[s + r * 64 + cta];
        wait_all();
        u32 v = 0;
        for (int s = 0; s < 8; s++)
            v = v * 3 + t[at & 31][(at / 32 + s * k) & 31];
        wait_all();
        out[i] += v;
    }
}
KERNEL(trees) { // four trees of floats
    __shared__ float a[1024];
    PLACE;
    int m = 1;
    while (2 * m <= all)
        m *= 2;
    float r = 0;
    a[at] = fi[i];
    wait_all();
    for (int s = m / 2; s > 0; s >>= 1) { // from far to near
        if (at < s)
            a[at] += a[at + s];
        wait_all();
    }
    r = a[0];
    wait_all();
    a[at] = fi[i + 1];
    wait_all();
    for (int s = 1; s < m; s *= 2) { // from near to far, by every second thread, every fourth, ...
        if (at % (2 * s) == 0 && at + s < m)
            a[at] += a[at + s];
        wait_all();
    }
    r = r * 3 + a[0];
    wait_all();
    a[at] = fi[i + 2];
    wait_all();
    for (int s = 1; s < m; s *= 2) { // from near to far, by adjacent threads
        int j = 2 * s * at;
        if (j + s < m)
            a[j] += a[j + s];
        wait_all();
    }
    r = r * 3 + a[0];
    wait_all();
    a[at] = fi[i + 3];
    wait_all();
    for (int s = all; s > 1;) { // no power of two
        int half = (s + 1) / 2;
        if (at + half < s)
            a[at] += a[at + half];
        wait_all();
        s = half;
    }
    fo[i] = r * 3 + a[0] + a[at];
}
KERNEL(ladders) { // butterflies, ladders whose partial sums are used, parts of a warp
    PLACE;
    float v = fi[i], w = fi[i + 1], u = fi[i + 2], t = fi[i + 3], q = v * w;
    for (int d = 16; d; d >>= 1)
        v += bflyf(v, d);
    for (int d = 1; d < 32; d <<= 1)
        w += bflyf(w, d);
    for (int d = 16; d; d >>= 1)
        u += downf(u, d);
    for (int d = 4; d; d >>= 1)
        t += bflyf(t, d);
    for (int d = 16; d; d >>= 1)
        q += downf(q, d);
    fo[i] = v + w * 3 + u * 5 + t * 7;
    if ((at & 31) == 0)
        fo[2048 + i] = q;
    if (at == k)
        out[i] = (u32)(int)(v * 16);
}
KERNEL(twosums) { // two sums and a maximum in one loop, of values that a loop computed
    PLACE;
    float a = 0, b = 1;
    for (int s = 0; s < n; s++) {
        a = fma_(fi[i + s], fi[at + s], a);
        b = b * 0.75f + fi[i + s * k];
    }
    float m = a;
    for (int d = 16; d; d >>= 1) {
        a += bflyf(a, d);
        b += bflyf(b, d);
        float o = bflyf(m, d);
        m = m > o ? m : o;
    }
    fo[i] = a - b * m;
}
KERNEL(chains) { // long expressions, shared terms, values that live on
    PLACE;
    float a = fi[i], b = fi[i + 1], c = fi[i + 2], d = fi[i + 3];
    float p = ((a * b + c) * d - a) * b + d, q = (a + b) * (c + d) - (a - b) * (c - d), r = p * q + (p - q), t = a;
    for (int s = 0; s < n; s++) {
        t = ((t * 0.5f + b) * 0.25f - c) * 0.125f + d;
        r = r + t * p;
        q = q * 0.5f + (t - r) * 0.01f;
        if (s == k)
            p = q;
    }
    fo[i] = p + q * 2 + r + t;
    fo[2048 + i] = -(a * b) + fma_(-c, d, p);
}
KERNEL(sides) { // branches with short sides, same and other registers, nested, one side empty
    PLACE;
    float a = fi[i], b = fi[i + 1], c = fi[at], d = 1, e = 2;
    for (int s = 0; s < n; s++) {
        if (a > b)
            c = a * b + c;
        else
            c = a - b;
        if (c < 1)
            d = c * 2;
        else
            e = c * 3 + d;
        if (x & 1)
            d += 1;
        if (d > e) {
            if (a < 0)
                a = a + d;
            else
                a = a * 0.5f;
        } else
            b = b - 0.25f;
        if (s == at)
            c = -c;
        e = (c > 0 ? a : b) + (d != e ? 1 : 0) * 0.5f;
    }
    fo[i] = a + b * 2 + c * 3 + d * 5 + e * 7;
}
KERNEL(special) { // minima, square roots, division, conversion, between chains
    PLACE;
    float a = fi[i] * fi[i], b = fi[i + 1], v = 0;
    for (int s = 0; s < n; s++) {
        float r = a < b ? a : b, m = r * 2 + a;
        v = v * 0.5f + m;
        v = v + (float)(int)(m * 10) * 0.1f;
        v = v / (a + 1);
        a = a * 1.01f + (float)s;
        v += (float)i * 0.001f;
    }
    fo[i] = v;
    ((double *)fo)[2048 + i] = (double)v * 1.5 + b;
}
KERNEL(recurrences) { // recurrences over one, two and three iterations; loads of stored words
    PLACE;
    float *f = fo + 16 * (i & 127);
    if (i < 128) {
        float a = fi[i], b = fi[i + 1], c = 0;
        for (int s = 3; s < 16; s++) {
            float t = a * 0.5f + b;
            f[s] = f[s - 3] + fi[s + i] * t + c;
            c = b, b = a, a = t;
        }
    }
    u32 v = in[i], w = 0;
    for (int s = 0; s < n * 3; s++) {
        w += v;
        v = v * 1664525u + in[(s * k + i) & 4095];
        if (s & 1)
            w ^= in[i + s];
    }
    out[i] = w;
}
KERNEL(chase) { // data determine pointers; strides change
    PLACE;
    u32 p = (u32)i, v = 0;
    for (int s = 0; s < 2 * n; s++) {
        p = in[p & 8191] & 8191;
        v += in[(s < n ? s * 32 : 8191 - s * 64) + at % 32] + p;
    }
    for (int s = 0; s < n; s++)
        v ^= in[(i * 67 + s * 1031) & 8191];
    out[i] = v;
}
KERNEL(column) { // long strides, and a float sum whose number of steps depends on the thread
    PLACE;
    float v = 0;
    for (int s = 0; s < (i % (n + 2)); s++)
        v = v * 0.5f + fi[s * 256 + at % 256];
    for (int s = 0; s < n; s++)
        v += fi[(n - s) * 300 + i] * fi[s];
    fo[i] = v;
}
KERNEL(matmul) { // a small product of matrices with tiles and guarded edges
    __shared__ float a[64], b[64];
    PLACE;
    const int r = at / 8 % 8, c = at % 8;
    float v = 0;
    for (int t = 0; t < n; t++) {
        for (int j = at; j < 64; j += all) {
            a[j] = t * 8 + j % 8 < 8 * n - k ? fi[j / 8 * 64 + t * 8 + j % 8] : 0;
            b[j] = fi[(t * 8 + j / 8) * 16 + j % 8 + cta];
        }
        wait_all();
        for (int s = 0; s < 8; s++)
            v = fma_(a[r * 8 + s], b[s * 8 + c], v);
        wait_all();
    }
    fo[i] = v;
}
KERNEL(stencil3) { // three planes in registers, a loop over z
    PLACE;
    float below = fi[i], here = fi[i + 64], above;
    for (int s = 1; s <= n; s++) {
        above = fi[i + (s + 1) * 64];
        float v = (below + above) * 0.25f + here * 0.5f;
        if (x > 0 && x < dim_x - 1)
            v += (fi[i + s * 64 - 1] + fi[i + s * 64 + 1]) * 0.125f - here;
        fo[i + (s & 1) * 2048] = v;
        below = here, here = above;
    }
}
KERNEL(tiles) { // two tiles and a halo in shared memory, odd shapes
    __shared__ u32 a[34 * 34];
    PLACE;
    u32 v = 0;
    for (int r = 0; r < n; r++) {
        for (int s = at; s < 34 * 34; s += all)
            a[s] = in[s + r * 40 + cta * 3];
        wait_all();
        const int c = at % 32 + 1, l = at / 32 % 32 + 1;
        v = v * 3 + a[l * 34 + c] + a[(l - 1) * 34 + c] + a[(l + 1) * 34 + c] + a[l * 34 + c - 1] + a[l * 34 + c + 1];
        wait_all();
    }
    out[i] = v;
}
KERNEL(waves) { // a wavefront over shared memory: the round selects the active threads
    __shared__ u32 a[1025];
    PLACE;
    a[at] = in[i];
    if (at == 0)
        a[all] = in[k];
    wait_all();
    for (int r = 1; r < 2 * n; r++) {
        u32 v = 0;
        const bool mine = at <= r && r - at < n;
        if (mine)
            v = a[at] * 3 + a[at + 1] + in[r + at];
        wait_all();
        if (mine)
            a[at] = v;
        wait_all();
    }
    out[i] = a[at];
}
KERNEL(warp_scan) { // a scan up, votes, indexed shuffles
    PLACE;
    u32 v = in[i] & 255, s = v;
    for (int d = 1; d < 32; d <<= 1) {
        u32 t = up(s, d);
        if ((at & 31) >= d)
            s += t;
    }
    u32 b = ballot((v & 3) == 1), w = idx(s, (at * 7 + k) & 31);
    for (int r = 0; r < n; r++) {
        if (ballot(w > (u32)r) == 0xffffffffu)
            w = w * 3 + in[i + r];
        w ^= idx(w, r);
    }
    out[i] = s + b + w;
}
KERNEL(warp_trees) { // trees of one warp each, in rows of shared memory; sums of 16 and of 8
    __shared__ volatile float a[1024 + 32];
    PLACE;
    const int l = at & 31;
    a[at] = fi[i] * fi[i + 1];
    wait_all();
    if (l < 16)
        a[at] = a[at] + a[at + 16];
    sync_warp();
    if (l < 8)
        a[at] = a[at] + a[at + 8];
    sync_warp();
    if (l < 4)
        a[at] = a[at] + a[at + 4];
    sync_warp();
    if (l < 2)
        a[at] = a[at] + a[at + 2];
    sync_warp();
    if (l < 1)
        a[at] = a[at] + a[at + 1];
    sync_warp();
    float v = a[at & ~31] + a[at];
    wait_all();
    a[at] = fi[i + 2];
    wait_all();
    if (at < 32) {
        float q = a[at];
        for (int s = 32; s < (all < 128 ? all : 128); s += 32)
            q = q + a[at + s];
        for (int d = 16; d > 0; d >>= 1)
            q += downf(q, d);
        a[at] = q;
    }
    wait_all();
    fo[i] = v + a[0];
    if (at < 32)
        fo[2048 + cta * 32 + at] = a[at];
}
KERNEL(warp_partial) { // ladders that stop early, begin late, repeat, or have other operations between steps
    PLACE;
    float v = fi[i], w = fi[i + 1], m;
    for (int d = 16; d > 1; d >>= 1)
        v += bflyf(v, d);
    for (int d = 2; d < 16; d <<= 1)
        w += bflyf(w, d);
    m = v * w;
    for (int d = 16; d; d >>= 1)
        m += bflyf(m, d);
    m = m * 0.01f;
    for (int d = 16; d; d >>= 1)
        m += bflyf(m, d);
    float t = fi[i + 2];
    t += downf(t, 16);
    t += downf(t, 8);
    fo[4096 + i] = t;
    t += downf(t, 4);
    t += downf(t, 2);
    t += downf(t, 1);
    fo[i] = v + w * 2 + m;
    if (k > 2)
        fo[2048 + i] = t;
    else if ((at & 31) == 0)
        fo[2048 + i] = t;
}
KERNEL(serials) { // one thread adds a row
    __shared__ float a[1024];
    PLACE;
    a[at] = fi[i];
    wait_all();
    if (at % 32 == 0) {
        float s = 0, t = a[at];
        const int m = all - at < 32 ? all - at : 32;
        for (int j = 0; j < m; j++)
            s += a[at + j];
        for (int j = 1; j < m; j++)
            t = t + a[at + j] * 2;
        fo[i] = s * 3 + t;
    }
    float q = a[0];
    for (int j = 1; j < (all < 16 ? all : 16); j++)
        q += a[j];
    fo[2048 + i] = q;
}
KERNEL(figure8) { // nested short sides
    PLACE;
    float a = fi[i], b = fi[i + 1], c = fi[i + 2], e = 0, f = 0;
    for (int s = 0; s <= n; s++) {
        if (a > 0) {
            e = a * b + c;
            if (b > 0)
                f = e - a;
            else
                f = e * c;
            e = e + f;
        } else {
            f = a - b;
            e = f * c;
        }
        a = e * 0.25f - f;
        b = (c > a ? b : f) * 0.5f;
        c = c < 0 ? -c * 0.5f : c - 1.0f;
    }
    fo[i] = a;
    fo[2048 + i] = e + f;
}
KERNEL(sidesint) { // branch sides with integers, loads and a store
    PLACE;
    float a = fi[i], b = fi[at];
    u32 v = in[i];
    for (int s = 0; s < n; s++) {
        if (a < b) {
            a = a + 1;
            v = v * 3;
        } else {
            b = b + 1;
            v ^= 5;
        }
        if (v & 1)
            a = a * 0.5f + fi[s];
        else
            b = b * 0.5f;
        if (a > 3) {
            a = a - 3;
            b = b * 2;
        }
        if (x == s)
            fo[4096 + i] = a;
    }
    fo[i] = a * b;
    out[i] = v;
}
KERNEL(chainmix) { // rounding, saturation, flush to zero, constants, self products
    PLACE;
    float a = fi[i], b = fi[i + 1], r = 0;
    for (int s = 0; s < n; s++) {
        float t = a * a, u = t + t, w = u - a * u;
        r = r + fma_(w, t, u) * 1e-20f;
        r = r * 1e-20f + (a - b) * (a - b) * (a + b);
        a = -a * 0.5f + 0.125f;
        b = fma_(-a, b, -1.0f);
        fo[4096 + i] = t;
    }
    fo[i] = r + a + b;
}
KERNEL(trips) { // two loops with trip counts by thread, one of them guarded
    PLACE;
    float v = fi[i], w = 0;
    const int m = (at * 3) % (n + 1);
    for (int s = 0; s < m; s++)
        v = v * 0.5f + fi[s * 3 + i];
    if (at & 2)
        for (int s = m; s < n; s++)
            w = w + fi[s + at] * v;
    for (int s = n; s > m; s -= k)
        v += w * fi[s];
    fo[i] = v + w;
}
KERNEL(inplace) { // loops that store words which later iterations load
    PLACE;
    float *f = fo + (i & 63) * 64;
    if (i >= 64)
        return;
    for (int s = 0; s < 60; s++)
        f[s] = fi[i * 3 + s];
    for (int s = 1; s < 50; s++)
        f[s] = f[s - 1] * 0.5f + f[s + k];
    for (int s = 0; s < 50; s++)
        f[s + 3] = f[s] + f[s + 1] * 0.25f;
    for (int s = 50; s > 4; s--)
        f[s] = f[s] - f[s - 4];
    float q = 0;
    for (int s = 0; s < 64; s++)
        q = q * 0.75f + f[s];
    out[i] = (u32)(int)(q * 64);
}
