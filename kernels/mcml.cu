// mcml: light in layers of tissue by Monte Carlo. A thread follows its packets of light one after another. A packet
// takes a random step, which ends at a layer's edge; there it is reflected or transmitted, possibly out of the tissue.
// Inside a layer, part of its weight is absorbed (added to a cell by radius and depth) and the rest continues in a
// random direction. Packets of low weight end at random.
// From: CUDAMCML (Alerstam, Svensson, Andersson-Engels), the port of Wang and Jacques' MCML (MCd, Reflect, Spin,
//   PhotonSurvive). There, a shared counter distributes packets; here, each thread has the same number, so that
//   results do not depend on the order of blocks. Logarithm, sine and cosine are polynomials written out, so that
//   plain C can repeat each rounding; weights are added as integers, as there.
// Divergence: most of it. A loop whose length differs by thread; in it two ifs without else for the edges; an if and
//   else of unequal weight: at an edge, ifs and else for total reflection, random reflection and transmission, and two
//   without else for packets that leave above and below; in a layer, absorption and scattering with an if and else for
//   steep directions; then an if without else for packets of low weight, with one in it, and an if without else for
//   the next packet. Nesting: 4.
// Instructions after reconvergence: 3 and 5 after the edges' ifs, 6 and 9 after those of passage and of direction (9:
//   a new length of one), 2 after the if and else of edge or layer, 2 (loop) at the end.
// Barriers: none. Block: 128 x 1. Shared memory: none; 24 bytes of constant memory a layer.
// Loops of unknown length are not unrolled, as the compilers of the original's time left them.
enum { LAYERS = 8, RADII = 32, DEPTHS = 32 };
#define SCALE 65536.0f // factor of weights that are added as integers
#define LIGHT 1e-4f

struct layer {
    float top, bottom, index, absorbs, scatters, forward; // lengths: cm, 1 / cm; forward: mean cosine of scattering
};
__constant__ struct layer mcml_layers[LAYERS];

struct packet {
    float x, y, z, dx, dy, dz, weight;
    int layer;
};

// Multiply with carry. In (0, 1)
static __device__ float uniform(unsigned long long *state, unsigned factor) {
    *state = (*state & 0xffffffff) * factor + (*state >> 32);
    return ((unsigned)*state >> 9) * 0x1p-23f + 0x1p-24f;
}

static __device__ float minus_log(float u) {
    unsigned bits = __float_as_uint(u);
    int exponent = (int)(bits >> 23) - 127;
    float m = __uint_as_float((bits & 0x7fffff) | 0x3f800000), t = (m - 1) / (m + 1), t2 = t * t;
    float sum = fmaf(t2, fmaf(t2, fmaf(t2, fmaf(t2, 1 / 9.0f, 1 / 7.0f), 0.2f), 1 / 3.0f), 1.0f);
    return -fmaf((float)exponent, 0.693147181f, 2 * t * sum);
}

// Returns a direction in the plane; u in [0, 1)
static __device__ float2 circle(float u) {
    int quarter = (int)(4 * u);
    float x = (4 * u - quarter - 0.5f) * 1.57079633f, x2 = x * x;
    float s = x * fmaf(x2, fmaf(x2, fmaf(x2, -1 / 5040.0f, 1 / 120.0f), -1 / 6.0f), 1.0f);
    float c = fmaf(x2, fmaf(x2, fmaf(x2, fmaf(x2, 1 / 40320.0f, -1 / 720.0f), 1 / 24.0f), -0.5f), 1.0f);
    float along = quarter & 1 ? s : c, across = quarter & 1 ? c : s;
    return make_float2(quarter == 1 || quarter == 2 ? -along : along, quarter >= 2 ? -across : across);
}

