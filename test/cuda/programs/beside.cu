// Kernels that run at the same time and wait for each other: in streams, from several threads of the host, and in the
// order that streams and events ask for. "beside stuck" launches a kernel that waits for a later kernel of its stream,
// "beside clock" a kernel that waits with a time limit.
#include "mistakes.h"
#include <thread>

enum { ROUNDS = 6, BLOCKS = 3, THREADS = 64 };
struct words {
    int turn, count, ready;
};

// Adds to `count` ROUNDS times, each time when `turn` has the value of this kernel. Then it is the other one's turn.
__global__ void play(words *w, int own) {
    volatile words *v = w;
    if (threadIdx.x == 0 && blockIdx.x == 0)
        for (int i = 0; i < ROUNDS; i++) {
            while (v->turn != own)
                ;
            v->count = 2 * v->count + own;
            __threadfence();
            v->turn = !own;
        }
}
// All blocks wait for `ready`; each adds to `count`.
__global__ void wait_for(words *w, int value) {
    if (threadIdx.x == 0) {
        while (((volatile words *)w)->ready != value)
            ;
        atomicAdd(&w->count, 1);
    }
    __syncthreads();
}
// As wait_for(), but gives up after some time, and sleeps longer in each round.
__global__ void wait_some_time(words *w, int value) {
    const long long since = clock64();
    for (unsigned ns = 8; ((volatile words *)w)->ready != value && clock64() - since < 100000000000; ns *= 2)
        if (ns < 4096)
            __nanosleep(ns);
    atomicAdd(&w->count, ((volatile words *)w)->ready == value);
}
__global__ void set_ready(words *w, int value) {
    if (threadIdx.x == 0)
        atomicExch(&w->ready, value);
}
__global__ void add(words *w, int value) { atomicAdd(&w->count, value); }

static words *fresh(void) {
    words *w;
    OK(cudaMalloc(&w, sizeof *w));
    OK(cudaMemset(w, 0, sizeof *w));
    return w;
}
static int count_of(words *w) {
    words got = {0, -1, 0};
    OK(cudaMemcpy(&got, w, sizeof got, cudaMemcpyDeviceToHost));
    OK(cudaFree(w));
    return got.count;
}
// The kernels of the two players double the count and add 0 or 1 in turns: 0, 1, 2, 5, 10, 21, ...
static int played(void) {
    int n = 0;
    for (int i = 0; i < ROUNDS; i++)
        n = 2 * (2 * n) + 1;
    return n;
}

static void two_streams(cudaStream_t *s) {
    words *w = fresh();
    play<<<2, THREADS, 0, s[0]>>>(w, 0);
    play<<<2, THREADS, 0, s[1]>>>(w, 1);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    WANT(count_of(w) == played());
}

static void two_threads(void) {
    words *w = fresh();
    auto player = [w](int own) {
        cudaStream_t s;
        OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
        play<<<1, 32, 0, s>>>(w, own);
        OK(cudaStreamSynchronize(s));
        OK(cudaStreamDestroy(s));
    };
    std::thread one(player, 1), zero(player, 0);
    one.join();
    zero.join();
    WANT(count_of(w) == played());
}

// Later work of the waiting kernel's stream runs after it: 3 + 1 from the blocks, then 10, though the kernel that ends
// the wait is launched last. An event and a stream that waits for this event keep the same order.
static void order(cudaStream_t *s) {
    words *w = fresh();
    cudaEvent_t e;
    OK(cudaEventCreate(&e));
    wait_for<<<BLOCKS, THREADS, 0, s[0]>>>(w, 7);
    OK(cudaEventRecord(e, s[0]));
    wait_for<<<1, 1, 0, s[0]>>>(w, 7);
    OK(cudaStreamWaitEvent(s[2], e, 0));
    add<<<1, 1, 0, s[2]>>>(w, 100);
    WANT(cudaStreamQuery(s[0]) == cudaErrorNotReady);
    WANT(cudaEventQuery(e) == cudaErrorNotReady);
    words now;
    OK(cudaMemcpyAsync(&now, w, sizeof now, cudaMemcpyDeviceToHost, s[1]));
    OK(cudaStreamSynchronize(s[1]));
    WANT(now.count == 0);
    set_ready<<<1, THREADS, 0, s[1]>>>(w, 7);
    OK(cudaEventSynchronize(e));
    OK(cudaStreamSynchronize(s[0]));
    OK(cudaStreamQuery(s[0]));
    OK(cudaStreamSynchronize(s[2]));
    WANT(count_of(w) == BLOCKS + 1 + 100);
    OK(cudaEventDestroy(e));
}

// A copy in another stream ends the wait of a kernel.
static void ended_by_a_copy(cudaStream_t *s) {
    words *w = fresh(), value = {0, 20, 9};
    wait_for<<<BLOCKS, THREADS, 0, s[0]>>>(w, 9);
    OK(cudaMemcpyAsync(w, &value, sizeof value, cudaMemcpyHostToDevice, s[1]));
    OK(cudaStreamSynchronize(s[0]));
    WANT(count_of(w) == 20 + BLOCKS);
}

// A kernel waits before the threads begin that launch three more and the one that ends the wait. Meanwhile they all
// create streams and memory.
static void with_a_time_limit(cudaStream_t first) {
    enum { OTHERS = 4 };
    words *w = fresh();
    std::thread other[OTHERS];
    wait_some_time<<<BLOCKS, THREADS, 0, first>>>(w, 5);
    for (int i = 0; i < OTHERS; i++)
        other[i] = std::thread([w, i] {
            cudaStream_t s;
            int *more;
            OK(cudaStreamCreate(&s));
            OK(cudaMalloc(&more, sizeof *more));
            if (i + 1 < OTHERS)
                wait_some_time<<<BLOCKS, THREADS, 0, s>>>(w, 5);
            else
                set_ready<<<1, THREADS, 0, s>>>(w, 5);
            OK(cudaStreamSynchronize(s));
            OK(cudaStreamDestroy(s));
        });
    for (int i = 0; i < OTHERS; i++)
        other[i].join();
    OK(cudaStreamSynchronize(first));
    WANT(count_of(w) == OTHERS * BLOCKS * THREADS);
}

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
// Stream 0 is another stream in each thread.
static void two_default_streams(void) {
    words *w = fresh();
    auto player = [w](int own) {
        play<<<1, 32>>>(w, own);
        OK(cudaStreamSynchronize(0));
    };
    std::thread one(player, 1), zero(player, 0);
    one.join();
    zero.join();
    WANT(count_of(w) == played());
}
#else
static void two_default_streams(void) {}
#endif

int main(int argc, char **argv) {
    cudaStream_t s[3];
    OK(cudaStreamCreate(&s[0]));
    OK(cudaStreamCreate(&s[1]));
    OK(cudaStreamCreateWithFlags(&s[2], cudaStreamNonBlocking));
    if (argc > 1 && argv[1][0] == 'c') {
        with_a_time_limit(s[0]);
        return done();
    }
    if (argc > 1) {
        words *w = fresh();
        wait_for<<<1, 1, 0, s[0]>>>(w, 7);
        set_ready<<<1, THREADS, 0, s[0]>>>(w, 7);
        WANT(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
        return done();
    }
    two_streams(s);
    two_threads();
    two_default_streams();
    order(s);
    ended_by_a_copy(s);
    return done();
}
