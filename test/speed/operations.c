/* Measures the speed of single operations in the functional model with the kernels of test/speed/operations.ptx. Prints
 * CSV with the operation and the millions of thread operations per second of processor time, the best of ROUNDS runs.
 * Only the named operations are counted, not the instructions of the loop around them. Part of `make bench`.
 * Usage: operations_speed [ROUNDS [ROW...]], where ROW is the name of an operation (see `rows`) */
#include "host/heddle.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 256, CTAS = 4, UNROLLED = 8, SIDE = 512, BUFFER_BYTES = SIDE * SIDE * 16 };

struct row {
    const char *name, *kernel;
    uint32_t iterations;
    struct heddle_texture image; /* the field `data` is unused; the width is 0 if the kernel reads no image */
};

#define IMAGE(format_, channels_, normalized, filter)                                                                  \
    {                                                                                                                  \
        .width = SIDE, .height = SIDE, .format = (format_), .channels = (channels_), .normalized_read = (normalized),  \
        .sampler = {                                                                                                   \
            .address = {HEDDLE_CLAMP, HEDDLE_CLAMP},                                                                   \
            .linear = (filter)                                                                                         \
        }                                                                                                              \
    }
static const struct row rows[] = {
    {"load", "load", 4000, {0}},
    {"tex2d", "tex2d", 300, IMAGE(HEDDLE_F32, 1, false, false)},
    {"tex2d_linear", "tex2d", 200, IMAGE(HEDDLE_F32, 1, false, true)},
    {"tex2d_bytes", "tex2d", 200, IMAGE(HEDDLE_U8, 4, true, true)},
    {"surface_read", "surface_read", 400, IMAGE(HEDDLE_F32, 1, false, false)},
    {"match_any", "match_any", 500, {0}},
    {"call_direct", "call_direct", 400, {0}},
    {"call_indirect", "call_indirect", 400, {0}},
    {"wmma", "wmma", 100, {0}},
    {"f16x2", "f16x2", 1000, {0}},
    {"f64_directed", "f64_directed", 500, {0}},
    {"f64_divide", "f64_divide", 500, {0}},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct machine {
    struct heddle *h;
    struct heddle_module *m;
    uint64_t out, texels;
};

static bool bind(const struct machine *x, const struct row *r) {
    struct heddle_texture t = r->image;
    t.data = x->texels;
    return !t.width || (heddle_bind_texture(x->h, x->m, "image", &t) == HEDDLE_OK &&
                        heddle_bind_texture(x->h, x->m, "plane", &t) == HEDDLE_OK);
}

/* Returns the speed in millions of thread operations per second, or 0 on failure. */
static double measure(const struct machine *x, const struct row *r, int rounds) {
    struct heddle_arg args[] = {{&x->out, 8}, {&r->iterations, 4}};
    struct heddle_dim grid = {CTAS, 1, 1}, block = {THREADS, 1, 1};
    double best = 0;
    if (!bind(x, r))
        return 0;
    for (int i = 0; i < rounds; i++) {
        double t = now();
        if (heddle_launch(x->h, x->m, r->kernel, grid, block, 0, args, 2) != HEDDLE_OK)
            return 0;
        double speed = (double)CTAS * THREADS * UNROLLED * r->iterations / (now() - t) * 1e-6;
        best = speed > best ? speed : best;
    }
    return best;
}

static bool is_chosen(const char *name, char **chosen, int n) {
    for (int i = 0; i < n; i++)
        if (strcmp(chosen[i], name) == 0)
            return true;
    return n == 0;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    struct heddle_options o = {.model = "functional"};
    char err[512];
    struct machine x = {.h = heddle_open(&o, err, sizeof err)};
    if (!x.h) {
        fprintf(stderr, "operations_speed: %s\n", err);
        return 2;
    }
    x.m = heddle_module_file(x.h, "test/speed/operations.ptx");
    x.out = heddle_alloc(x.h, BUFFER_BYTES);
    x.texels = heddle_alloc(x.h, BUFFER_BYTES);
    for (int i = 0; i < N_ROWS; i++) {
        if (!is_chosen(rows[i].name, argv + 2, argc - 2))
            continue;
        double speed = x.m && x.out && x.texels ? measure(&x, &rows[i], rounds) : 0;
        if (speed == 0) {
            fprintf(stderr, "operations_speed: %s: %s\n", rows[i].name, heddle_error(x.h));
            return 2;
        }
        printf("%s,%.4g\n", rows[i].name, speed);
    }
    heddle_close(x.h);
    return 0;
}
