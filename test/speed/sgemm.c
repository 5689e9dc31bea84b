/* Compares the speed of the functional model with the speed of the host: The functional model runs kernels/sgemm.ptx
 * interpreted and as native code. C code on the host executes the same loops, with the same tiles in the same order;
 * its innermost loop computes the sum of one thread. The matrices have N x N floats, and N is a multiple of 16. Prints
 * CSV with the name of each variant and its milliseconds of processor time, the best of ROUNDS runs. In each round,
 * every variant runs once. The exit status is 1 unless all results are equal bit for bit. Part of `make bench`.
 * Usage: sgemm_speed [N [ROUNDS]] */
#include "host/heddle.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TILE = 16, KINDS = 3 };

struct matrices {
    uint32_t n;
    float *a, *b, *c[KINDS];
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((noinline)) static void plain(const struct matrices *m) {
    const uint32_t n = m->n;
    const float *a = m->a, *b = m->b;
    for (uint32_t by = 0; by < n; by += TILE)
        for (uint32_t bx = 0; bx < n; bx += TILE) {
            float a_tile[TILE][TILE], b_tile[TILE][TILE], sum[TILE][TILE] = {{0}};
            for (uint32_t t = 0; t < n; t += TILE) {
                for (uint32_t ty = 0; ty < TILE; ty++)
                    for (uint32_t tx = 0; tx < TILE; tx++) {
                        a_tile[ty][tx] = a[(by + ty) * n + t + tx];
                        b_tile[ty][tx] = b[(t + ty) * n + bx + tx];
                    }
                for (uint32_t ty = 0; ty < TILE; ty++)
                    for (uint32_t tx = 0; tx < TILE; tx++) {
                        float s = sum[ty][tx];
                        for (int k = 0; k < TILE; k++)
                            s = __builtin_fmaf(a_tile[ty][k], b_tile[k][tx], s);
                        sum[ty][tx] = s;
                    }
            }
            for (uint32_t ty = 0; ty < TILE; ty++)
                for (uint32_t tx = 0; tx < TILE; tx++)
                    m->c[2][(by + ty) * n + bx + tx] = sum[ty][tx];
        }
}

struct simulated {
    struct heddle *h;
    struct heddle_module *m;
    uint64_t a, b, c;
};

static bool start(struct simulated *s, const struct matrices *m, const char *jit) {
    const char *const set[] = {jit, NULL};
    struct heddle_options o = {.model = "functional", .set = set};
    char err[512];
    size_t bytes = (size_t)m->n * m->n * sizeof(float);
    if (!(s->h = heddle_open(&o, err, sizeof err))) {
        fprintf(stderr, "sgemm_speed: %s\n", err);
        return false;
    }
    s->m = heddle_module_file(s->h, "kernels/sgemm.ptx");
    return s->m && (s->a = heddle_alloc(s->h, bytes)) && (s->b = heddle_alloc(s->h, bytes)) &&
           (s->c = heddle_alloc(s->h, bytes)) && heddle_write(s->h, s->a, m->a, bytes) == HEDDLE_OK &&
           heddle_write(s->h, s->b, m->b, bytes) == HEDDLE_OK;
}

static bool run(const struct simulated *s, const struct matrices *m) {
    uint32_t n = m->n;
    struct heddle_arg args[] = {{&s->a, 8}, {&s->b, 8}, {&s->c, 8}, {&n, 4}};
    struct heddle_dim grid = {n / TILE, n / TILE, 1}, block = {TILE, TILE, 1};
    return heddle_launch(s->h, s->m, "sgemm", grid, block, 0, args, 4) == HEDDLE_OK;
}

static bool make(struct matrices *m) {
    size_t n = (size_t)m->n * m->n;
    m->a = calloc(n, sizeof *m->a);
    m->b = calloc(n, sizeof *m->b);
    for (int k = 0; k < KINDS; k++)
        if (!(m->c[k] = calloc(n, sizeof *m->c[k])))
            return false;
    if (!m->a || !m->b)
        return false;
    uint32_t x = 1;
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525 + 1013904223;
        m->a[i] = (float)(x >> 8) * 0x1p-24f;
        x = x * 1664525 + 1013904223;
        m->b[i] = (float)(x >> 8) * 0x1p-24f;
    }
    return true;
}

int main(int argc, char **argv) {
    struct matrices m = {.n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 256};
    int rounds = argc > 2 ? atoi(argv[2]) : 20;
    static const char *const names[KINDS] = {"interpreted", "native", "c"};
    double best[KINDS] = {1e9, 1e9, 1e9};
    struct simulated s[2] = {{0}};
    if (!m.n || m.n % TILE || !make(&m) || !start(&s[0], &m, "gpu.jit=off") || !start(&s[1], &m, "gpu.jit=on"))
        return 2;
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < KINDS; k++) {
            double t = now();
            if (k == 2)
                plain(&m);
            else if (!run(&s[k], &m))
                return 2;
            t = now() - t;
            best[k] = t < best[k] ? t : best[k];
        }
    size_t bytes = (size_t)m.n * m.n * sizeof(float);
    for (int k = 0; k < 2; k++)
        if (heddle_read(s[k].h, s[k].c, m.c[k], bytes) != HEDDLE_OK || memcmp(m.c[k], m.c[2], bytes) != 0)
            return 1;
    for (int k = 0; k < KINDS; k++)
        printf("%s,%.4g\n", names[k], best[k] * 1e3);
    for (int k = 0; k < 2; k++)
        heddle_close(s[k].h);
    for (int k = 0; k < KINDS; k++)
        free(m.c[k]);
    free(m.a);
    free(m.b);
    return 0;
}
