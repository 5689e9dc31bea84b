// Random work in streams: kernels, functions of the host, copies, graphs, events and values, behind kernels that wait
// until the host opens their gates. Each piece of work looks whether all the work is done that must come before it by
// the order of streams and events. "order SEED" runs one program; without it, twelve programs run.
#include "mistakes.h"
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <vector>

enum { STREAMS = 5, WORK = 60, GATES = 8, LEGACY = 3 }; // stream 3 is the default stream, stream 4 does not wait for it

struct board {
    volatile int gate[GATES];
    unsigned values[2 * WORK];
    unsigned long long before[WORK]; // piece of work -> the pieces that must come before it, as bits
    volatile bool done[WORK], early[WORK];
};

__host__ __device__ static void note(board *b, int id) {
    for (int i = 0; i < WORK; i++)
        if (b->before[id] >> i & 1 && !b->done[i])
            b->early[id] = true;
    b->done[id] = true;
}
__global__ void write_down(board *b, int id) { note(b, id); }
__global__ void stand(board *b, int id, int gate) {
    while (!b->gate[gate])
        ;
    note(b, id);
}

struct call {
    board *b;
    int id;
};
static void CUDART_CB host_note(void *p) {
    const call *c = (call *)p;
    note(c->b, c->id);
}

// last[s]: the pieces of work after which the next one of stream s comes
struct program {
    board *b;
    unsigned random;
    cudaStream_t stream[STREAMS];
    std::vector<int> last[STREAMS];
    cudaEvent_t event[GATES];
    std::vector<call *> calls;
    int *pinned, *device, n, gates, written;

    unsigned below(unsigned most) { return next_random(&random) / 65536 % most; }
    // Piece `id` follows what is last in its stream, and in the default stream or all streams that wait for it.
    void follow(int s, int id) {
        for (int i = 0; i < STREAMS; i++)
            if (i == s || (s < LEGACY && i == LEGACY) || (s == LEGACY && i < LEGACY))
                for (int j : last[i])
                    b->before[id] |= 1ull << j;
        last[s] = {id};
    }
    call *called(int id) {
        calls.push_back(new call{b, id});
        return calls.back();
    }
    void graph(cudaStream_t s, int id) {
        cudaGraph_t g;
        cudaGraphExec_t x;
        cudaStream_t c = stream[0];
        OK(cudaStreamBeginCapture(c, cudaStreamCaptureModeRelaxed));
        OK(cudaMemcpyAsync(device, pinned, 64, cudaMemcpyHostToDevice, c));
        if (below(2))
            write_down<<<1, 1, 0, c>>>(b, id);
        else
            OK(cudaLaunchHostFunc(c, host_note, called(id)));
        OK(cudaStreamEndCapture(c, &g));
        OK(cudaGraphInstantiate(&x, g, 0));
        OK(cudaGraphLaunch(x, s));
        OK(cudaGraphDestroy(g));
    }
    void add(void) {
        const int s = below(STREAMS), id = n++, kind = below(8);
        const cudaStream_t to = stream[s];
        follow(s, id);
        if (kind == 0 && gates < GATES) {
            stand<<<1, 1, 0, to>>>(b, id, gates++);
            return;
        }
        if (kind == 1) {
            OK(cudaMemcpyAsync(device, pinned, 64, cudaMemcpyHostToDevice, to));
            OK(cudaMemsetAsync(device, 1, 64, to));
        }
        if (kind == 2)
            graph(to, id);
        else if (kind == 3)
            OK(cudaLaunchHostFunc(to, host_note, called(id)));
        else
            write_down<<<1, 1, 0, to>>>(b, id);
    }
    // A stream waits for another one: by an event, or by a value that the other one writes.
    void join(int way) {
        const int from = below(STREAMS), to = below(STREAMS);
        if (from == to || last[from].empty())
            return;
        if (below(2)) {
            OK(cudaEventRecord(event[way], stream[from]));
            OK(cudaStreamWaitEvent(stream[to], event[way], 0));
        } else if (from != LEGACY && to != LEGACY) {
            const CUdeviceptr p = (CUdeviceptr)&b->values[written++];
            WANT(cuStreamWriteValue32(stream[from], p, 1, 0) == CUDA_SUCCESS);
            WANT(cuStreamWaitValue32(stream[to], p, 1, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
        } else {
            return;
        }
        last[to].insert(last[to].end(), last[from].begin(), last[from].end());
    }
    int run(unsigned seed) {
        random = seed;
        n = gates = written = 0;
        OK(cudaHostAlloc(&b, sizeof *b, cudaHostAllocMapped));
        OK(cudaHostAlloc(&pinned, 64, 0));
        OK(cudaMalloc(&device, 64));
        memset((void *)b, 0, sizeof *b);
        for (int i = 0; i < GATES; i++)
            OK(cudaEventCreate(&event[i]));
        for (int i = 0; i < STREAMS; i++)
            if (i != LEGACY)
                OK(cudaStreamCreateWithFlags(&stream[i], i > LEGACY ? cudaStreamNonBlocking : cudaStreamDefault));
        stream[LEGACY] = 0;
        int opened = 0;
        while (n < WORK) {
            add();
            if (below(4) == 0)
                join(below(GATES));
            if (below(6) == 0 && opened < gates)
                b->gate[opened++] = 1;
        }
        while (opened < gates)
            b->gate[opened++] = 1;
        OK(cudaDeviceSynchronize());
        return wrong();
    }
    int wrong(void) {
        int mistakes = 0;
        for (int i = 0; i < WORK; i++)
            mistakes += !b->done[i] || b->early[i];
        for (call *c : calls)
            delete c;
        return mistakes;
    }
};

int main(int argc, char **argv) {
    const unsigned only = argc > 1 ? (unsigned)atoi(argv[1]) : 0, most = only ? only : 12;
    for (unsigned seed = only ? only : 1; seed <= most; seed++) {
        program p;
        const int n = p.run(seed);
        if (n)
            printf("program %u: %d\n", seed, n);
        WANT(n == 0);
    }
    return done();
}
