// Addresses and predicates that are affine in unusual ways, or almost affine. Comments of kernels say what is special.
// Compiled by: nvcc -ptx -arch=sm_80 -Xcicc -O1 (unusual_places_nvcc.ptx), and by clang -O1 -x cuda --cuda-device-only -nocudainc
// -nocudalib --cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx64 -S (unusual_places_clang.ptx).
#include "unusual.h"

KERNEL(rows2d) { // a plane with a pitch, and guards for both edges
    PLACE;
    const int w = dim_x * grid_x - k, h = dim_y * grid_y * grid_z * dim_z - 1, pitch = dim_x * grid_x;
    const int c = cta_x * dim_x + x, r = (cta_y + grid_y * cta_z) * dim_y * dim_z + y * dim_z + z;
    if (c < w && r < h) {
        u32 v = in[r * pitch + c];
        if (c > 0)
            v += 3 * in[r * pitch + c - 1];
        if (r > 0)
            v += 5 * in[(r - 1) * pitch + c];
        if (c < w - 1)
            v += 7 * in[r * pitch + c + 1];
        if (r < h - 1)
            v += 11 * in[(r + 1) * pitch + c];
        out[r * pitch + c] = v;
    }
}
KERNEL(gridstride) { // loops with the size of the grid as step
    PLACE;
    const int step = all * grid_x * grid_y * grid_z;
    for (int j = i; j < 2048; j += step)
        out[j] = in[j] * 3 + in[2047 - j];
    for (u32 j = (u32)i; j < 1000u + (u32)n; j += (u32)step)
        fo[j] = fma_(fi[j], 1.5f, fi[j + k]);
}
KERNEL(backward) { // counts down, 64-bit strides
    PLACE;
    u32 v = 0;
    const u32 *p = in + 8191 - i;
    for (s64 s = (s64)n * k; s >= 0; s -= k) {
        v = v * 7 + *p;
        p -= (s64)k * (x & 1 ? 1 : 2);
    }
    for (int s = n; s-- > 0;)
        v ^= in[(n - s) * 32 + 4 * i - s];
    out[2047 - i] = v;
}
KERNEL(wrap32) { // 32-bit byte offsets that wrap in some threads, whose accesses are guarded
    PLACE;
    u32 v = 0, off = (u32)i * 4u - 64u;
    for (int s = 0; s < n; s++, off += 16u * (u32)k)
        if (off < 8192u)
            v += *(const u32 *)((const char *)in + off);
    u32 a = 0xfffffff0u + (u32)at;
    if (a < 1024u)
        v ^= in[a];
    if (a >= 0xfffffff0u)
        v += in[(u64)a - 0xfffffff0ull];
    out[i] = v;
}
KERNEL(wrap31) { // signed indices that pass 2^31; the sign selects the side
    PLACE;
    int a = (int)(0x7ffffff8u + (u32)at * (u32)k), b = (int)(0x80000000u - (u32)(at & 31));
    u32 v = a < 0 ? 1 : 2;
    v += b > 0 ? in[0x7fffffff - b] : in[b + (int)0x7fffffff + 1];
    s64 wide = (s64)a * 4;
    if (a > 0)
        v += *(const u32 *)((const char *)in + (wide - 0x1ffffffe0ll));
    if ((s64)a + 5 > 0x80000000ll)
        v ^= 0x55;
    if ((int)(0x7fffffffu - (u32)at) + 3 < 0)
        v ^= 0xaa00;
    out[i] = v;
}
KERNEL(narrow) { // indices of 8 and 16 bits that wrap
    PLACE;
    u8 c = (u8)(i * 3);
    u16 h = (u16)(i * 257);
    signed char sc = (signed char)(at * 5);
    short sh = (short)(at * 1000);
    u32 v = 0;
    for (int s = 0; s < n; s++, c += 7, h += 4096, sc -= 3, sh += 77)
        v = v * 3 + in[c] + in[h >> 4] + in[(int)sc + 256] + in[((int)sh + 65536) >> 4];
    out[i] = v;
}
KERNEL(equals) { // tests that hold for one thread, or for all threads but one
    PLACE;
    u32 v = in[i];
    if (at == k)
        v += 1000;
    if (at != k + 1)
        v += in[k];
    if (at * 3 == 33)
        v ^= in[1];
    if (at * 3 == 34)
        v ^= in[2];
    if (k - at == -2)
        v += in[3];
    if (x == 3 && y == 1)
        v += in[4];
    if ((s64)i * 5 == (s64)n * 25)
        v += in[5];
    if (x != y)
        v += in[x + y];
    if (x == z)
        v ^= in[x + z];
    for (int s = 0; s < 2 * n; s++)
        if (s == at)
            v += in[s + i];
        else if (s + 1 != x)
            v ^= in[s];
    out[i] = v;
}
KERNEL(minmax) { // clamped indices
    PLACE;
    u32 v = 0;
    for (int s = -n; s <= n; s++) {
        int j = i + s * k, lo = j < 0 ? 0 : j, hi = lo > 100 ? 100 : lo, d = j - 50, a = d < 0 ? -d : d;
        v = v * 5 + in[hi] + in[a] + in[(u32)j % 64u] + in[(j & 15) + (x > y ? x : y)];
    }
    out[i] = v;
}
KERNEL(ctabases) { // bases that are not linear in the block's index
    PLACE;
    const int a = cta_x * cta_x, b = cta_x < 2 ? cta_x : 2, c = cta % 3, d = cta / 2, e = cta_x * cta_y + cta_z;
    u32 v = in[a * 8 + at] + 3 * in[b * 32 + at] + 5 * in[c * 64 + x] + 7 * in[d + at * 2] + 11 * in[e + at];
    for (int s = 0; s < a + 1; s++)
        v = v * 3 + in[s + at + b];
    if (cta & 1)
        for (int s = 0; s < d; s++)
            v ^= in[at + s * c];
    out[i] = v;
}
KERNEL(tuples) { // one of six pointers, then a loop that uses it
    PLACE;
    const u32 *p = in;
    int step = 1;
    if (at < 3)
        p = in + at;
    else if (at < 7)
        p = in + 100 - at, step = -1;
    else if (at < 20)
        p = in + 7 * at, step = 2;
    else if (x > 25)
        p = in + 4000 - 3 * at, step = 3;
    else if (y == 1)
        p = in + 500 + y * 7;
    else if (z)
        p = in + 600 + z;
    p += 40;
    u32 v = 0;
    for (int s = 0; s < n; s++, p += step)
        v = v * 3 + *p;
    out[i] = v;
}
KERNEL(onebyone) { // lanes leave a loop one by one; an address after the loop uses their counts
    PLACE;
    int j = at, c = 0;
    const u32 *p = in + i;
    while (j > 0) {
        j -= k + 1;
        c++;
        p += 2;
    }
    u32 v = *p + in[c];
    for (int s = c; s < n + 3; s++)
        v += in[s + i];
    int q = 0;
    do {
        v ^= in[q * 3 + x];
        q++;
    } while (q < (at & 7));
    out[i] = v + in[q];
}
KERNEL(manyloads) { // more loads than any queue holds
    PLACE;
    u32 v = 0;
#pragma unroll
    for (int s = 0; s < 24; s++)
        v = v * 3 + in[i + s * (s + k)];
#pragma unroll
    for (int s = 0; s < 12; s++)
        if (at > s * k)
            v ^= in[at + s * 5];
    out[i] = v;
}
KERNEL(pairs) { // strided loads and stores of 8 and 16 bytes
    PLACE;
    const four *f = (const four *)in;
    four a = f[i], b = f[2047 - i];
    for (int s = 0; s < n; s++) {
        a.x += b.w, a.y ^= b.z, b.x += a.y, b.w ^= f[(i + s * 3) & 1023].y;
    }
    four r = {a.x + b.x, a.y ^ b.y, a.z + b.z, a.w - b.w};
    if (i < 1024)
        ((four *)out)[i] = r;
    const two *t = (const two *)fi;
    two q = t[i + k];
    q.x = q.x + q.y, q.y = q.x * 0.5f;
    ((two *)fo)[i] = q;
}
KERNEL(smallstores) { // bytes and half-words at odd strides, which their thread reads again
    PLACE;
    u8 *b = (u8 *)out + 13 * i;
    for (int s = 0; s < 13; s++)
        b[s] = (u8)(in[i] >> s);
    u32 v = 0;
    for (int s = 12; s >= 0; s -= k)
        v = v * 3 + b[s];
    u16 *h = (u16 *)fo + 3 * i;
    for (int s = 0; s < 3; s++)
        h[s] = (u16)(v + s + h[(s + 1) % 3]);
}
KERNEL(predicates) { // predicates live over loops, combined, negated
    PLACE;
    bool a = at > k, b = cta & 1, c = i < n * 20, d = x == dim_x - 1, e = y == 0;
    u32 v = 0;
    for (int s = 0; s < n; s++) {
        bool f = a != (s > k), g = (b && !c) || (d && f), h = e != g;
        if (f)
            v += in[i + s];
        if (g)
            v ^= in[at + s * 2];
        if (h && !(in[s] & 1))
            v += in[x + s * 3];
        a = h;
        c = c != (s == at);
    }
    out[i] = v + a + 2 * c + 4 * b;
}
__constant__ u32 konst[64] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
KERNEL(constants) { // constant memory at scalar, affine and other addresses
    PLACE;
    u32 v = 0;
    for (int s = 0; s < n; s++)
        v = v * 3 + konst[s] + konst[(at + s) & 63] + konst[in[i + s] & 63] + in[i + konst[s]] +
            in[konst[cta & 7] * 4 + at];
    for (u32 s = 0; s < konst[k]; s++)
        v ^= in[at + s];
    out[i] = v;
}
struct pack {
    const u32 *in;
    u32 *out;
    int m[12];
};
extern "C" __global__ void packed(u32 *out, const u32 *in, float *fo, const float *fi, int n, int k) {
    PLACE;
    pack p = {in, out, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
    p.m[k] = n;
    u32 v = 0;
    for (int s = 0; s < n; s++)
        v += p.in[p.m[s % 12] + i] * (u32)p.m[(at + s) % 12];
    p.out[i] = v;
}
KERNEL(alias) { // the thread's own stores before its loads, through two pointers
    PLACE;
    u32 *a = out + i, *b = (u32 *)((u64)(out + 2 * i) - (u64)(4 * (s64)i));
    for (int s = 0; s < n; s++) {
        *a += in[i + s];
        u32 v = *b;
        *b = v * 3 + (u32)s;
        if (at % 3 == 0)
            *a ^= in[at];
        ((u16 *)b)[s & 1] += 7;
        fo[i] = fo[i] * 0.5f + (float)(*a & 255);
    }
}
KERNEL(wide64) { // 64-bit arithmetic, high halves, shifts
    PLACE;
    u64 a = (u64)i * 0x100000001ull, b = (u64)in[i] << 7;
    u32 v = 0;
    for (s64 s = 0; s < n; s++) {
        v += in[(a >> 32) + (u64)s] + in[(u32)a + (u32)s * (u32)k];
        b = b * 6364136223846793005ull + (u64)s * a;
        v ^= (u32)(b >> 33);
        v += in[((u64)(u32)(i * 3) * 0x55555556ull) >> 32];
    }
    out[i] = v;
}
KERNEL(lastlane) { // conditions at the ends of warps, rows and blocks
    PLACE;
    u32 v = in[i];
    if (at == all - 1)
        v += in[all];
    if ((at & 31) == 31)
        v ^= in[at + 1];
    if (x == dim_x - 1)
        v += in[y];
    if (y == dim_y - 1 && z == 0)
        v += in[x * 2];
    if (at >= all - k)
        v *= 3;
    if (at < 32) {
        if (at > 15)
            v += in[at];
        else if (at == 0)
            v -= 1;
    }
    for (int s = at; s < all; s += 32)
        v += in[s];
    for (int s = dim_x - 1 - x; s >= 0; s--)
        v ^= in[s + y];
    out[i] = v;
}
KERNEL(scaled) { // strides of 12, 20, 36 and 2048 bytes, and of -4
    PLACE;
    u32 v = 0;
    for (int s = 0; s < n; s++)
        v += in[i * 3 + s] + in[i * 5 - s * 0] + in[9 * at + s * 2] + in[(at & 15) * 512 + s] + in[all - at + s];
    out[i] = v;
}
KERNEL(accumulate) { // a loop-carried address that both sides of a branch change
    PLACE;
    const u32 *p = in + i, *q = in + 512;
    u32 v = 0;
    for (int s = 0; s < n + 2; s++) {
        v += *p;
        if (s & 1)
            p += k;
        else
            p += 2 * x;
        if (at > 16)
            q += 1;
        else
            q += x;
        if (v & 1)
            q += 1;
        v ^= *q;
    }
    out[i] = v;
}
KERNEL(swapped) { // loops that swap pointers or counters
    PLACE;
    const u32 *a = in + i, *b = in + 1000 + 2 * i;
    int p = at, q = k;
    u32 v = 0;
    for (int s = 0; s < n; s++) {
        v = v * 3 + a[s] + b[p];
        const u32 *t = a;
        a = b;
        b = t;
        int w = p;
        p = q;
        q = w;
    }
    out[i] = v + (u32)p;
}
KERNEL(zigzag) { // outer counters, which start below zero, determine inner trip counts
    PLACE;
    u32 v = 0;
    for (int s = -k; s < n; s += 2)
        for (int t = s < 0 ? -s : s; t > -2; t -= 1 + (x & 1))
            v += in[i + t + 4] * (u32)(t + 7);
    out[i] = v;
}
KERNEL(unsigneds) { // u32 loops that count below zero, comparisons at both signs
    PLACE;
    u32 v = 0;
    for (u32 s = (u32)at; s < 0x80000000u; s -= (u32)k + 3u)
        v += in[s] + 1;
    for (u32 s = 0xffffffffu - (u32)n; s != 2u; s++)
        v ^= in[(s + 16u) & 63u];
    if ((u32)(at - 5) < 10u)
        v += in[at];
    if ((int)(at - 5) < 10)
        v ^= in[at + 1];
    if ((u32)i * 0x10000000u > 0x70000000u)
        v += in[x];
    if ((int)((u32)i * 0x10000000u) > 0)
        v ^= in[y];
    out[i] = v;
}
KERNEL(lookup) { // scalars loaded from memory by the block number
    PLACE;
    const int m = (int)(in[cta] % 5), o = (int)(in[cta + 1] % 100);
    u32 v = 0;
    for (int s = 0; s < m; s++)
        v += in[o + at + s];
    if (m > 2)
        for (int s = 0; s < n; s++)
            v ^= in[o + s * 32 + x];
    out[i] = v;
}
KERNEL(doubled) { // f64, half-warp strides, v2 of f64
    PLACE;
    const double *d = (const double *)in;
    double s0 = 0;
    u64 acc = 0;
    for (int s = 0; s < n; s++) {
        u64 q = ((const u64 *)d)[i + s * 3];
        acc += q;
        s0 = s0 * 0.5 + (double)(int)(u32)q;
    }
    ((double *)fo)[i] = s0;
    ((u64 *)out)[i] = acc;
}
KERNEL(overlaps) { // loads wider than the strides between them
    PLACE;
    u64 v = 0;
    const u8 *b = (const u8 *)in;
    for (int s = 0; s < n; s++) {
        v += *(const u64 *)(b + 8 * (i + s)) ^ *(const u32 *)(b + 8 * i + 4 * s) ^
             *(const u16 *)(b + 2 * (i - (i & 1)) + 2 * s) ^ b[i + 3 * s];
        four f = *(const four *)(b + 16 * (at / 2 + s));
        v = v * 31 + f.y + f.w;
    }
    ((u64 *)out)[i] = v;
}
