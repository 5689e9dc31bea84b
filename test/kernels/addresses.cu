// Compiled by: nvcc -ptx -arch=sm_75 addresses.cu (addresses_o3.ptx), with -Xcicc -O0 (addresses_o0.ptx), and by clang
// --cuda-gpu-arch=sm_70 -O2 -S (addresses_clang.ptx). Kernels with address arithmetic and loops that other kernels do
// not have. `in` and `out` have 4096 words each; n and k are small. Threads write different words, and read words of
// other threads only after a barrier. The comment of a kernel says what is special in it.
#ifdef __clang__
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define tid_x __nvvm_read_ptx_sreg_tid_x()
#define tid_y __nvvm_read_ptx_sreg_tid_y()
#define tid_z __nvvm_read_ptx_sreg_tid_z()
#define cta_x __nvvm_read_ptx_sreg_ctaid_x()
#define cta_y __nvvm_read_ptx_sreg_ctaid_y()
#define dim_x __nvvm_read_ptx_sreg_ntid_x()
#define dim_y __nvvm_read_ptx_sreg_ntid_y()
#define dim_z __nvvm_read_ptx_sreg_ntid_z()
#define grid_x __nvvm_read_ptx_sreg_nctaid_x()
#define wait_all __syncthreads
#else
#define tid_x ((int)threadIdx.x)
#define tid_y ((int)threadIdx.y)
#define tid_z ((int)threadIdx.z)
#define cta_x ((int)blockIdx.x)
#define cta_y ((int)blockIdx.y)
#define dim_x ((int)blockDim.x)
#define dim_y ((int)blockDim.y)
#define dim_z ((int)blockDim.z)
#define grid_x ((int)gridDim.x)
#define wait_all __syncthreads
#endif
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;
typedef unsigned char u8;
typedef unsigned short u16;
struct four { u32 x, y, z, w; } __attribute__((aligned(16)));
#define PLACE int at = tid_x + dim_x * (tid_y + dim_y * tid_z), all = dim_x * dim_y * dim_z, cta = cta_x + grid_x * cta_y, i = cta * all + at
#define KERNEL extern "C" __global__ void

