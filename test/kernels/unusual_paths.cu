// Control flow that compilers seldom make, with calls and barriers. The comment of a kernel says what is special in it.
// Compiled by: nvcc -ptx -arch=sm_80 -Xcicc -O1 (unusual_paths_nvcc.ptx), and by clang -O1 -x cuda --cuda-device-only -nocudainc
// -nocudalib --cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx64 -S (unusual_paths_clang.ptx).
#include "unusual.h"

static __device__ NOINLINE u32 ack(u32 m, u32 n) {
    return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1));
}
static __device__ NOINLINE u32 g_one(u32 a, const u32 *p) { return a * 3 + p[1]; }
static __device__ NOINLINE u32 g_two(u32 a, const u32 *p) {
    u32 v = a;
    for (u32 s = 0; s < (a & 3); s++)
        v += p[s];
    return v;
}
static __device__ NOINLINE u32 g_three(u32 a, const u32 *p) { return a & 1 ? p[0] : g_one(a, p + 1); }
typedef u32 (*fun2)(u32, const u32 *);
KERNEL(byvalue) { // loop exits depend on data; affine work is inside and after
    PLACE;
    u32 v = in[i] & 15, w = 0;
    for (int s = 0; s < 40; s++) {
        w += in[i + s];
        if ((w & 15) == v)
            break;
        if (s > at)
            continue;
        w ^= in[at + s * k];
    }
    for (int s = 0; s < n; s++)
        w += in[s * 8 + at];
    for (int g = 0; (w & 7) && g < 30; g++)
        w = w * 5 + in[w & 63];
    out[i] = w + in[at];
}
KERNEL(returns) { // returns depend on index or data, also in a loop; no barriers
    PLACE;
    if (x == 5)
        return;
    out[i] = in[i + 1];
    if (y > 2 && cta == 1)
        return;
    if ((in[i] & 3) == 1)
        return;
    for (int s = 0; s < n; s++) {
        if (s * 7 == at)
            return;
        if (in[i + s] % 11 == 3)
            return;
        out[i] += in[s * 16 + at];
    }
    fo[i] = fi[i] * 2.0f + fi[at];
}
KERNEL(divloops) { // loops inside the sides of branches, three levels deep
    PLACE;
    u32 v = 1;
    if (at & 1) {
        for (int a = 0; a < n; a++) {
            v += in[i + a];
            if (at & 2)
                for (int b = a; b < 4; b++)
                    v = v * 3 + in[at + b * k];
            else
                for (int b = 0; b < (x & 3); b++)
                    v ^= in[b];
        }
    } else if (x > 9) {
        int s = n;
        while (s > 0) {
            for (int b = s; b; b >>= 1)
                v += in[b + i];
            s--;
        }
    } else
        for (int s = 0; s < y + 1; s++)
            v += in[i * 2 + s];
    out[i] = v + in[i];
}
KERNEL(jumps) { // a loop with two entries, and jumps between blocks
    PLACE;
    u32 v = in[i];
    int s = 0;
    if (at & 1)
        goto middle;
top:
    v = v * 3 + in[i + s];
    if (s > n + (at & 3))
        goto out_;
middle:
    v ^= in[at + s * 2];
    s++;
    if (s == 3 && (at & 4))
        goto other;
    if (s < 2 * n)
        goto top;
    goto out_;
other:
    v += 77;
    if (x < k)
        goto middle;
    if (y)
        goto top;
out_:
    out[i] = v;
}
KERNEL(tables) { // switches on the index, on data and on a parameter
    PLACE;
    u32 v = in[i];
    for (int s = 0; s < n; s++) {
        switch ((at + s) % 9) {
        case 0:
            v += in[i + s];
            break;
        case 1:
            v ^= in[at]; // falls through
        case 2:
            v *= 3;
            break;
        case 3:
            v -= in[s];
            break;
        case 4:
            for (int b = 0; b < k; b++)
                v += in[b];
            break;
        case 5:
            v = v << 1 | v >> 31;
            break;
        case 6:
            if (x > 3)
                v++;
            break;
        default:
            v = ~v;
        }
        switch (v & 7) {
        case 0:
            v += 5;
            break;
        case 1:
            v ^= 0x1234;
            break;
        case 2:
            v *= 9;
            break;
        case 3:
            v += in[at + 1];
            break;
        case 4:
            v -= 2;
            break;
        case 5:
            v += in[s + i];
            continue;
        case 6:
            v ^= v >> 3;
            break;
        }
        switch (k) {
        case 1:
            v += in[i + 1];
            break;
        case 2:
            v += in[i + 2];
            break;
        case 3:
            v += in[i * 2];
            break;
        case 4:
            v ^= in[at];
            break;
        case 5:
            v += 1;
            break;
        }
    }
    out[i] = v;
}
static __device__ NOINLINE u32 fib(u32 m) { return m < 2 ? m : fib(m - 1) + fib(m - 2); }
KERNEL(recursive) {
    PLACE;
    u32 v = 0;
    for (int s = 0; s < n; s++)
        v += in[i + s];
    out[i] = v + fib((u32)(at & 7)) + in[at];
}
static __device__ NOINLINE u32 f_add(u32 a, u32 b) { return a + b; }
static __device__ NOINLINE u32 f_xor(u32 a, u32 b) { return a ^ b * 3; }
static __device__ NOINLINE u32 f_loop(u32 a, u32 b) {
    for (u32 s = 0; s < (b & 3); s++)
        a = a * 5 + s;
    return a;
}
typedef u32 (*fun)(u32, u32);
KERNEL(indirect) {
    PLACE;
    u32 v = in[i];
    for (int s = 0; s < n; s++) {
        fun f = (at + s) % 3 == 0 ? f_add : (in[i + s] & 1) ? f_xor : f_loop;
        v = f(v, in[at + s]);
    }
    out[i] = v;
}
static __device__ NOINLINE u32 sum_of(const u32 *p, int step, int m) {
    u32 v = 0;
    for (int s = 0; s < m; s++)
        v += p[s * step];
    return v;
}
static __device__ NOINLINE void put(u32 *p, u32 v) { *p = v; }
KERNEL(calls) { // a function gets pointers to local, shared and global memory
    __shared__ u32 tile[1024];
    PLACE;
    u32 mine[8];
    for (int s = 0; s < 8; s++)
        mine[s] = in[i + s * k];
    tile[at] = in[at];
    wait_all();
    u32 v = sum_of(mine, 1, 8) + sum_of(in + i, k, n);
    if (at + 3 < all)
        v ^= sum_of(tile + at, 1, 3);
    put(out + i, v);
    put(x & 1 ? out + 2048 + i : (u32 *)fo + i, v + 1);
}
KERNEL(locals) { // local arrays with affine, data-dependent and constant indices
    PLACE;
    u32 a[20], b[5];
    for (int s = 0; s < 20; s++)
        a[s] = in[i + s];
    for (int s = 0; s < 5; s++)
        b[s] = (u32)s * in[at];
    u32 v = 0;
    for (int s = 0; s < n; s++) {
        a[(at + s) % 20] += b[s % 5];
        b[in[i + s] % 5] ^= a[s];
        v += a[19 - (x + s) % 20] + b[(s * k) % 5];
    }
    u8 *c = (u8 *)a;
    for (int s = 0; s < 12; s++)
        v = v * 3 + c[s * 5 + (at & 3)];
    out[i] = v;
}
KERNEL(between) { // branches on data inside affine loops
    PLACE;
    u32 v = 0;
    for (int s = 0; s < n; s++) {
        u32 w = in[i + s * k];
        if (w & 1) {
            for (int t = 0; t < s; t++)
                v += in[at + t];
        } else if (w & 2)
            v ^= w;
        else {
            v += in[s];
            if (w & 4)
                continue;
        }
        v += in[i + s + 1];
        if ((w & 0xf00) == 0x300)
            break;
        out[i + (s & 1) * 4096] = v;
    }
    fo[i] = (float)(v & 1023);
}
KERNEL(twice) { // several paths load the same word, and some paths store
    PLACE;
    u32 v;
    if (at % 5 == 0)
        v = in[i] + 1;
    else if (at % 5 == 1)
        v = in[i] + 2;
    else if (in[at] & 1)
        v = in[i] * 3;
    else
        v = in[i + 1];
    if (at % 7 == 0)
        out[i] = v;
    else if (at % 7 == 1)
        out[i] = v + 1, fo[i] = 1;
    else if (v & 4)
        out[i] = v * 5;
}
KERNEL(sparse) { // data determine the lengths of rows
    PLACE;
    u32 b = in[i] & 255, e = b + (in[i + 1] & 15);
    float v = 0;
    for (u32 s = b; s < e; s++)
        v = fma_(fi[s], fi[in[s] & 1023], v);
    fo[i] = v;
    int l = 0, h = 1000;
    while (l < h) {
        int m = (l + h) / 2;
        if ((in[m] >> 8) < (in[i] >> 8))
            l = m + 1;
        else
            h = m;
    }
    out[i] = (u32)l;
}
KERNEL(queens) { // a search with a stack in local memory
    PLACE;
    u32 stack[12];
    int d = 0;
    u32 count = 0;
    const u32 all_ = (1u << 5) - 1;
    u32 cols = (u32)(i % 5), dl = 0, dr = 0;
    stack[d++] = 1u << cols;
    while (d > 0 && count < 60) {
        u32 c = stack[--d];
        count++;
        dl = (dl | c) << 1;
        dr = (dr | c) >> 1;
        u32 free_ = all_ & ~(c | dl | dr);
        while (free_ && d < 11) {
            u32 bit = free_ & (0u - free_);
            free_ ^= bit;
            stack[d++] = bit | (c & in[i + d] & all_);
        }
    }
    out[i] = count * 100 + dl;
}
KERNEL(escapes) { // gotos from nested loops into other loops
    PLACE;
    u32 v = in[i];
    int a = 0, b = 0, back = 0;
    for (a = 0; a < n; a++)
        for (b = 0; b < 4; b++) {
            v = v * 3 + in[i + a * 4 + b];
            if ((v & 31) == 7)
                goto found;
            if (at < b)
                goto next;
            if ((v & 31) == 9 && b && back < 9) {
                b--;
                v++;
                back++;
            }
        }
next:
    for (int s = a; s < n; s++) {
        v += in[at + s];
        if (s == k)
            goto done;
    }
found:
    v ^= in[at + b] + (u32)a;
done:
    out[i] = v;
}
KERNEL(selfcall) {
    PLACE;
    out[i] = ack((u32)(at & 1), (u32)(x & 3)) + in[i];
}
KERNEL(vtable) { // an indirect call in a loop and after a barrier
    __shared__ u32 a[1024];
    PLACE;
    fun2 t[3] = {g_one, g_two, g_three};
    u32 v = in[i];
    for (int s = 0; s < n; s++)
        v = t[(v >> 3) % 3](v, in + i);
    a[at] = v;
    wait_all();
    out[i] = t[cta % 3](a[all - 1 - at], in + at);
}
KERNEL(guarded) { // nested conditions that are the same in all threads, with barriers
    __shared__ u32 a[1024];
    PLACE;
    a[at] = in[i];
    if (n > 1) {
        wait_all();
        if (cta % 3 != 1) {
            u32 v = a[all - 1 - at];
            wait_all();
            a[at] += v;
            for (int s = 0; s < (cta & 3); s++) {
                wait_all();
                v = a[(at + s) % all];
                wait_all();
                a[at] ^= v;
            }
        }
    }
    wait_all();
    if (at & 1)
        for (int s = 0; s < k; s++)
            a[at] += a[at & ~1] + in[s];
    wait_all();
    out[i] = a[(at * 3) % all];
}
KERNEL(someleave) { // whole warps exit, and the other warps still use barriers
    __shared__ u32 a[1024];
    PLACE;
    a[at] = in[i];
    if (at >= 64 && (at / 32) % 2)
        return;
    wait_all();
    u32 v = a[at < 31 && at + 1 < all ? at + 1 : 0];
    wait_all();
    if (at < 64)
        a[at] = v * 3;
    wait_all();
    out[i] = a[(at + k) % (all < 32 ? all : 32)] + in[i];
}
KERNEL(early) { // threads with high indices exit before a barrier of the others
    __shared__ u32 a[1024];
    PLACE;
    a[at] = in[i];
    if (at >= all - k && all > 40)
        return;
    wait_all();
    u32 v = a[at] + a[at / 2];
    for (int s = 0; s < n; s++) {
        wait_all();
        a[at] = v;
        wait_all();
        v = v * 5 + a[(at + 1) % (all > 40 ? all - k : all)];
    }
    out[i] = v;
}
KERNEL(ring) { // loads of words of other warps; the block number determines the loop's length
    PLACE;
    const int m = n + (cta & 1);
    out[i] = in[i];
    for (int s = 0; s < m; s++) {
        wait_all();
        u32 v = out[cta * all + (at + 33 * s + 1) % all], w = out[cta * all + all - 1 - at];
        wait_all();
        if (x != k)
            out[i] = v * 3 + w;
        if (cta == 1) {
            wait_all();
            v = out[cta * all + (at + 1) % all];
            wait_all();
            out[i] ^= v;
        }
    }
}
KERNEL(w128_named) { // named barriers, each for 128 threads of the block
    __shared__ u32 a[1024];
    PLACE;
    a[at] = in[i];
    wait_all();
    for (int s = 0; s < n; s++) {
        u32 v = a[(at & ~127) + ((at + 33) & 127)];
        asm volatile("bar.sync %0, 128;" ::"r"((at >> 7) + 1) : "memory");
        a[at] = v * 3 + in[at + s];
        asm volatile("bar.sync %0, 128;" ::"r"((at >> 7) + 1) : "memory");
    }
    wait_all();
    out[i] = a[at];
}
KERNEL(counts) { // atomics on shared and global memory, volatile reads
    __shared__ u32 h[16];
    PLACE;
    for (int j = at; j < 16; j += all)
        h[j] = 0;
    wait_all();
    for (int s = 0; s < n; s++)
        add_to(&h[in[i + s] & 15], 1u);
    wait_all();
    volatile u32 *vh = h;
    u32 v = vh[at & 15] + vh[k];
    volatile const u32 *vi = in;
    for (int s = 0; s < k; s++)
        v += vi[i + s];
    out[i] = v;
    if (at < 16)
        add_to(&out[4096 + at], h[at]);
    add_to(&out[4200 + (at & 3)], in[i] & 255);
}
