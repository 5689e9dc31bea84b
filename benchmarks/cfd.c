/* cfd: solves the Euler equations of the flow around a wing. The mesh consists of rings of cells around the wing, and
 * each cell has four faces. The innermost ring is at the wall of the wing, the outermost ring at the far field. Cells
 * are numbered from the wing outwards, so that one of every few warps has lanes at a boundary. Numbers are shuffled
 * within windows of 32 cells, because a mesh generator does not number cells in perfect order either. The reference
 * rounds where the kernels do, so results are equal bit for bit.
 *   size small: 768 cells, 1 step, 0.05 M warp and 1.3 M thread instructions
 *   size paper: 97,152 cells as in Rodinia, 1 step, 5.5 M warp and 170 M thread instructions (Rodinia: 97,152
 *     cells, 2,000 steps) */
#include "bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_cfd;

enum {
    DENSITY,
    MOMENTUM,
    ENERGY = 4,
    VARIABLES,
    FACES = 4,
    STAGES = 3,
    BLOCK = 192,
    WALL = -1,
    FAR_FIELD = -2,
    WINDOW = 32
};
static const float heat_ratio = 1.4f;

struct vec {
    float v[3];
};
struct state {
    float density, energy, pressure, speed2, sound;
    struct vec momentum, velocity;
};
/* Flux of momentum (three components) and energy along three axes. */
struct flux {
    struct vec momentum[3], energy;
};

struct mesh {
    uint32_t cells, ring, steps;
    /* for each place in the mesh, the number of the cell that lies there (cell numbers are shuffled) */
    uint32_t *number;
    int32_t *around; /* number of the cell behind each face, or FAR_FIELD or WALL: FACES x cells elements */
    float *normals;  /* normal of each face: 3 x FACES x cells elements */
    float *areas, *factors;
    float *v, *old, *flux, *got; /* VARIABLES x cells each */
    float far[VARIABLES];
    struct flux far_flux;
};

static float dot(struct vec a, struct vec b) { return fmaf(a.v[2], b.v[2], fmaf(a.v[1], b.v[1], a.v[0] * b.v[0])); }

static struct state state_of(float density, const float momentum[3], float energy) {
    struct state s = {.density = density, .energy = energy};
    for (int k = 0; k < 3; k++) {
        s.momentum.v[k] = momentum[k];
        s.velocity.v[k] = momentum[k] / density;
    }
    s.speed2 = dot(s.velocity, s.velocity);
    s.pressure = (heat_ratio - 1) * fmaf(-0.5f * density, s.speed2, energy);
    s.sound = sqrtf(heat_ratio * s.pressure / density);
    return s;
}

static struct state load(const struct mesh *m, uint32_t i) {
    float momentum[3];
    for (uint32_t k = 0; k < 3; k++)
        momentum[k] = m->v[i + (MOMENTUM + k) * m->cells];
    return state_of(m->v[i], momentum, m->v[i + ENERGY * m->cells]);
}

static struct flux fluxes_of(struct state s) {
    struct flux f;
    float all = s.energy + s.pressure;
    for (int a = 0; a < 3; a++) {
        for (int b = a; b < 3; b++)
            f.momentum[a].v[b] = f.momentum[b].v[a] =
                a == b ? fmaf(s.velocity.v[a], s.momentum.v[a], s.pressure) : s.velocity.v[a] * s.momentum.v[b];
        f.energy.v[a] = s.velocity.v[a] * all;
    }
    return f;
}

/* Adds the flux through one face of a cell to `sum`. The face has `normal`; the cell has state `s` and flux `f`; the
 * cell behind the face has `momentum` and flux `g`. */
static void exchange(float sum[VARIABLES], const float normal[3], const struct state *s, const struct flux *f,
                     const float momentum[3], const struct flux *g) {
    for (int axis = 0; axis < 3; axis++) {
        float half = 0.5f * normal[axis];
        sum[DENSITY] = fmaf(half, momentum[axis] + s->momentum.v[axis], sum[DENSITY]);
        sum[ENERGY] = fmaf(half, g->energy.v[axis] + f->energy.v[axis], sum[ENERGY]);
        for (int k = 0; k < 3; k++)
            sum[MOMENTUM + k] = fmaf(half, g->momentum[k].v[axis] + f->momentum[k].v[axis], sum[MOMENTUM + k]);
    }
}

