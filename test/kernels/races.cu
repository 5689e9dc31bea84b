// Ways to order threads of several blocks. Each way has a correct kernel, and kernels without one part. The lines that
// then race have the word TAG and a name for test/isa/interp/check_races.c. Blocks have 64 threads; `a` is zeroed.
// Compiled with: nvcc -ptx -lineinfo -arch=sm_75 races.cu -o races_sm75.ptx, and likewise for sm_80.

enum { FENCE = 1, BARRIER = 2, FLAG = 4, READER = 8, ALL = 15 }; // the parts of a kernel

#define KERNELS(name)                                                                                                  \
    extern "C" __global__ void name(int *a) { name##_body<ALL>(a); }
#define WITHOUT(name, suffix, part)                                                                                    \
    extern "C" __global__ void name##_##suffix(int *a) { name##_body<ALL & ~part>(a); }

template <int PARTS> __device__ void fence() {
    if (PARTS & FENCE)
        __threadfence();
}
template <int PARTS> __device__ void barrier() {
    if (PARTS & BARRIER)
        __syncthreads();
}
template <int PARTS> __device__ void reader_fence() {
    if (PARTS & READER)
        __threadfence();
}

// One counter, all threads.
template <int PARTS> __device__ void count_body(int *a) {
    if (PARTS & FLAG)
        atomicAdd(a, 1);
    else
        *a += 1; // TAG count
}
KERNELS(count)
WITHOUT(count, plain, FLAG)

// The block that finishes last adds the sums of all blocks, and resets the counter.
template <int PARTS> __device__ void last_block_body(int *a) {
    __shared__ bool last;
    __shared__ int part[64];
    int t = threadIdx.x, *count = a + 1000, *parts = a + 512;
    part[t] = t;
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int i = 0; i < 64; i++)
            sum += part[i];
        parts[blockIdx.x] = sum; // TAG last_block
        fence<PARTS>();
        last = atomicInc((unsigned *)count, gridDim.x) == gridDim.x - 1;
        reader_fence<PARTS>();
    }
    barrier<PARTS>();
    if (last) {
        a[t] = parts[t % gridDim.x]; // TAG last_block
        if (t == 0)
            *count = 0;
    }
}
KERNELS(last_block)
WITHOUT(last_block, no_fence, FENCE)

// Two barriers of the whole grid: each block increments a counter, and waits for the other blocks.
template <int PARTS> __device__ void grid_barrier(int *count, int round) {
    __syncthreads();
    if (threadIdx.x == 0) {
        fence<PARTS>();
        atomicAdd(count, 1);
        while (*(volatile int *)count < round * (int)gridDim.x)
            ;
        reader_fence<PARTS>();
    }
    barrier<PARTS>();
}
template <int PARTS> __device__ void grid_body(int *a) {
    int t = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64, *count = a + 1000;
    a[t] = t; // TAG grid
    grid_barrier<PARTS>(count, 1);
    int v = a[(t + 64) % n]; // TAG grid
    grid_barrier<PARTS>(count, 2);
    a[t] = v + 1;
}
KERNELS(grid)
WITHOUT(grid, no_fence, FENCE)
WITHOUT(grid, no_reader_fence, READER)
WITHOUT(grid, no_barrier, BARRIER)

// Each block waits for the flag of the previous block, and adds its number to the sum of that block.
template <int PARTS> __device__ void chain_body(int *a) {
    int *sum = a, *flag = a + 512, b = blockIdx.x;
    if (threadIdx.x == 0) {
        int before = 0;
        if (b) {
            if (PARTS & FLAG)
                while (*(volatile int *)&flag[b - 1] == 0)
                    ;
            else
                for (int f = 0; f == 0;)
                    asm volatile("ld.global.u32 %0, [%1];" : "=r"(f) : "l"(&flag[b - 1]) : "memory");
            reader_fence<PARTS>();
            before = sum[b - 1]; // TAG chain
        }
        sum[b] = before + b; // TAG chain
        fence<PARTS>();
        if (PARTS & FLAG)
            *(volatile int *)&flag[b] = 1;
        else
            asm volatile("st.global.u32 [%0], 1;" ::"l"(&flag[b]) : "memory");
    }
}
KERNELS(chain)
WITHOUT(chain, no_fence, FENCE)
WITHOUT(chain, no_reader_fence, READER)
WITHOUT(chain, plain_flag, FLAG)

