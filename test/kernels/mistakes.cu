// Each kernel has one mistake, and next to it is a similar kernel without a mistake. Most run as one block of 64.
// Compiled with: nvcc -ptx -lineinfo -arch=sm_75 mistakes.cu

extern "C" __global__ void out_of_bounds(int *a, int n) {
    int t = threadIdx.x;
    a[n + t] = t;
}

extern "C" __global__ void misaligned(char *a) { *(int *)(a + 2) = threadIdx.x; }

extern "C" __global__ void uninit_global(int *a) { a[threadIdx.x] += 1; }

extern "C" __global__ void init_global(volatile int *a) {
    a[2 * threadIdx.x] = 1; // the odd words are padding
    a[2 * threadIdx.x] += 1;
}

extern "C" __global__ void uninit_shared(int *out) {
    __shared__ int s[65];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    out[t] = s[t + 1]; // no thread writes s[64]
}

extern "C" __global__ void init_shared(int *out) {
    __shared__ struct {
        char tag;
        int value; // three bytes of padding before it
    } s[64];
    int t = threadIdx.x;
    s[t].tag = 1;
    s[t].value = t;
    __syncthreads();
    out[t] = s[63 - t].tag + s[63 - t].value;
}

extern "C" __global__ void race_read(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    out[t] = s[63 - t];
}

extern "C" __global__ void race_write(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    int v = s[63 - t];
    s[t] = v + 1;
    out[t] = s[t];
}

// Two buffers are used alternately, so one barrier per iteration is enough.
extern "C" __global__ void double_buffer(int *out) {
    __shared__ int s[2][64];
    int t = threadIdx.x, v = t;
    for (int i = 0; i < 4; i++) {
        s[i & 1][t] = v;
        __syncthreads();
        v += s[i & 1][63 - t];
    }
    out[t] = v;
}

extern "C" __global__ void same_word(int *out) {
    __shared__ int s;
    if (threadIdx.x < 32)
        s = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s;
}

extern "C" __global__ void same_value(int *out) {
    __shared__ int s;
    if (threadIdx.x < 32)
        s = 7;
    __syncthreads();
    out[threadIdx.x] = s;
}

extern "C" __global__ void count_plain(int *out) {
    __shared__ int s;
    if (threadIdx.x == 0)
        s = 0;
    __syncthreads();
    atomicAdd(&s, 1);
    out[threadIdx.x] = s;
}

extern "C" __global__ void count_atomic(int *out) {
    __shared__ int s;
    if (threadIdx.x == 0)
        s = 0;
    __syncthreads();
    atomicAdd(&s, 1);
    __syncthreads();
    out[threadIdx.x] = s;
}

// The order of the two sides of the branch is not defined.
extern "C" __global__ void race_of_paths(volatile int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32)
        s[t] = 0;
    __syncthreads();
    if (t < 16) {
        s[t] = t;
        out[t] = 1;
    } else if (t < 32) {
        out[t] = s[t - 16];
    }
}

// __syncwarp() orders the accesses of the two halves of the warp.
extern "C" __global__ void ordered_paths(volatile int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32)
        s[t] = 0;
    __syncthreads();
    if (t < 16)
        s[t] = t;
    __syncwarp();
    if (t >= 16 && t < 32)
        out[t] = s[t - 16];
}

extern "C" __global__ void partial_barrier(int *out) {
    int t = threadIdx.x;
    if (t < 48)
        __syncthreads();
    out[t] = t;
}

extern "C" __global__ void two_barriers(int *out) {
    int t = threadIdx.x;
    if (t & 1) {
        __syncthreads();
        out[t] = 1;
    } else {
        __syncthreads();
        out[t] = 2;
    }
}

// A barrier with a count of 32 needs only one of the two warps.
extern "C" __global__ void warp_barrier(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = t;
        asm volatile("bar.sync 1, 32;" ::: "memory");
        out[t] = s[31 - t];
    }
}

// A producer and a consumer, with a barrier at which the producer does not wait.
extern "C" __global__ void arrive(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = t;
        asm volatile("bar.arrive 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        out[t] = s[63 - t];
    }
}

extern "C" __global__ void heap_bounds(int *out) {
    int *p = (int *)malloc(40);
    for (int i = 0; i <= 10; i++)
        p[i] = i;
    out[threadIdx.x] = p[9];
    free(p);
}

extern "C" __global__ void heap_freed(int *out) {
    int *p = (int *)malloc(40);
    p[3] = threadIdx.x;
    free(p);
    out[threadIdx.x] = p[3];
}

extern "C" __global__ void heap_uninit(int *out) {
    int *p = (int *)malloc(40);
    p[3] = threadIdx.x;
    out[threadIdx.x] = p[4];
    free(p);
}

extern "C" __global__ void heap_fine(int *out) {
    for (int round = 0; round < 2; round++) {
        volatile int *p = (volatile int *)malloc(40);
        for (int i = 0; i < 10; i++)
            p[i] = i;
        out[threadIdx.x] = p[9];
        free((void *)p);
    }
}

// All threads read one word, and thread 0 writes it before the others have read it.
extern "C" __global__ void broadcast(int *out) {
    __shared__ int s;
    int t = threadIdx.x;
    if (t == 0)
        s = 1;
    __syncthreads();
    int v = s;
    if (t == 0)
        s = v + 1;
    __syncthreads();
    out[t] = s + v;
}

// Neighbouring threads write bytes of the same word.
extern "C" __global__ void bytes(int *out) {
    __shared__ unsigned char s[64];
    int t = threadIdx.x;
    s[t] = t;
    out[t] = s[t ^ 1];
    __syncthreads();
    s[t ^ 32] = 1;
    __syncthreads();
    out[t] += s[63 - t];
}
