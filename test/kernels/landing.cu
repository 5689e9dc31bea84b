// When asynchronous copies read global memory, and when they write shared memory.
// test/host/landing.c runs each kernel with every model and compares its results.
// Compiled by: nvcc -O2 -std=c++17 -arch=sm_80 -ptx landing.cu

using word = volatile int;

__device__ void copy(word *to, const int *from) {
    unsigned at = (unsigned)__cvta_generic_to_shared((int *)to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from) : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int groups> __device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory"); }

// The thread writes zero over the destination of its copy, which is in flight. The block may have a partial warp.
extern "C" __global__ void own_zero(const int *in, int *out) {
    __shared__ word s[64];
    int t = threadIdx.x;
    copy(&s[t], in + t);
    s[t] = 0;
    commit();
    wait<0>();
    out[t] = s[t];
}

// A thread of the other warp writes the zero.
extern "C" __global__ void other_zero(const int *in, int *out) {
    __shared__ word s[64];
    int t = threadIdx.x;
    copy(&s[t], in + t);
    s[63 - t] = 0;
    commit();
    wait<0>();
    __syncthreads();
    out[t] = s[t];
}

// As other_zero, but an mbarrier waits for the copies.
extern "C" __global__ void zero_before_arrival(const int *in, int *out) {
    __shared__ word s[64];
    __shared__ long long object;
    int t = threadIdx.x;
    unsigned b = (unsigned)__cvta_generic_to_shared(&object);
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(b) : "memory");
    __syncthreads();
    copy(&s[t], in + t);
    s[63 - t] = 0;
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(b) : "memory");
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.test_wait.parity.shared.b64 p, [%0], 0;\n"
                 "@!p bra again; }" ::"r"(b)
                 : "memory");
    out[t] = s[63 - t];
}

// The thread overwrites the source after it has issued the copy.
extern "C" __global__ void new_source(int *in, int *out) {
    __shared__ word s[64];
    int t = threadIdx.x;
    copy(&s[t], in + t);
    in[t] = -5;
    commit();
    wait<0>();
    out[t] = s[t];
}

// Two groups copy to one destination. The second group is the last to write.
extern "C" __global__ void two_groups(const int *in, int *out) {
    __shared__ word s[64];
    int t = threadIdx.x;
    s[t] = -1;
    copy(&s[t], in + t);
    commit();
    copy(&s[t], in + 64 + t);
    commit();
    wait<1>();
    out[t] = s[t];
    wait<0>();
    out[64 + t] = s[t];
}

// Four groups, and then a copy in no group. wait_group 3 to 0 follow; after each, the thread reads all five words.
extern "C" __global__ void waits(const int *in, int *out) {
    __shared__ word s[5][64];
    int t = threadIdx.x;
    for (int i = 0; i < 5; i++)
        s[i][t] = -1;
    for (int i = 0; i < 5; i++) {
        copy(&s[i][t], in + 64 * i + t);
        if (i < 4)
            commit();
    }
    wait<3>();
    for (int i = 0; i < 5; i++)
        out[64 * i + t] = s[i][t];
    wait<2>();
    for (int i = 0; i < 5; i++)
        out[64 * (5 + i) + t] = s[i][t];
    wait<1>();
    for (int i = 0; i < 5; i++)
        out[64 * (10 + i) + t] = s[i][t];
    wait<0>();
    for (int i = 0; i < 5; i++)
        out[64 * (15 + i) + t] = s[i][t];
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int i = 0; i < 5; i++)
        out[64 * (20 + i) + t] = s[i][t];
}

// Lane l copies l % 4 + 1 words in as many groups, and then waits for all but its youngest two groups. Empty groups
// follow in the odd lanes, and they wait again.
extern "C" __global__ void lanes(const int *in, int *out) {
    __shared__ word s[4][64];
    int t = threadIdx.x;
    for (int i = 0; i < 4; i++)
        s[i][t] = -1;
    for (int i = 0; i <= t % 4; i++) {
        copy(&s[i][t], in + 64 * i + t);
        commit();
    }
    wait<2>();
    for (int i = 0; i < 4; i++)
        out[64 * i + t] = s[i][t];
    if (t % 2) {
        commit();
        wait<2>();
    }
    for (int i = 0; i < 4; i++)
        out[64 * (4 + i) + t] = s[i][t];
}

// The first warp exits without a wait. The barrier of the second warp opens then.
extern "C" __global__ void no_wait(const int *in, int *out) {
    __shared__ word s[32];
    int t = threadIdx.x;
    if (t < 32) {
        copy(&s[t], in + t);
        return;
    }
    __syncthreads();
    out[t - 32] = s[t - 32];
}

// A thread has 300 copies in flight.
extern "C" __global__ void many(const int *in, int *out) {
    __shared__ word s[300][32];
    int t = threadIdx.x;
    for (int i = 0; i < 300; i++)
        copy(&s[i][t], in + i + t);
    commit();
    wait<0>();
    int sum = 0;
    for (int i = 0; i < 300; i++)
        sum = 3 * sum + s[i][t];
    out[t] = sum;
}

// The thread does not wait. It reads its word until the copy has written it.
extern "C" __global__ void polls(const int *in, int *out) {
    __shared__ word s[64];
    int t = threadIdx.x, tries = 0;
    s[t] = -1;
    copy(&s[t], in + t);
    while (s[t] == -1)
        tries++;
    out[t] = s[t] + (tries < 0);
}
