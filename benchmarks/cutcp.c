/* cutcp: the electrostatic potential of atoms at the points of a lattice with a spacing of half an Angstrom. Atoms have
 * the density of water (0.1 per cubic Angstrom), with at most 8 atoms per bin. The reference adds up all atoms in
 * double, without bins. rsqrt.approx has a relative error of about 2^-23, each addition an error of 2^-24 of the
 * current sum. With a few hundred terms below 4, all values are within 1e-4 of max(1, |value|).
 *   size small: 16 x 16 x 16 points, cutoff 4 Angstrom, 0.09 M warp and 2.4 M thread instructions
 *   size paper: 32 x 32 x 32, cutoff 12 Angstrom as in Parboil, 6.4 M warp and 184 M thread instructions */
#include "bench.h"
#include <math.h>
#include <stdlib.h>

extern const struct bench bench_cutcp;

enum { BIN_DEPTH = 8, REGION = 8, POINTS = REGION * REGION * REGION, MAX_AROUND = 11 * 11 * 11 };
/* Spacing of the lattice in Angstrom. A region of REGION points and a bin of atoms have the same size, 4 Angstrom. */
static const float spacing = 0.5f;

struct atom {
    float x, y, z, charge;
};
struct box {
    uint32_t regions[3], bins[3], pad, n_atoms; /* pad: empty bins around the lattice */
    float cutoff;
    struct atom *atoms, *bin; /* bin: BIN_DEPTH entries for each bin; an entry with charge 0 is empty */
    float *got, *want;        /* POINTS for each region */
    int32_t around[MAX_AROUND][3], n_around;
};

static uint32_t volume(const uint32_t v[3]) { return v[0] * v[1] * v[2]; }

/* Lists the bins that may have atoms within the cutoff of the region at the centre. */
static void list_around(struct box *b) {
    int c = (int)b->pad;
    float reach = (b->cutoff + sqrtf(3) * 4) / 4;
    for (int k = -c; k <= c; k++)
        for (int j = -c; j <= c; j++)
            for (int i = -c; i <= c; i++)
                if ((float)(i * i + j * j + k * k) < reach * reach) {
                    int32_t *at = b->around[b->n_around++];
                    at[0] = i;
                    at[1] = j;
                    at[2] = k;
                }
}

/* Fills each bin with four to eight atoms, at least 0.3 of the spacing from any lattice point along each axis. */
static void fill(struct box *b) {
    uint64_t seed = 24;
    for (uint32_t r = 0; r < volume(b->regions); r++) {
        uint32_t x = r % b->regions[0], y = r / b->regions[0] % b->regions[1], z = r / b->regions[0] / b->regions[1];
        uint32_t n = 4 + (uint32_t)(bench_random(&seed) % 5);
        struct atom *bin =
            b->bin + (((z + b->pad) * b->bins[1] + y + b->pad) * b->bins[0] + x + b->pad) * (size_t)BIN_DEPTH;
        for (uint32_t i = 0; i < n; i++) {
            float at[3];
            for (int k = 0; k < 3; k++)
                at[k] = ((float)(bench_random(&seed) % REGION) + bench_uniform(&seed, 0.3f, 0.7f)) * spacing;
            float charge = bench_uniform(&seed, 0.4f, 0.8f) * (bench_random(&seed) & 1 ? 1 : -1);
            bin[i] = (struct atom){at[0] + 4 * (float)x, at[1] + 4 * (float)y, at[2] + 4 * (float)z, charge};
            b->atoms[b->n_atoms++] = bin[i];
        }
    }
}

