// Compiled by: nvcc -arch=compute_80 -ptx (spin_waits_o3.ptx), and with -G (spin_waits_g.ptx).
/* Threads that wait for others of their warp: in shared memory, at an mbarrier, by sleeping. Each adds 1 to c[0] and
 * writes 7 to a word of its own. The last four kernels never end. */
struct mutexes { unsigned lock, other, flag, pad; };
#define KERNEL extern "C" __global__ void
#define MINE   c[1 + blockIdx.x * blockDim.x + threadIdx.x]
typedef volatile unsigned word;

KERNEL shared_lock(mutexes *m, word *c) {
    __shared__ unsigned lock;
    __shared__ word n;
    if (threadIdx.x == 0) lock = n = 0;
    __syncthreads();
    while (atomicCAS(&lock, 0, 1) != 0)
        ;
    n = n + 1;
    __threadfence_block();
    atomicExch(&lock, 0);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd((unsigned *)&c[0], n);
    MINE = 7;
}
/* Thread 5 arrives for all; the others test the phase. */
KERNEL mbarrier_wait(mutexes *m, word *c) {
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar), done = 0;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b) : "memory");
    __syncthreads();
    if (threadIdx.x == 5)
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(b) : "memory");
    else
        while (!done)
            asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0,1,0,p;}"
                         : "=r"(done) : "r"(b) : "memory");
    atomicAdd((unsigned *)&c[0], 1);
    MINE = 7;
}
KERNEL sleep_alone(mutexes *m, word *c) {
    word *flag = &m->flag;
    if (threadIdx.x == 3)
        *flag = 1;
    else
        while (*flag == 0)
            __nanosleep(200);
    atomicAdd((unsigned *)&c[0], 1);
    MINE = 7;
}
/* Thread 3 reads 500 words before it sets the flag. */
KERNEL late_flag(mutexes *m, word *c) {
    word *flag = &m->flag;
    if (threadIdx.x != 3) {
        while (*flag == 0)
            ;
    } else {
        unsigned sum = 1;
        for (int i = 0; i < 500; i++)
            sum += ((word *)m)[0];
        *flag = sum;
    }
    atomicAdd((unsigned *)&c[0], 1);
    MINE = 7;
}
/* Threads 0 and 1 each hold a lock, and wait for the lock of the other thread. */
KERNEL opposite_locks(mutexes *m, word *c) {
    unsigned *a = threadIdx.x & 1 ? &m->lock : &m->other, *b = threadIdx.x & 1 ? &m->other : &m->lock;
    while (atomicCAS(a, 0, 1) != 0)
        ;
    if (threadIdx.x < 2)
        while (*(word *)b == 0)
            ;
    while (atomicCAS(b, 0, 1) != 0)
        ;
    c[0] = c[0] + 1;
    atomicExch(b, 0);
    atomicExch(a, 0);
    MINE = 7;
}
KERNEL never_counting(mutexes *m, word *c) {
    unsigned n = 0;
    while (*(word *)&m->flag == 0)
        n++;
    c[0] = n;
}
KERNEL never_sleeping(mutexes *m, word *c) {
    unsigned ns = 8;
    while (*(word *)&m->flag == 0) {
        __nanosleep(ns);
        ns = ns < 256 ? ns * 2 : 8;
    }
    c[0] = ns;
}
KERNEL never_clock(mutexes *m, word *c) {
    long long t = clock64();
    while (*(word *)&m->flag == 0)
        ;
    c[0] = clock64() - t;
}
