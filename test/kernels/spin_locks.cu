// Compiled by: nvcc -arch=compute_75 -ptx with -Xcicc -O0, -O1, -O3 (spin_locks_o0.ptx, _o1, _o3) and -G (_g), and by
// clang++ -O1 and -O0 -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -Xclang -target-feature
// -Xclang +ptx64 -S (spin_locks_clang.ptx, spin_locks_clang_o0.ptx).
/* Spin locks of all kinds. Inside each lock, a thread adds to c[0] by a load and a store, so that lost updates and
 * deadlocks are detected. The order of the lanes does not matter. */
#ifdef __clang__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __noinline__ __attribute__((noinline))
struct index { unsigned x; };
#define threadIdx index{(unsigned)__nvvm_read_ptx_sreg_tid_x()}
#define blockIdx index{(unsigned)__nvvm_read_ptx_sreg_ctaid_x()}
#define blockDim index{(unsigned)__nvvm_read_ptx_sreg_ntid_x()}
#define ATOMIC(name, op)                                                                                               \
    static __device__ unsigned name(unsigned *p, unsigned v) {                                                         \
        unsigned old;                                                                                                  \
        asm volatile(op " %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");                                     \
        return old;                                                                                                    \
    }
ATOMIC(atomicExch, "atom.exch.b32")
ATOMIC(atomicAdd, "atom.add.u32")
ATOMIC(atomicOr, "atom.or.b32")
ATOMIC(atomicAnd, "atom.and.b32")
static __device__ unsigned atomicCAS(unsigned *p, unsigned compare, unsigned v) {
    unsigned old;
    asm volatile("atom.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(p), "r"(compare), "r"(v) : "memory");
    return old;
}
static __device__ void __threadfence() { asm volatile("membar.gl;" ::: "memory"); }
static __device__ void __threadfence_block() { asm volatile("membar.cta;" ::: "memory"); }
static __device__ void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }
static __device__ long long clock64() {
    long long t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t));
    return t;
}
#endif
struct mutexes { unsigned lock, ticket, serving, pad; };
#define KERNEL extern "C" __global__ void
/* The mutex of the CUDA C++ Programming Guide, section __nanosleep(). */
__device__ void guide_lock(unsigned *m) {
    unsigned ns = 8;
    while (atomicCAS(m, 0, 1) == 1) {
        __nanosleep(ns);
        if (ns < 256) ns *= 2;
    }
}
__device__ void guide_unlock(unsigned *m) { atomicExch(m, 0); }
KERNEL nanosleep_mutex(mutexes *m, volatile unsigned *c) {
    guide_lock(&m->lock);
    c[0] = c[0] + 1;
    __threadfence();
    guide_unlock(&m->lock);
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}
KERNEL fence_in_loop(mutexes *m, volatile unsigned *c) {
    while (atomicCAS(&m->lock, 0, 1) != 0)
        __threadfence();
    c[0] = c[0] + 1;
    __threadfence();
    atomicExch(&m->lock, 0);
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}
KERNEL ticket_lock(mutexes *m, volatile unsigned *c) {
    unsigned mine = atomicAdd(&m->ticket, 1);
    while (*(volatile unsigned *)&m->serving != mine)
        __nanosleep(20);
    __threadfence();
    c[0] = c[0] + 1;
    __threadfence();
    *(volatile unsigned *)&m->serving = mine + 1;
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}
KERNEL growing_backoff(mutexes *m, volatile unsigned *c) {
    unsigned bound = 1;
    while (atomicExch(&m->lock, 1) != 0) {
        for (unsigned i = 0; i < bound; i++)
            __threadfence_block();
        bound = bound < 64 ? bound * 2 : 64;
    }
    c[0] = c[0] + 1;
    __threadfence();
    atomicExch(&m->lock, 0);
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}
__device__ bool try_lock(unsigned *m) { return atomicCAS(m, 0, 1) == 0; }
__device__ __noinline__ bool try_lock_far(unsigned *m) { return atomicCAS(m, 0, 1) == 0; }
KERNEL try_lock_loop(mutexes *m, volatile unsigned *c) {
    while (!try_lock(&m->lock))
        ;
    c[0] = c[0] + 1;
    __threadfence();
    atomicExch(&m->lock, 0);
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}
KERNEL try_lock_called(mutexes *m, volatile unsigned *c) {
    while (!try_lock_far(&m->lock))
        ;
    c[0] = c[0] + 1;
    __threadfence();
    atomicExch(&m->lock, 0);
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}
__device__ __noinline__ void lock_far(unsigned *m) {
    while (atomicCAS(m, 0, 1) != 0)
        __nanosleep(32);
}
KERNEL lock_called(mutexes *m, volatile unsigned *c) {
    if (threadIdx.x % 3 != 0) {
        lock_far(&m->lock);
        c[0] = c[0] + 1;
        __threadfence();
        atomicExch(&m->lock, 0);
    } else {
        atomicAdd((unsigned *)&c[1], 0);
        lock_far(&m->lock);
        c[0] = c[0] + 1;
    }
    __threadfence();
    if (threadIdx.x % 3 == 0)
        atomicExch(&m->lock, 0);
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}
/* Tests first, then tries. */
KERNEL test_and_set(mutexes *m, volatile unsigned *c) {
    for (;;) {
        while (*(volatile unsigned *)&m->lock != 0)
            ;
        if (atomicExch(&m->lock, 1) == 0)
            break;
    }
    c[0] = c[0] + 1;
    __threadfence();
    *(volatile unsigned *)&m->lock = 0;
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}
KERNEL bit_lock(mutexes *m, volatile unsigned *c) {
    const unsigned bit = 1u << 5;
    while (atomicOr(&m->lock, bit) & bit)
        __nanosleep(10);
    c[0] = c[0] + 1;
    __threadfence();
    atomicAnd(&m->lock, ~bit);
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}
KERNEL flag_variable(mutexes *m, volatile unsigned *c) {
    bool mine = false;
    while (!mine) {
        if (atomicCAS(&m->lock, 0, 1) == 0)
            mine = true;
        else
            __nanosleep(100);
    }
    c[0] = c[0] + 1;
    __threadfence();
    atomicExch(&m->lock, 0);
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}
/* The lock is released inside the loop, before lanes reconverge. So this kernel also ends on a stack. */
KERNEL body_in_loop(mutexes *m, volatile unsigned *c) {
    bool done = false;
    while (!done) {
        if (atomicCAS(&m->lock, 0, 1) == 0) {
            c[0] = c[0] + 1;
            __threadfence();
            atomicExch(&m->lock, 0);
            done = true;
        }
    }
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}
KERNEL nested_locks(mutexes *m, volatile unsigned *c) {
    unsigned n = 1 + threadIdx.x % 3;
    for (unsigned i = 0; i < n; i++) {
        if (i & 1)
            continue;
        while (atomicCAS(&m->lock, 0, 1) != 0)
            __nanosleep(8);
        while (atomicCAS(&m->ticket, 0, 1) != 0)
            __threadfence();
        c[0] = c[0] + 1;
        __threadfence();
        atomicExch(&m->ticket, 0);
        atomicExch(&m->lock, 0);
    }
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}
KERNEL clock_backoff(mutexes *m, volatile unsigned *c) {
    while (atomicCAS(&m->lock, 0, 1) != 0) {
        long long until = clock64() + 50;
        while (clock64() < until)
            ;
    }
    c[0] = c[0] + 1;
    __threadfence();
    atomicExch(&m->lock, 0);
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}
KERNEL counted_tries(mutexes *m, volatile unsigned *c) {
    unsigned tries = 0;
    while (atomicCAS(&m->lock, 0, 1) != 0)
        tries++;
    c[0] = c[0] + 1;
    __threadfence();
    atomicExch(&m->lock, 0);
    c[1 + blockIdx.x * blockDim.x + threadIdx.x] = tries == 0xffffffff ? 8 : 7;
}