static void reference(struct box *b) {
    double cutoff2 = (double)b->cutoff * (double)b->cutoff;
    for (uint32_t i = 0; i < volume(b->regions) * POINTS; i++) {
        uint32_t r = i / POINTS, p = i % POINTS, rx = r % b->regions[0], ry = r / b->regions[0] % b->regions[1];
        uint32_t rz = r / b->regions[0] / b->regions[1];
        double x = (rx * REGION + p % REGION) * (double)spacing, sum = 0;
        double y = (ry * REGION + p / REGION % REGION) * (double)spacing;
        double z = (rz * REGION + p / REGION / REGION) * (double)spacing;
        for (uint32_t a = 0; a < b->n_atoms; a++) {
            double dx = (double)b->atoms[a].x - x, dy = (double)b->atoms[a].y - y, dz = (double)b->atoms[a].z - z;
            double r2 = dx * dx + dy * dy + dz * dz, s = 1 - r2 / cutoff2;
            if (s > 0)
                sum += (double)b->atoms[a].charge / sqrt(r2) * s * s;
        }
        b->want[i] = (float)sum;
    }
}

static enum heddle_status run_on(struct heddle *h, struct heddle_module *m, struct box *b, char *why, size_t why_size) {
    uint64_t bytes = (uint64_t)volume(b->regions) * POINTS * sizeof *b->got;
    list_around(b);
    fill(b);
    uint64_t bins = bench_buffer(h, b->bin, (uint64_t)volume(b->bins) * BIN_DEPTH * sizeof *b->bin);
    uint64_t out = bench_buffer(h, NULL, bytes), count = heddle_symbol(h, m, "cutcp_count", NULL);
    uint64_t around = heddle_symbol(h, m, "cutcp_around", NULL);
    if (!bins || !out || !count || !around || heddle_write(h, count, &b->n_around, sizeof b->n_around) != HEDDLE_OK ||
        heddle_write(h, around, b->around, (uint64_t)b->n_around * sizeof b->around[0]) != HEDDLE_OK)
        return heddle_status(h);
    uint64_t zero = bins + ((b->pad * b->bins[1] + b->pad) * b->bins[0] + b->pad) * BIN_DEPTH * sizeof *b->bin;
    float cutoff2 = b->cutoff * b->cutoff, inverse = 1 / cutoff2;
    struct heddle_dim grid = {b->regions[0], b->regions[1], 1}, block = {8, 2, 8};
    enum heddle_status s = HEDDLE_OK;
    for (uint32_t layer = 0; s == HEDDLE_OK && layer < b->regions[2]; layer++)
        s = BENCH_LAUNCH(h, m, "cutcp", grid, block, BENCH_ARG(b->bins[0]), BENCH_ARG(b->bins[1]), BENCH_ARG(zero),
                         BENCH_ARG(spacing), BENCH_ARG(cutoff2), BENCH_ARG(inverse), BENCH_ARG(out), BENCH_ARG(layer));
    if (s != HEDDLE_OK || (s = heddle_read(h, out, b->got, bytes)) != HEDDLE_OK)
        return s;
    reference(b);
    return bench_compare(b->got, b->want, (size_t)volume(b->regions) * POINTS, 1e-4, "potential", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    struct box *b = calloc(1, sizeof *b);
    if (!b)
        return bench_no_memory(why, why_size);
    *b = size == BENCH_SMALL ? (struct box){.regions = {2, 2, 2}, .pad = 1, .cutoff = 4}
                             : (struct box){.regions = {4, 4, 4}, .pad = 3, .cutoff = 12};
    for (int k = 0; k < 3; k++)
        b->bins[k] = b->regions[k] + 2 * b->pad;
    b->atoms = calloc((size_t)volume(b->regions) * BIN_DEPTH, sizeof *b->atoms);
    b->bin = calloc((size_t)volume(b->bins) * BIN_DEPTH, sizeof *b->bin);
    b->got = calloc((size_t)volume(b->regions) * POINTS * 2, sizeof *b->got);
    enum heddle_status s;
    if (!b->atoms || !b->bin || !b->got) {
        s = bench_no_memory(why, why_size);
    } else {
        b->want = b->got + (size_t)volume(b->regions) * POINTS;
        s = run_on(h, m, b, why, why_size);
    }
    free(b->atoms);
    free(b->bin);
    free(b->got);
    free(b);
    return s;
}

const struct bench bench_cutcp = {
    "cutcp", "potential of charges within a cutoff; ifs without else in loops, barriers", "dac", "cutcp.ptx", run,
};
