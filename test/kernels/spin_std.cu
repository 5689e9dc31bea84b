// Compiled by: nvcc -std=c++17 -arch=compute_75 -ptx (spin_std_o3.ptx).
/* Spin locks of the C++ standard library. Inside each lock, a thread adds to c[0] by a load and a store, so that lost
 * updates and deadlocks are detected. The order of the lanes does not matter. */
#include <cuda/atomic>
#include <cuda/semaphore>
struct mutexes { unsigned lock, ticket, serving, pad; };
#define KERNEL extern "C" __global__ void
KERNEL std_atomic(mutexes *m, volatile unsigned *c) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> a(m->lock);
    unsigned expected = 0;
    while (!a.compare_exchange_weak(expected, 1, cuda::std::memory_order_acquire)) {
        expected = 0;
        a.wait(1, cuda::std::memory_order_relaxed);
    }
    c[0] = c[0] + 1;
    a.store(0, cuda::std::memory_order_release);
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}
__device__ cuda::binary_semaphore<cuda::thread_scope_device> gate{1};
KERNEL std_semaphore(mutexes *m, volatile unsigned *c) {
    gate.acquire();
    c[0] = c[0] + 1;
    gate.release();
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}
