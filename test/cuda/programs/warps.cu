// Communication within a warp and a block: shuffles of all widths and types, votes, matches, barriers that count, and
// cooperative groups; also integer functions that scans and hashes use. The host computes the result of each thread.
#include "mistakes.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstring>
#include <vector>
namespace cg = cooperative_groups;

enum { N = 128 };
struct seen {
    int up, down, xored, index, narrow;
    long long wide;
    double real;
    unsigned ballot, match, all, active, lanes_below;
    int any, every, uniform;
    int counted, anded, ored;
    int tile_sum, tile_scan, tile_max, group_size, group_rank, coalesced;
    unsigned funnel, permuted, reversed, dot, sad, simd;
    int leading, first, bits, high;
};

__global__ void talk(const int *in, seen *out) {
    int i = threadIdx.x, v = in[i], lane = i % 32;
    const unsigned full = 0xffffffffu;
    seen s;
    s.up = __shfl_up_sync(full, v, 3);
    s.down = __shfl_down_sync(full, v, 5);
    s.xored = __shfl_xor_sync(full, v, 9);
    s.index = __shfl_sync(full, v, v & 31);
    s.narrow = __shfl_down_sync(full, v, 2, 8);
    s.wide = __shfl_sync(full, (long long)v << 33 | i, 7);
    s.real = __shfl_xor_sync(full, v * 0.1, 1);
    s.ballot = __ballot_sync(full, v % 3 == 0);
    s.any = __any_sync(full, v == 1000000);
    s.every = __all_sync(full, v >= 0);
    s.match = __match_any_sync(full, v % 5);
    s.all = __match_all_sync(full, v > -1, &s.uniform);
    s.active = 0;
    if (v & 1)
        s.active = __activemask();
    __syncwarp();
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(s.lanes_below));
    s.counted = __syncthreads_count(v % 7 == 0);
    s.anded = __syncthreads_and(v >= 0);
    s.ored = __syncthreads_or(v < 0);
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    s.tile_sum = cg::reduce(tile, v, cg::plus<int>());
    s.tile_scan = cg::exclusive_scan(tile, v, cg::plus<int>());
    s.tile_max = cg::reduce(tile, v, cg::greater<int>());
    s.group_size = 0;
    s.group_rank = -1;
    s.coalesced = 0;
    if (v % 4 == 1) {
        auto together = cg::coalesced_threads();
        s.group_size = together.size();
        s.group_rank = together.thread_rank();
        s.coalesced = together.shfl(v, 0);
    }
    s.funnel = __funnelshift_l(v, ~v, lane);
    s.permuted = __byte_perm(v, v * 77, 0x5140 + lane % 8);
    s.reversed = __brev(v);
    s.dot = __dp4a(v, v * 3, 5);
    s.sad = __sad(v, 50000, 3);
    s.simd = __vadd4(v, 0x01020304);
    s.leading = __clz(v);
    s.first = __ffs(v);
    s.bits = __popc(v);
    s.high = __mulhi(v * 70000, v * 90001);
    out[i] = s;
}

static int signed_byte(unsigned v, int i) { return (signed char)(v >> 8 * i); }

