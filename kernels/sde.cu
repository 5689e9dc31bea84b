// sde: paths of a stochastic differential equation, dx = (x - x^3 + a cos(w t)) dt + s dW: an overdamped particle in
// two wells, with a periodic force and noise, by the Euler-Maruyama method. A thread follows a path; two uniform
// numbers of its own linear congruential generator make two normal ones, for two steps (Box-Muller).
// From: the solver of Januszewski and Kostur (a kernel that advances each path by many steps with its state in
//   registers, keeps the generator's state in memory between launches, and uses fast sines); their example has another
//   force.
// Divergence: an early return at the grid's ragged end; uniform loops over samples and steps. Nesting: 2.
// Instructions after reconvergence: none.
// Barriers: none. Block: 64 x 1. Shared memory: none.
// Contraction: left to nvcc.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
struct sde {
    float force, frequency, noise, dt; // noise: s times the root of dt; frequency: radians a second
};

// `out`: x of all paths after each `pairs` pairs of steps, `samples` times
extern "C" __global__ void sde(float *out, float *place, unsigned *state, struct sde c, int paths, int samples,
                               int pairs) {
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths)
        return;
    float x = place[path], t = 0;
    unsigned random = state[path];
#pragma unroll 1
    for (int sample = 0; sample < samples; sample++) {
#pragma unroll 1
        for (int i = 0; i < pairs; i++) {
            random = random * 1664525u + 1013904223u;
            float radius = sqrtf(-2.0f * __logf(((random >> 9) + 0.5f) * 0x1p-23f)), sine, cosine;
            random = random * 1664525u + 1013904223u;
            __sincosf((random >> 8) * (6.28318531f * 0x1p-24f), &sine, &cosine);
            x += (x - x * x * x + c.force * __cosf(c.frequency * t)) * c.dt + c.noise * radius * cosine;
            t += c.dt;
            x += (x - x * x * x + c.force * __cosf(c.frequency * t)) * c.dt + c.noise * radius * sine;
            t += c.dt;
        }
        out[sample * paths + path] = x;
    }
    place[path] = x;
    state[path] = random;
}
