// cfd: compressible Euler equations on an unstructured mesh of cells with four faces each, a Runge-Kutta scheme of
// three stages. Five variables a cell (density, three of momentum, energy), arrays of variables, not of cells. A
// step: cfd_copy, cfd_step_factor, and three times cfd_flux and cfd_time_step; cfd_initialize starts all cells at the
// far field.
// From: Rodinia, cfd (euler3d).
// Divergence: cfd_flux: for each of the four faces (unrolled) an if-else chain of three: a neighbour (over 100
//   instructions of arithmetic behind indirect loads), a wing's wall, or the far field. The others have none.
//   Nesting: 2.
// Instructions after reconvergence: 11 to 20 (the next face's loads and length), at the last 14 (stores).
// Barriers: none. Block: 192 x 1; cells are a multiple. Shared memory: none; 68 bytes of constant memory.
enum { DENSITY, MOMENTUM, ENERGY = 4, VARIABLES, FACES = 4, STAGES = 3 };
#define GAMMA 1.4f
struct vec {
    float x, y, z;
};
struct state {
    float density, energy, pressure, speed2, sound;
    struct vec momentum, velocity;
};
struct flux {
    struct vec mx, my, mz, energy;
};
__constant__ float cfd_far[VARIABLES];
__constant__ struct flux cfd_far_flux;

static __device__ float dot(struct vec a, struct vec b) { return fmaf(a.z, b.z, fmaf(a.y, b.y, a.x * b.x)); }

static __device__ struct state load(const float *v, int i, int n) {
    struct state s;
    s.density = v[i + DENSITY * n];
    s.momentum.x = v[i + MOMENTUM * n];
    s.momentum.y = v[i + (MOMENTUM + 1) * n];
    s.momentum.z = v[i + (MOMENTUM + 2) * n];
    s.energy = v[i + ENERGY * n];
    s.velocity.x = s.momentum.x / s.density;
    s.velocity.y = s.momentum.y / s.density;
    s.velocity.z = s.momentum.z / s.density;
    s.speed2 = dot(s.velocity, s.velocity);
    s.pressure = (GAMMA - 1) * fmaf(-0.5f * s.density, s.speed2, s.energy);
    s.sound = sqrtf(GAMMA * s.pressure / s.density);
    return s;
}

static __device__ struct flux fluxes_of(struct state s) {
    struct flux f;
    f.mx.x = fmaf(s.velocity.x, s.momentum.x, s.pressure);
    f.mx.y = s.velocity.x * s.momentum.y;
    f.mx.z = s.velocity.x * s.momentum.z;
    f.my.x = f.mx.y;
    f.my.y = fmaf(s.velocity.y, s.momentum.y, s.pressure);
    f.my.z = s.velocity.y * s.momentum.z;
    f.mz.x = f.mx.z;
    f.mz.y = f.my.z;
    f.mz.z = fmaf(s.velocity.z, s.momentum.z, s.pressure);
    float all = s.energy + s.pressure;
    f.energy.x = s.velocity.x * all;
    f.energy.y = s.velocity.y * all;
    f.energy.z = s.velocity.z * all;
    return f;
}

extern "C" __global__ void cfd_initialize(int n, float *v) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    for (int j = 0; j < VARIABLES; j++)
        v[i + j * n] = cfd_far[j];
}

extern "C" __global__ void cfd_copy(int n, float *to, const float *from) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    for (int j = 0; j < VARIABLES; j++)
        to[i + j * n] = from[i + j * n];
}

extern "C" __global__ void cfd_step_factor(int n, const float *v, const float *areas, float *factors) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    struct state s = load(v, i, n);
    factors[i] = 0.5f / (sqrtf(areas[i]) * (sqrtf(s.speed2) + s.sound));
}

// The flux through a face along an axis: `f` times the sum of both sides.
#define ADD_AXIS(axis, length, other_momentum, other)                                                                  \
    {                                                                                                                  \
        float half = 0.5f * (length);                                                                                  \
        density = fmaf(half, other_momentum.axis + own.momentum.axis, density);                                        \
        energy = fmaf(half, (other).energy.axis + f.energy.axis, energy);                                              \
        momentum.x = fmaf(half, (other).mx.axis + f.mx.axis, momentum.x);                                              \
        momentum.y = fmaf(half, (other).my.axis + f.my.axis, momentum.y);                                              \
        momentum.z = fmaf(half, (other).mz.axis + f.mz.axis, momentum.z);                                              \
    }

extern "C" __global__ void cfd_flux(int n, const int *around, const float *normals, const float *v, float *out) {
    const float smoothing = 0.2f;
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    struct state own = load(v, i, n);
    struct flux f = fluxes_of(own);
    float speed = sqrtf(own.speed2), density = 0, energy = 0;
    struct vec momentum = {0, 0, 0};
#pragma unroll
    for (int j = 0; j < FACES; j++) {
        int neighbour = around[i + j * n];
        struct vec normal = {normals[i + j * n], normals[i + (j + FACES) * n], normals[i + (j + 2 * FACES) * n]};
        float area = sqrtf(dot(normal, normal));
        if (neighbour >= 0) {
            struct state s = load(v, neighbour, n);
            struct flux g = fluxes_of(s);
            float k = -area * smoothing * 0.5f * (speed + sqrtf(s.speed2) + own.sound + s.sound);
            density = fmaf(k, own.density - s.density, density);
            energy = fmaf(k, own.energy - s.energy, energy);
            momentum.x = fmaf(k, own.momentum.x - s.momentum.x, momentum.x);
            momentum.y = fmaf(k, own.momentum.y - s.momentum.y, momentum.y);
            momentum.z = fmaf(k, own.momentum.z - s.momentum.z, momentum.z);
            ADD_AXIS(x, normal.x, s.momentum, g)
            ADD_AXIS(y, normal.y, s.momentum, g)
            ADD_AXIS(z, normal.z, s.momentum, g)
        } else if (neighbour == -1) {
            momentum.x = fmaf(normal.x, own.pressure, momentum.x);
            momentum.y = fmaf(normal.y, own.pressure, momentum.y);
            momentum.z = fmaf(normal.z, own.pressure, momentum.z);
        } else if (neighbour == -2) {
            struct vec far = {cfd_far[MOMENTUM], cfd_far[MOMENTUM + 1], cfd_far[MOMENTUM + 2]};
            ADD_AXIS(x, normal.x, far, cfd_far_flux)
            ADD_AXIS(y, normal.y, far, cfd_far_flux)
            ADD_AXIS(z, normal.z, far, cfd_far_flux)
        }
    }
    out[i + DENSITY * n] = density;
    out[i + MOMENTUM * n] = momentum.x;
    out[i + (MOMENTUM + 1) * n] = momentum.y;
    out[i + (MOMENTUM + 2) * n] = momentum.z;
    out[i + ENERGY * n] = energy;
}

extern "C" __global__ void cfd_time_step(int stage, int n, const float *old, float *v, const float *factors,
                                         const float *flux) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    float k = factors[i] / (float)(STAGES + 1 - stage);
    for (int j = 0; j < VARIABLES; j++)
        v[i + j * n] = fmaf(k, flux[i + j * n], old[i + j * n]);
}
