// Kernels that wait for words which the host writes while the kernel runs: persistent kernels, as programs with mapped
// memory have them. "flags stuck" launches a kernel for which the host never writes the word.
#include "mistakes.h"
#include <atomic>
#include <cstring>
#include <thread>
#include <unistd.h>

enum { ROUNDS = 5, THREADS = 64 };
struct mail { // words that host and kernel exchange
    volatile int request, answer, value;
};
__managed__ volatile int go;

__global__ void wait_for(volatile int *flag, int *out) {
    if (threadIdx.x == 0)
        while (!*flag)
            ;
    __syncthreads();
    out[threadIdx.x] = *flag + threadIdx.x;
}
// Answers each request with twice its value, until the request is negative.
__global__ void serve(mail *m, int *served) {
    __shared__ int now;
    for (int last = 0, got;; last = got) {
        if (threadIdx.x == 0) {
            while (m->request == last)
                ;
            now = m->request;
        }
        __syncthreads();
        got = now;
        if (got < 0)
            return;
        if (threadIdx.x == 0) {
            m->value = 2 * m->value;
            __threadfence_system();
            m->answer = got;
            ++*served;
        }
        __syncthreads();
    }
}
__global__ void add_one(int *p) { p[threadIdx.x]++; }
__global__ void wait_for_go(int *out) {
    while (!go)
        ;
    *out = go;
}

// The kernel waits for a word that this thread writes after the launch. A second kernel runs after the first.
static void written_after_the_launch(void) {
    int *flag, *out;
    OK(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
    OK(cudaMallocManaged(&out, THREADS * sizeof *out));
    *flag = 0;
    wait_for<<<1, THREADS>>>(flag, out);
    OK(cudaGetLastError());
    *(volatile int *)flag = 7;
    add_one<<<1, THREADS>>>(out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < THREADS; i++)
        WANT(out[i] == 7 + i + 1);
    OK(cudaFreeHost(flag));
    OK(cudaFree(out));
}

// A kernel that the host asks several times, and then ends.
static void asked_while_it_runs(void) {
    mail *m;
    int *served, count = 0;
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    OK(cudaMallocHost(&m, sizeof *m));
    OK(cudaMalloc(&served, sizeof *served));
    OK(cudaMemset(served, 0, sizeof *served));
    memset((void *)m, 0, sizeof *m);
    serve<<<1, 96, 0, s>>>(m, served);
    for (int i = 1; i <= ROUNDS; i++) {
        m->value = 10 * i;
        std::atomic_thread_fence(std::memory_order_seq_cst);
        m->request = i;
        while (m->answer != i)
            usleep(100);
        WANT(m->value == 20 * i);
    }
    m->request = -1;
    OK(cudaStreamSynchronize(s));
    OK(cudaMemcpy(&count, served, sizeof count, cudaMemcpyDeviceToHost));
    WANT(count == ROUNDS);
    OK(cudaFree(served));
    OK(cudaFreeHost(m));
    OK(cudaStreamDestroy(s));
}

// Another thread of the host writes the word while this thread waits for the kernel.
static void written_by_another_thread(void) {
    int *out;
    OK(cudaMallocManaged(&out, sizeof *out));
    go = 0;
    std::thread writer([] {
        usleep(200000);
        go = 3;
    });
    wait_for_go<<<1, 1>>>(out);
    OK(cudaDeviceSynchronize());
    WANT(*out == 3);
    writer.join();
    OK(cudaFree(out));
}

int main(int argc, char **) {
    int *out;
    if (argc > 1) {
        OK(cudaMalloc(&out, sizeof *out));
        wait_for_go<<<1, 1>>>(out);
        OK(cudaGetLastError());
        WANT(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
        return done();
    }
    written_after_the_launch();
    asked_while_it_runs();
    written_by_another_thread();
    return done();
}