static seen expected(const std::vector<int> &in, int i) {
    int v = in[i], base = i / 32 * 32, lane = i % 32, tile = i / 16 * 16;
    seen s = {};
    s.up = lane >= 3 ? in[i - 3] : v;
    s.down = lane < 27 ? in[i + 5] : v;
    s.xored = in[i ^ 9];
    s.index = in[base + (v & 31)];
    s.narrow = i % 8 < 6 ? in[i + 2] : v;
    s.wide = (long long)in[base + 7] << 33 | (base + 7);
    s.real = in[i ^ 1] * 0.1;
    s.every = s.uniform = 1;
    s.all = ~0u;
    for (int l = 0; l < 32; l++) {
        int o = in[base + l];
        s.ballot |= (unsigned)(o % 3 == 0) << l;
        s.match |= (unsigned)(o % 5 == v % 5) << l;
        s.active |= (v & 1) ? (unsigned)(o & 1) << l : 0;
        if (v % 4 == 1 && o % 4 == 1) {
            if (s.group_size == 0)
                s.coalesced = o;
            s.group_size++;
        }
    }
    s.group_rank = -1;
    if (v % 4 == 1)
        for (int l = 0; l <= lane; l++)
            s.group_rank += in[base + l] % 4 == 1;
    s.lanes_below = (1u << lane) - 1;
    for (int o : in)
        s.counted += o % 7 == 0;
    s.anded = 1;
    s.tile_max = in[tile];
    for (int j = tile; j < tile + 16; j++) {
        s.tile_sum += in[j];
        s.tile_scan += j < i ? in[j] : 0;
        s.tile_max = in[j] > s.tile_max ? in[j] : s.tile_max;
    }
    unsigned u = v, o = u * 77, pick = 0x5140 + lane % 8, d = u * 3;
    s.funnel = (unsigned)((((unsigned long long)~u << 32 | u) << lane) >> 32);
    unsigned long long both = (unsigned long long)o << 32 | u;
    for (int b = 0; b < 4; b++) {
        s.permuted |= (unsigned)(both >> 8 * (pick >> 4 * b & 7) & 255) << 8 * b;
        s.simd |= ((u >> 8 * b) + (0x01020304u >> 8 * b) & 255) << 8 * b;
    }
    for (int b = 0; b < 32; b++)
        s.reversed |= (u >> b & 1) << (31 - b);
    s.dot = 5;
    for (int b = 0; b < 4; b++) // v and v * 3 are of type int there, so the bytes are signed
        s.dot += signed_byte(u, b) * signed_byte(d, b);
    s.sad = (v > 50000 ? v - 50000 : 50000 - v) + 3;
    s.leading = v ? __builtin_clz(v) : 32;
    s.first = __builtin_ffs(v);
    s.bits = __builtin_popcount(v);
    s.high = (int)((long long)(int)(u * 70000u) * (int)(u * 90001u) >> 32);
    return s;
}

// Sums values of any type over any number of threads by shuffles, as SHOC's reduction does.
template <typename T> __global__ void total(const T *in, T *out, int n) {
    __shared__ T parts[32];
    T sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += in[i];
    for (int o = 16; o; o /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, o);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
        for (int o = 16; o; o /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, o);
        if (threadIdx.x == 0)
            *out = sum;
    }
}

template <typename T> static void totals() {
    std::vector<T> v(1000);
    T *d, sum = 0;
    for (size_t i = 0; i < v.size(); i++)
        v[i] = (T)(i % 97);
    OK(cudaMalloc(&d, (v.size() + 1) * sizeof(T)));
    OK(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    total<T><<<1, 256>>>(d, d + v.size(), (int)v.size());
    OK(cudaMemcpy(&sum, d + v.size(), sizeof sum, cudaMemcpyDeviceToHost));
    T right = 0;
    for (T x : v)
        right += x;
    WANT(sum == right);
    OK(cudaFree(d));
}

int main() {
    std::vector<int> in(N);
    std::vector<seen> out(N);
    unsigned seed = 9;
    int *d;
    seen *o;
    for (int &v : in)
        v = next_random(&seed) >> 15;
    OK(cudaMalloc(&d, N * 4));
    OK(cudaMalloc(&o, N * sizeof *o));
    OK(cudaMemcpy(d, in.data(), N * 4, cudaMemcpyHostToDevice));
    talk<<<1, N>>>(d, o);
    OK(cudaMemcpy(out.data(), o, N * sizeof *o, cudaMemcpyDeviceToHost));
#define SAME(field)                                                                                                    \
    do {                                                                                                               \
        for (int i = 0; i < N; i++)                                                                                    \
            WANT(out[i].field == expected(in, i).field);                                                               \
    } while (0)
    SAME(up);
    SAME(down);
    SAME(xored);
    SAME(index);
    SAME(narrow);
    SAME(wide);
    SAME(real);
    SAME(ballot);
    SAME(match);
    SAME(all);
    SAME(active);
    SAME(lanes_below);
    SAME(any);
    SAME(every);
    SAME(uniform);
    SAME(counted);
    SAME(anded);
    SAME(ored);
    SAME(tile_sum);
    SAME(tile_scan);
    SAME(tile_max);
    SAME(group_size);
    SAME(group_rank);
    SAME(coalesced);
    SAME(funnel);
    SAME(permuted);
    SAME(reversed);
    SAME(dot);
    SAME(sad);
    SAME(simd);
    SAME(leading);
    SAME(first);
    SAME(bits);
    SAME(high);
    totals<int>();
    totals<float>();
    totals<double>();
    totals<long long>();
    return done();
}