KERNEL wide(u32 *out, const u32 *in, int n, int k) { // indices with 64-bit multiplication and addition
    PLACE;
    s64 j = (s64)i * k - (s64)i * (k - 1);
    u64 v = in[(j * 7 + n) & 4095];
    for (s64 s = 0; s < n; s++)
        v += (u64)in[j + s] * (u64)(s + k);
    out[i] = (u32)(v ^ v >> 32);
}
KERNEL backwards(u32 *out, const u32 *in, int n, int k) { // negative strides, both ways
    PLACE;
    u32 v = 0;
    const u32 *p = in + 4095 - i;
    for (int s = n; s > 0; s--, p -= k)
        v = v * 3 + *p;
    for (int s = 0; s < n; s++)
        v ^= in[2048 - i - s * k];
    out[2047 - i] = v;
}
KERNEL modulo(u32 *out, const u32 *in, int n, int k) { // division and remainder of affine and scalar values
    PLACE;
    u32 v = 0;
    for (int s = 1; s < n; s++)
        v += in[(i + s) % (n + 5)] + in[i / s] + in[(s * k) % 17 + i] + in[(u32)(s * 100) / 7u];
    out[i] = v;
}
KERNEL bytes(u32 *out, const u32 *in, int n, int k) { // signed and unsigned bytes and half-words, at odd addresses
    PLACE;
    const u8 *b = (const u8 *)in;
    const signed char *c = (const signed char *)in;
    const u16 *h = (const u16 *)in;
    u32 v = 0;
    for (int s = 0; s < n; s++)
        v += b[3 * i + s] * 5u + (u32)c[i + s * k + 1] + h[2 * i + s] + (u32)((const short *)in)[i + s * 3];
    u8 *o = (u8 *)(out + i);
    o[0] = (u8)v, o[1] = (u8)(v >> 8), ((u16 *)o)[1] = (u16)(v >> 16);
}
KERNEL vectors(u32 *out, const u32 *in, int n, int k) { // 8 and 16 bytes
    PLACE;
    const four *f = (const four *)in;
    const u64 *d = (const u64 *)in;
    u32 v = 0;
    for (int s = 0; s < n; s++) {
        four a = f[(i >> 1) + s];
        v += a.x + 3 * a.y + 5 * a.z + 7 * a.w;
        v ^= (u32)(d[i + s * k] >> 7);
    }
    out[i] = v;
}
KERNEL leavers(u32 *out, const u32 *in, int n, int k) { // early exits that depend on index or data, also in a loop
    PLACE;
    out[i] = 1;
    if (i % 7 == k)
        return;
    if (in[i] & 1)
        return;
    for (int s = 0; s < n; s++) {
        if (s == at % 5)
            return;
        out[i] += in[i + s];
    }
    out[i] ^= 0x80000000u;
}
KERNEL breaks(u32 *out, const u32 *in, int n, int k) { // break and continue that depend on the index or on data
    PLACE;
    u32 v = 0;
    for (int s = 0; s < 4 * n; s++) {
        if (s > at)
            break;
        if (s == k)
            continue;
        v += in[i + s];
        if (v % 13 == 5)
            break;
        v ^= in[s];
    }
    out[i] = v;
}
KERNEL nested(u32 *out, const u32 *in, int n, int k) { // bounds of inner loops depend on outer counters, threads, CTAs
    PLACE;
    u32 v = 0;
    for (int a = 0; a < n; a++)
        for (int b = a; b < n + (cta & 1); b += k) {
            v += in[i + a * 32 + b];
            for (int c = 0; c < (at & 3); c++)
                v = v * 5 + in[b + c];
        }
    out[i] = v;
}
KERNEL aliases(u32 *out, const u32 *in, int n, int k) { // a thread loads words that it has stored before
    PLACE;
    out[i] = in[i];
    for (int s = 0; s < n; s++) {
        out[i] += in[i + s];
        u32 v = out[i];
        if (at & 1)
            out[i] = v * 3;
        ((u8 *)out)[4 * i + (s & 3)] ^= (u8)(v + k);
    }
}
KERNEL neighbours(u32 *out, const u32 *in, int n, int k) { // loads of words that other warps stored before a barrier
    PLACE;
    out[i] = in[i];
    for (int s = 0; s < n; s++) {
        wait_all();
        u32 v = out[cta * all + (at + 33 + s) % all];
        u32 w = out[cta * all + all - 1 - at];
        wait_all();
        out[i] = v + 3 * w + k;
    }
}
KERNEL block3(u32 *out, const u32 *in, int n, int k) { // three dimensions, and guards that depend on each of them
    PLACE;
    u32 v = in[tid_x * 3 + tid_y * 5 + tid_z * 7];
    if (tid_x == 1 || tid_y > 1)
        v += in[tid_z * n + tid_x];
    if (tid_z != 0 && tid_x >= k)
        v ^= in[cta + tid_y];
    for (int s = tid_y; s < n; s += 2)
        v += in[s * dim_x + tid_x];
    out[i] = v;
}
KERNEL wraps(u32 *out, const u32 *in, int n, int k) { // indices of 32 bits that wrap in some threads
    PLACE;
    u32 a = 0xfffffff0u + (u32)i;               // wraps at 2^32 in thread 16
    int b = 0x7ffffff0 + 0 * k;
    u32 v = in[a & 1023] + in[(u32)(b + (int)((u32)i & 15)) & 255];
    u32 c = (u32)i * 0x08000000u;
    v += in[c >> 27];
    v += (a < (u32)n ? in[a] : 1) + (a == 3 ? 7 : 0);
    s64 wide = (s64)(int)(a + (u32)k) ;
    v ^= wide < 0 ? 5u : in[wide & 2047];
    out[i] = v;
}
KERNEL selects(u32 *out, const u32 *in, int n, int k) { // min, max, ternaries, and a different pointer on each side
    PLACE;
    const u32 *p = (at & 1) ? in + i : in + 2000 - i;
    if (i < n * 8)
        p = in + 2 * i;
    u32 v = 0;
    for (int s = 0; s < n; s++) {
        int j = i + s < 40 ? i + s : 40, q = j > k ? j : k;
        v += p[s] + in[j] * 3 + in[q];
        p = s == 3 ? in + s : p + 1;
    }
    out[i] = v;
}
KERNEL by_data(u32 *out, const u32 *in, int n, int k) { // bounds of loops are data; affine work is inside and after
    PLACE;
    u32 v = 0, m = in[i] % 9, t = in[cta] % 5;
    for (u32 s = 0; s < m; s++)
        v += in[i + s];
    for (u32 s = 0; s < t + (u32)n; s++)
        v = v * 3 + in[i + 2 * s];
    while (v > 1000u && v % 3 != 1)
        v = v / 2 + in[k];
    for (int s = 0; s < n; s++)
        v ^= in[s + cta * 2];
    out[i] = v;
}
KERNEL shared(u32 *out, const u32 *in, int n, int k) { // a tile, its transpose, and a tree of sums
    __shared__ u32 tile[256];
    PLACE;
    if (at < 256)
        tile[at] = in[i];
    wait_all();
    u32 v = tile[(at * 17 + k) & 255 & (all - 1)];
    for (int s = all / 2 < 128 ? all / 2 : 128; s > 0; s >>= 1) {
        wait_all();
        if (at < s)
            tile[at] += tile[at + s];
    }
    wait_all();
    out[i] = v + tile[0] + n;
}
KERNEL flags(u32 *out, const u32 *in, int n, int k) { // predicates combined, live over loops, or used twice
    PLACE;
    bool edge = at == 0 || at == all - 1, odd = cta & 1, low = i < n * 16;
    u32 v = 0;
    for (int s = 0; s < n; s++) {
        bool first = s == 0, both = (edge && low) != (odd || first);
        if (both)
            v += in[i + s];
        if (!both && s != k)
            v ^= in[s];
        edge = edge != (s == at);
    }
    out[i] = v + (edge ? 1 : 0) + (low ? 2 : 0);
}