// A warp looks back at the flags of 32 blocks at a time.
template <int PARTS> __device__ void look_back_body(int *a) {
    int *value = a, *flag = a + 512, b = blockIdx.x, lane = threadIdx.x;
    __shared__ int prefix;
    if (lane == 0) {
        value[b] = b; // TAG look_back
        fence<PARTS>();
        atomicExch(&flag[b], 1);
    }
    if (lane < 32) {
        int from = b - 1 - lane, v = 0;
        if (from >= 0) {
            while (*(volatile int *)&flag[from] == 0)
                ;
            reader_fence<PARTS>();
            v = value[from]; // TAG look_back
        }
        for (int d = 16; d; d /= 2)
            v += __shfl_down_sync(0xffffffff, v, d);
        if (lane == 0)
            prefix = v; // TAG look_back_prefix
    }
    barrier<PARTS>();
    a[256 + b * 4 + lane % 4] = prefix; // TAG look_back_prefix
}
KERNELS(look_back)
WITHOUT(look_back, no_fence, FENCE)
WITHOUT(look_back, no_barrier, BARRIER)

// A lock, which one thread of each warp takes.
template <int PARTS> __device__ void lock_body(int *a) {
    int *lock = a + 1000;
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(lock, 0, 1) != 0)
            ;
        reader_fence<PARTS>();
        a[0] += 1; // TAG lock
        fence<PARTS>();
        atomicExch(lock, 0);
    }
}
KERNELS(lock)
WITHOUT(lock, no_fence, FENCE)

// A lock that every thread takes; it needs no independent progress of the threads of a warp.
template <int PARTS> __device__ void lanes_lock_body(int *a) {
    int *lock = a + 1000;
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            reader_fence<PARTS>();
            a[0] += 1; // TAG lanes_lock
            fence<PARTS>();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
KERNELS(lanes_lock)
WITHOUT(lanes_lock, no_fence, FENCE)

// Accesses with qualifiers of the memory model: .release and .acquire, or .relaxed.
template <int PARTS> __device__ void message_body(int *a) {
    int *flag = a + 512, b = blockIdx.x, t = threadIdx.x, f = 0;
    if (b == 0) {
        a[t] = t; // TAG message
        barrier<PARTS>();
        if (t == 0) {
            if (PARTS & FLAG)
                asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
            else
                asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
        }
    } else {
        while (t == 0 && f == 0) {
            if (PARTS & READER)
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(f) : "l"(flag) : "memory");
            else
                asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(f) : "l"(flag) : "memory");
        }
        __syncthreads();
        a[64 * b + t] = a[t]; // TAG message
    }
}
KERNELS(message)
WITHOUT(message, relaxed, FLAG)
WITHOUT(message, no_acquire, READER)
WITHOUT(message, no_barrier, BARRIER)

// A fence of the block does not order threads of different blocks.
template <int PARTS> __device__ void scope_body(int *a) {
    int *flag = a + 512;
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        a[0] = 1; // TAG scope
        if (PARTS & FENCE)
            __threadfence();
        else
            __threadfence_block();
        *(volatile int *)flag = 1;
    } else if (threadIdx.x == 0) {
        while (*(volatile int *)flag == 0)
            ;
        __threadfence();
        a[blockIdx.x] = a[0]; // TAG scope
    }
}
KERNELS(scope)
WITHOUT(scope, block_fence, FENCE)

// Two warps of a block, through a flag in shared memory.
template <int PARTS> __device__ void shared_flag_body(int *a) {
    __shared__ volatile int flag;
    __shared__ int data;
    int t = threadIdx.x;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t == 0) {
        data = a[7]; // TAG shared_flag
        if (PARTS & FENCE)
            __threadfence_block();
        flag = 1;
    } else if (t == 32) {
        while (flag == 0)
            ;
        if (PARTS & READER)
            __threadfence_block();
        a[blockIdx.x] = data; // TAG shared_flag
    }
}
KERNELS(shared_flag)
WITHOUT(shared_flag, no_fence, FENCE)
WITHOUT(shared_flag, no_reader_fence, READER)