static void viscosity(float sum[VARIABLES], const float normal[3], const struct state *own, const struct state *s) {
    struct vec n = {{normal[0], normal[1], normal[2]}};
    float k = -sqrtf(dot(n, n)) * 0.2f * 0.5f * (sqrtf(own->speed2) + sqrtf(s->speed2) + own->sound + s->sound);
    sum[DENSITY] = fmaf(k, own->density - s->density, sum[DENSITY]);
    sum[ENERGY] = fmaf(k, own->energy - s->energy, sum[ENERGY]);
    for (int i = 0; i < 3; i++)
        sum[MOMENTUM + i] = fmaf(k, own->momentum.v[i] - s->momentum.v[i], sum[MOMENTUM + i]);
}

static void flux_of_cell(struct mesh *m, uint32_t i) {
    struct state own = load(m, i);
    struct flux f = fluxes_of(own);
    float sum[VARIABLES] = {0};
    for (uint32_t j = 0; j < FACES; j++) {
        int32_t neighbour = m->around[i + j * m->cells];
        float normal[3];
        for (uint32_t k = 0; k < 3; k++)
            normal[k] = m->normals[i + (j + k * FACES) * m->cells];
        if (neighbour >= 0) {
            struct state s = load(m, (uint32_t)neighbour);
            struct flux g = fluxes_of(s);
            viscosity(sum, normal, &own, &s);
            exchange(sum, normal, &own, &f, s.momentum.v, &g);
        } else if (neighbour == WALL) {
            for (int k = 0; k < 3; k++)
                sum[MOMENTUM + k] = fmaf(normal[k], own.pressure, sum[MOMENTUM + k]);
        } else {
            exchange(sum, normal, &own, &f, m->far + MOMENTUM, &m->far_flux);
        }
    }
    for (uint32_t k = 0; k < VARIABLES; k++)
        m->flux[i + k * m->cells] = sum[k];
}

static void reference(struct mesh *m) {
    size_t n = m->cells;
    for (size_t i = 0; i < n * VARIABLES; i++)
        m->v[i] = m->far[i / n];
    for (uint32_t step = 0; step < m->steps; step++) {
        memcpy(m->old, m->v, n * VARIABLES * sizeof *m->v);
        for (uint32_t i = 0; i < n; i++) {
            struct state s = load(m, i);
            m->factors[i] = 0.5f / (sqrtf(m->areas[i]) * (sqrtf(s.speed2) + s.sound));
        }
        for (int stage = 0; stage < STAGES; stage++) {
            for (uint32_t i = 0; i < n; i++)
                flux_of_cell(m, i);
            for (size_t i = 0; i < n * VARIABLES; i++)
                m->v[i] = fmaf(m->factors[i % n] / (float)(STAGES + 1 - stage), m->flux[i], m->old[i]);
        }
    }
}

/* Returns the number of the cell at place `at` of ring `r`. */
static int32_t called(const struct mesh *m, uint32_t r, uint32_t at) {
    return (int32_t)m->number[at % m->ring * (m->cells / m->ring) + r];
}

