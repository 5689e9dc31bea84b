// Persistent kernels that take the work of blocks, or of clusters of two blocks, that have not begun
// (clusterlaunchcontrol). test/host/stealing.c runs them with every model.
// Compiled by: nvcc -O2 -std=c++17 -arch=sm_100a -ptx stealing.cu
#include <cstdint>

static __device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

static __device__ void wait(const uint64_t *barrier, uint32_t phase) {
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra W; }" ::"r"(
                     shared_address(barrier)),
                 "r"(phase)
                 : "memory");
}

// Sets *x to the first block of the cancelled cluster. Returns false if no cluster was left.
static __device__ bool cancelled(const uint4 *response, uint32_t *x) {
    uint32_t any;
    asm volatile("{ .reg .b128 r; .reg .pred p; ld.shared.b128 r, [%2];\n"
                 "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r; selp.u32 %0, 1, 0, p; mov.u32 %1, 0;\n"
                 "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, r; }"
                 : "=r"(any), "=r"(*x)
                 : "r"(shared_address(response))
                 : "memory");
    return any;
}

// Each thread counts in done[] that it worked for a thread of block x; owner[x] is the block that did the work.
static __device__ void work(uint32_t *done, uint32_t *owner, uint32_t x) {
    atomicAdd(&done[x * blockDim.x + threadIdx.x], 1);
    if (threadIdx.x == 0)
        owner[x] = blockIdx.x;
}

extern "C" __global__ void persistent(uint32_t *done, uint32_t *owner) {
    __shared__ uint4 response;
    __shared__ uint64_t barrier;
    uint32_t x = blockIdx.x;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
    __syncthreads();
    for (uint32_t phase = 0;; phase ^= 1) {
        if (threadIdx.x == 0)
            asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%1], 16;\n"
                         "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1]; }" ::
                             "r"(shared_address(&response)),
                         "r"(shared_address(&barrier))
                         : "memory");
        work(done, owner, x);
        wait(&barrier, phase);
        const bool more = cancelled(&response, &x);
        __syncthreads();
        if (!more)
            return;
    }
}

extern "C" __global__ void __cluster_dims__(2) persistent_pairs(uint32_t *done, uint32_t *owner) {
    __shared__ uint4 response;
    __shared__ uint64_t barrier;
    const uint32_t rank = blockIdx.x % 2;
    uint32_t x = blockIdx.x - rank;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
    for (uint32_t phase = 0;; phase ^= 1) {
        if (threadIdx.x == 0)
            asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], 16; }" ::"r"(
                             shared_address(&barrier))
                         : "memory");
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
        if (threadIdx.x == 0 && rank == 0)
            asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                         ".multicast::cluster::all.b128 [%0], [%1];" ::"r"(shared_address(&response)),
                         "r"(shared_address(&barrier))
                         : "memory");
        work(done, owner, x + rank);
        wait(&barrier, phase);
        const bool more = cancelled(&response, &x);
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
        if (!more)
            return;
    }
}