static __device__ void spin(struct packet *p, float g, float u, float v) {
    float t = (1 - g * g) / (1 - g + 2 * g * u), cosine = (1 + g * g - t * t) / (2 * g);
    float sine = sqrtf(fmaxf(1 - cosine * cosine, 0.0f));
    float2 turn = circle(v);
    if (fabsf(p->dz) > 0.99999f) {
        p->dx = sine * turn.x;
        p->dy = sine * turn.y;
        p->dz = p->dz > 0 ? cosine : -cosine;
    } else {
        float flat = sqrtf(1 - p->dz * p->dz), part = sine / flat;
        float x = fmaf(part, p->dx * p->dz * turn.x - p->dy * turn.y, p->dx * cosine);
        float y = fmaf(part, p->dy * p->dz * turn.x + p->dx * turn.y, p->dy * cosine);
        p->dz = fmaf(-sine * turn.x, flat, p->dz * cosine);
        p->dx = x;
        p->dy = y;
    }
    float scale = 1 / sqrtf(fmaf(p->dz, p->dz, fmaf(p->dy, p->dy, p->dx * p->dx)));
    p->dx *= scale;
    p->dy *= scale;
    p->dz *= scale;
}

// Returns whether the packet is reflected at the edge to a layer with index n2; transmits it if not
static __device__ bool reflected(struct packet *p, float n1, float n2, float u) {
    float c1 = fabsf(p->dz), ratio = n1 / n2, s2 = ratio * ratio * (1 - c1 * c1);
    if (n1 == n2)
        return false;
    if (s2 >= 1)
        return true;
    float c2 = sqrtf(1 - s2), a = (n1 * c1 - n2 * c2) / (n1 * c1 + n2 * c2), b = (n1 * c2 - n2 * c1) / (n1 * c2 + n2 * c1);
    if (u <= 0.5f * fmaf(a, a, b * b))
        return true;
    p->dx *= ratio;
    p->dy *= ratio;
    p->dz = p->dz > 0 ? c2 : -c2;
    return false;
}

static __device__ void launch(struct packet *p) {
    p->x = p->y = p->z = p->dx = p->dy = 0;
    p->dz = p->weight = 1;
    p->layer = 1;
}

// `layers`: layers of tissue, from 1; 0 and layers + 1 are above and below. `out`: weight that left above, below
extern "C" __global__ void mcml(unsigned long long *state, const unsigned *factors, unsigned long long *absorbed,
                                unsigned long long *out, int packets, int layers, float radius_step, float depth_step) {
    int own = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long random = state[own];
    unsigned factor = factors[own];
    struct packet p;
    launch(&p);
#pragma unroll 1
    while (packets > 0) {
        const struct layer *l = &mcml_layers[p.layer];
        float s = minus_log(uniform(&random, factor)) / (l->absorbs + l->scatters), z = fmaf(s, p.dz, p.z);
        int to = p.layer;
        if (z < l->top) {
            to--;
            s = (l->top - p.z) / p.dz;
            z = l->top;
        }
        if (z > l->bottom) {
            to++;
            s = (l->bottom - p.z) / p.dz;
            z = l->bottom;
        }
        p.x = fmaf(s, p.dx, p.x);
        p.y = fmaf(s, p.dy, p.y);
        p.z = z;
        if (to != p.layer) {
            if (reflected(&p, l->index, mcml_layers[to].index, uniform(&random, factor)))
                p.dz = -p.dz;
            else {
                p.layer = to;
                if (to == 0 || to > layers) {
                    atomicAdd(&out[to > 0], (unsigned long long)(p.weight * SCALE));
                    p.weight = 0;
                }
            }
        } else {
            float lost = p.weight * (l->absorbs / (l->absorbs + l->scatters));
            int r = min((int)(sqrtf(fmaf(p.y, p.y, p.x * p.x)) / radius_step), RADII - 1);
            int d = min((int)(p.z / depth_step), DEPTHS - 1);
            p.weight -= lost;
            atomicAdd(&absorbed[d * RADII + r], (unsigned long long)(lost * SCALE));
            float u = uniform(&random, factor);
            spin(&p, l->forward, u, uniform(&random, factor));
        }
        if (p.weight < LIGHT) {
            if (p.weight != 0 && uniform(&random, factor) < 0.1f)
                p.weight *= 10;
            else {
                packets--;
                launch(&p);
            }
        }
    }
    state[own] = random;
}