static void connect(struct mesh *m, uint32_t r, uint32_t at, uint64_t *seed) {
    static const float out[FACES][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    uint32_t n = m->cells, i = (uint32_t)called(m, r, at);
    int32_t to[FACES] = {called(m, r, at + 1), called(m, r, at + m->ring - 1),
                         r + 1 < n / m->ring ? called(m, r + 1, at) : FAR_FIELD, r ? called(m, r - 1, at) : WALL};
    for (uint32_t j = 0; j < FACES; j++) {
        m->around[i + j * n] = to[j];
        for (uint32_t k = 0; k < 3; k++) /* slightly irregular */
            m->normals[i + (j + k * FACES) * n] = (k < 2 ? out[j][k] : 0) + bench_uniform(seed, -0.01f, 0.01f);
    }
    m->areas[i] = bench_uniform(seed, 0.9f, 1.1f);
}

static void fill(struct mesh *m) {
    uint64_t seed = 22;
    for (uint32_t i = 0; i < m->cells; i++)
        m->number[i] = i;
    for (uint32_t i = 0; i < m->cells; i++) { /* shuffles each window */
        uint32_t j = i / WINDOW * WINDOW + (uint32_t)(bench_random(&seed) % (i % WINDOW + 1)), swap = m->number[i];
        m->number[i] = m->number[j];
        m->number[j] = swap;
    }
    for (uint32_t i = 0; i < m->cells; i++)
        connect(m, i / m->ring, i % m->ring, &seed);
    /* The far field flows at Mach 1.2, slightly upwards. */
    static const float far[VARIABLES] = {1.4f, 1.66f, 0.25f, 0.05f, 3.5f};
    memcpy(m->far, far, sizeof far);
    m->far_flux = fluxes_of(state_of(far[DENSITY], far + MOMENTUM, far[ENERGY]));
}

struct on_device {
    uint64_t around, normals, areas, factors, v, old, flux;
};

static enum heddle_status launch_step(struct heddle *h, struct heddle_module *m, uint32_t n,
                                      const struct on_device *d) {
    struct heddle_dim grid = {n / BLOCK, 1, 1}, block = {BLOCK, 1, 1};
    enum heddle_status s =
        BENCH_LAUNCH(h, m, "cfd_copy", grid, block, BENCH_ARG(n), BENCH_ARG(d->old), BENCH_ARG(d->v));
    if (s == HEDDLE_OK)
        s = BENCH_LAUNCH(h, m, "cfd_step_factor", grid, block, BENCH_ARG(n), BENCH_ARG(d->v), BENCH_ARG(d->areas),
                         BENCH_ARG(d->factors));
    for (int32_t stage = 0; s == HEDDLE_OK && stage < STAGES; stage++) {
        s = BENCH_LAUNCH(h, m, "cfd_flux", grid, block, BENCH_ARG(n), BENCH_ARG(d->around), BENCH_ARG(d->normals),
                         BENCH_ARG(d->v), BENCH_ARG(d->flux));
        if (s == HEDDLE_OK)
            s = BENCH_LAUNCH(h, m, "cfd_time_step", grid, block, BENCH_ARG(stage), BENCH_ARG(n), BENCH_ARG(d->old),
                             BENCH_ARG(d->v), BENCH_ARG(d->factors), BENCH_ARG(d->flux));
    }
    return s;
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *mod, struct mesh *m, char *why,
                                 size_t why_size) {
    uint32_t n = m->cells;
    uint64_t line = n * sizeof(float), all = VARIABLES * line;
    fill(m);
    struct on_device d = {bench_buffer(h, m->around, FACES * line),
                          bench_buffer(h, m->normals, 3 * FACES * line),
                          bench_buffer(h, m->areas, line),
                          bench_buffer(h, NULL, line),
                          bench_buffer(h, NULL, all),
                          bench_buffer(h, NULL, all),
                          bench_buffer(h, NULL, all)};
    uint64_t far = heddle_symbol(h, mod, "cfd_far", NULL), far_flux = heddle_symbol(h, mod, "cfd_far_flux", NULL);
    if (!d.around || !d.normals || !d.areas || !d.factors || !d.v || !d.old || !d.flux || !far || !far_flux ||
        heddle_write(h, far, m->far, sizeof m->far) != HEDDLE_OK ||
        heddle_write(h, far_flux, &m->far_flux, sizeof m->far_flux) != HEDDLE_OK)
        return heddle_status(h);
    struct heddle_dim grid = {n / BLOCK, 1, 1}, block = {BLOCK, 1, 1};
    enum heddle_status s = BENCH_LAUNCH(h, mod, "cfd_initialize", grid, block, BENCH_ARG(n), BENCH_ARG(d.v));
    for (uint32_t i = 0; s == HEDDLE_OK && i < m->steps; i++)
        s = launch_step(h, mod, n, &d);
    if (s != HEDDLE_OK || (s = heddle_read(h, d.v, m->got, all)) != HEDDLE_OK)
        return s;
    reference(m);
    return bench_compare(m->got, m->v, (size_t)n * VARIABLES, 0, "variable", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *mod, enum bench_size size, char *why,
                              size_t why_size) {
    struct mesh m = {.cells = 768, .ring = 24, .steps = 1};
    if (size != BENCH_SMALL) {
        m.cells = 97152;
        m.ring = 1012;
    }
    size_t n = m.cells;
    float *all = calloc(n * (3 * FACES + 2 + 4 * VARIABLES), sizeof *all);
    m.number = calloc(n, sizeof *m.number);
    m.around = calloc(n * FACES, sizeof *m.around);
    enum heddle_status s;
    if (!all || !m.number || !m.around) {
        s = bench_no_memory(why, why_size);
    } else {
        m.normals = all;
        m.areas = m.normals + 3 * FACES * n;
        m.factors = m.areas + n;
        m.v = m.factors + n;
        m.old = m.v + VARIABLES * n;
        m.flux = m.old + VARIABLES * n;
        m.got = m.flux + VARIABLES * n;
        s = run_on(h, mod, &m, why, why_size);
    }
    free(all);
    free(m.number);
    free(m.around);
    return s;
}

const struct bench bench_cfd = {
    "cfd", "Euler flow on an unstructured mesh; if-else chains of unequal weight, indirect loads", "dac", "cfd.ptx",
    run,
};