// The warps of one block exchange words in global memory.
template <int PARTS> __device__ void block_body(int *a) {
    int t = threadIdx.x, *mine = a + 64 * blockIdx.x;
    mine[t] = t; // TAG block
    barrier<PARTS>();
    int v = mine[63 - t]; // TAG block
    __syncthreads();
    mine[t] = v;
}
KERNELS(block)
WITHOUT(block, no_barrier, BARRIER)

// All blocks store the same value. The checker reports this as a note, not as a mistake.
extern "C" __global__ void same_value(int *a) { a[3] = 7; } // TAG same_value

// Every thread executes a fence after its store, and thread 0 sets the flag after a barrier.
template <int PARTS> __device__ void all_fence_body(int *a) {
    int *flag = a + 512, b = blockIdx.x, t = threadIdx.x;
    if (b == 0) {
        a[t] = t; // TAG all_fence
        fence<PARTS>();
        __syncthreads();
        if (t == 0)
            atomicExch(flag, 1);
    } else {
        if (t == 0)
            while (atomicAdd(flag, 0) == 0)
                ;
        __syncthreads();
        a[64 * b + t] = a[t]; // TAG all_fence
    }
}
KERNELS(all_fence)
WITHOUT(all_fence, no_fence, FENCE)

#if __CUDA_ARCH__ >= 800
__device__ unsigned object(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// Warp 1 produces and warp 0 consumes, in two rounds. Warp 0 waits for the phase parity of an mbarrier.
template <int PARTS> __device__ void mbarrier_body(int *a) {
    __shared__ unsigned long long full;
    __shared__ int data[32];
    int t = threadIdx.x;
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(object(&full)) : "memory"); // TAG mbarrier_init
    barrier<PARTS>();
    for (int round = 0; round < 2; round++) {
        if (t >= 32) {
            data[t - 32] = t + round; // TAG mbarrier
            asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(object(&full)) : "memory"); // TAG mbarrier_init
        } else {
            for (int done = 0; PARTS & READER && !done;)
                asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                             : "=r"(done)
                             : "r"(object(&full)), "r"(round)
                             : "memory");
            a[64 * blockIdx.x + t] = data[31 - t]; // TAG mbarrier
        }
        __syncthreads();
    }
}
KERNELS(mbarrier)
WITHOUT(mbarrier, no_wait, READER)
WITHOUT(mbarrier, no_barrier, BARRIER)

// All threads arrive at an mbarrier by its generic address, and wait with the returned state. Warp 1 leaves in round 1.
template <int PARTS> __device__ void mbarrier_all_body(int *a) {
    __shared__ unsigned long long all;
    __shared__ int data[64];
    int t = threadIdx.x;
    unsigned long long state;
    if (t == 0)
        asm volatile("mbarrier.init.b64 [%0], 64;" ::"l"(&all) : "memory");
    barrier<PARTS>();
    for (int round = 0; round < 3; round++) {
        data[t] = t + round; // TAG mbarrier_all
        if (round == 1 && t >= 32) {
            asm volatile("mbarrier.arrive_drop.b64 %0, [%1];" : "=l"(state) : "l"(&all) : "memory");
            return;
        }
        asm volatile("mbarrier.arrive.b64 %0, [%1];" : "=l"(state) : "l"(&all) : "memory");
        for (int done = 0; !done;)
            asm volatile("{ .reg .pred p; mbarrier.test_wait.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done)
                         : "l"(&all), "l"(state)
                         : "memory");
        int v = data[(t + 16) % (round < 2 ? 64 : 32)]; // TAG mbarrier_all
        if (PARTS & FENCE) { // orders the reads of this round before the writes of the next
            asm volatile("mbarrier.arrive.b64 %0, [%1];" : "=l"(state) : "l"(&all) : "memory");
            for (int done = 0; !done;)
                asm volatile("{ .reg .pred p; mbarrier.test_wait.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                             : "=r"(done)
                             : "l"(&all), "l"(state)
                             : "memory");
        }
        a[64 * blockIdx.x + t] = v;
    }
}
KERNELS(mbarrier_all)
WITHOUT(mbarrier_all, no_second, FENCE)
#endif
