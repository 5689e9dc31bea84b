// Kernels whose warps diverge, in all forms that compilers make from C. All take (out, in, n) and write out[thread].
// Compiled by: nvcc -O2 -arch=sm_75 -ptx divergence.cu
#define KERNEL extern "C" __global__ void
#define ID (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL if_else(unsigned *out, const unsigned *in, int n) {
    unsigned x = in[ID], y = 0;
    if (x & 1) {
        y = x * 3 + in[(ID + 5) % n];
        if (x & 2)
            y ^= in[(ID + 7) % n];
        else
            y += 11;
    } else {
        y = x - in[(ID + 9) % n];
    }
    out[ID] = y;
}

KERNEL loop_trips(unsigned *out, const unsigned *in, int n) {
    unsigned x = in[ID], y = 1;
    for (unsigned i = 0; i < (x & 31); i++)
        y = y * 5 + in[(ID + i) % n];
    out[ID] = y;
}

KERNEL break_continue(unsigned *out, const unsigned *in, int n) {
    unsigned x = in[ID], y = 0;
    for (unsigned i = 0; i < 40; i++) {
        unsigned v = in[(ID * 3 + i) % n];
        if (v % 7 == 0)
            continue;
        if (v % 13 == x % 13)
            break;
        y += v;
    }
    out[ID] = y;
}

KERNEL early_return(unsigned *out, const unsigned *in, int n) {
    out[ID] = 1;
    if (in[ID] % 5 == 0)
        return;
    for (int i = 0; i < 20; i++) {
        unsigned v = in[(ID + i * 17) % n];
        if (v % 11 == 3) {
            out[ID] = v;
            return;
        }
    }
    out[ID] = 2;
}

KERNEL shared_tail(unsigned *out, const unsigned *in, int n) {
    unsigned x = in[ID], y = x;
    if (x & 1)
        goto odd;
    y += in[(ID + 1) % n];
    if (x & 4)
        goto tail;
    y *= 3;
odd:
    y ^= in[(ID + 2) % n];
    if (y & 8)
        goto end;
tail:
    y += 77;
    for (int i = 0; i < (int)(x & 3); i++)
        y = y * 7 + in[(ID + i) % n];
end:
    out[ID] = y;
}

KERNEL switch_cases(unsigned *out, const unsigned *in, int n) {
    unsigned x = in[ID], y;
    switch (x % 9) {
    case 0: y = in[(ID + 1) % n]; break;
    case 1: y = x * x; break;
    case 2: y = x >> 3; /* fall through */
    case 3: y = x + in[(ID + 3) % n]; break;
    case 4: y = __popc(x); break;
    case 5: y = __clz(x); break;
    case 6: y = x / 3; break;
    case 7: y = ~x; break;
    default: y = 42;
    }
    out[ID] = y;
}

__device__ __noinline__ unsigned collatz_steps(unsigned v) {
    unsigned s = 0;
    if (v == 0)
        return 99;
    while (v != 1 && s < 50) {
        v = v & 1 ? 3 * v + 1 : v >> 1;
        s++;
    }
    return s;
}

KERNEL divergent_calls(unsigned *out, const unsigned *in, int n) {
    unsigned x = in[ID] & 1023, y = 0;
    if (x & 1)
        y = collatz_steps(x);
    else if (x & 2)
        y = 1000 + collatz_steps(in[(ID + 1) % n] & 255);
    out[ID] = y;
}

__device__ __noinline__ unsigned fibonacci(unsigned k) { return k < 2 ? k : fibonacci(k - 1) + fibonacci(k - 2); }

KERNEL recursion(unsigned *out, const unsigned *in, int n) { out[ID] = fibonacci(in[ID] % 9) + n; }

__device__ __noinline__ unsigned op_add(unsigned a, unsigned b) { return a + b; }
__device__ __noinline__ unsigned op_mul(unsigned a, unsigned b) { return a * b; }
__device__ __noinline__ unsigned op_mix(unsigned a, unsigned b) { return a & 1 ? a ^ b : a - b; }
__device__ unsigned (*const volatile ops[3])(unsigned, unsigned) = {op_add, op_mul, op_mix};

KERNEL indirect_calls(unsigned *out, const unsigned *in, int n) {
    unsigned x = in[ID];
    out[ID] = ops[x % 3](x, in[(ID + 1) % n]);
}

KERNEL barrier_after_divergence(unsigned *out, const unsigned *in, int n) {
    __shared__ unsigned s[256];
    unsigned x = in[ID], y = 0;
    for (int round = 0; round < 4; round++) {
        if ((x >> round) & 1)
            s[threadIdx.x] = x + round;
        else
            for (unsigned i = 0; i < (x & 7); i++)
                s[threadIdx.x] = x * i;
        if (!((x >> round) & 1) && (x & 7) == 0)
            s[threadIdx.x] = 5;
        __syncthreads();
        y += s[(threadIdx.x + round + 1) % blockDim.x];
        __syncthreads();
    }
    out[ID] = y + n;
}

KERNEL nested_loops(unsigned *out, const unsigned *in, int n) {
    unsigned x = in[ID], y = 0;
    for (unsigned i = 0; i < 1 + (x & 3); i++)
        for (unsigned j = i; j < 2 + (x >> 2 & 7); j++) {
            if ((i + j) & 1)
                y += in[(ID + i * j) % n];
            else if (y & 1)
                y ^= j;
            if (y % 29 == 28)
                goto out;
        }
out:
    out[ID] = y;
}

// Locks. A thread of a warp holds the lock while others of this warp spin: the critical section comes after the loop.
KERNEL spin_lock(unsigned *out, const unsigned *in, int n) {
    while (atomicCAS(&out[0], 0, 1) != 0)
        ;
    out[1] += in[ID] + (n & 0);
    __threadfence();
    atomicExch(&out[0], 0);
}
