/* Simulates a kernel that comes with Heddle cycle by cycle, and prints statistics.
 *
 *     cc vecadd.c -o vecadd $(pkg-config --cflags --libs heddle) */
#include <heddle.h>
#include <stdlib.h>

enum { N = 4096 };

static int failed(const struct heddle *h) {
    fprintf(stderr, "vecadd: %s", heddle_error(h));
    int status = heddle_status(h);
    return status ? status : 1;
}

int main(int argc, char **argv) {
    struct heddle_options o = {.model = argc > 1 ? argv[1] : "spe", .config = argc > 2 ? argv[2] : "fermi"};
    char err[512], path[4096];
    struct heddle *h = heddle_open(&o, err, sizeof err);
    if (!h) {
        fprintf(stderr, "vecadd: %s\n", err);
        return HEDDLE_USAGE;
    }
    if (!heddle_kernel_file("vecadd.ptx", path, sizeof path)) {
        fprintf(stderr, "vecadd: the kernels of Heddle are not installed; set HEDDLE_KERNELS to their folder\n");
        return HEDDLE_USAGE;
    }
    struct heddle_module *m = heddle_module_file(h, path);
    if (!m)
        return failed(h);
    static float a[N], b[N], c[N];
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = 0.5f;
    }
    uint64_t da = heddle_alloc(h, sizeof a), db = heddle_alloc(h, sizeof b), dc = heddle_alloc(h, sizeof c);
    if (!da || !db || !dc || heddle_write(h, da, a, sizeof a) || heddle_write(h, db, b, sizeof b))
        return failed(h);
    uint32_t n = N;
    struct heddle_arg args[] = {{&da, sizeof da}, {&db, sizeof db}, {&dc, sizeof dc}, {&n, sizeof n}};
    struct heddle_dim grid = {N / 256, 1, 1}, block = {256, 1, 1};
    if (heddle_launch(h, m, heddle_kernel(m, 0), grid, block, 0, args, 4) || heddle_read(h, dc, c, sizeof c))
        return failed(h);
    for (int i = 0; i < N; i++)
        if (c[i] != a[i] + b[i]) {
            fprintf(stderr, "vecadd: c[%d] is %g\n", i, c[i]);
            return HEDDLE_WRONG;
        }
    printf("%d sums are right: %.0f warp instructions", N, heddle_stat(h, -1, "gpu.warp_instructions"));
    if (heddle_stat(h, -1, "gpu.cycles") > 0)
        printf(", %.0f cycles", heddle_stat(h, -1, "gpu.cycles"));
    putchar('\n');
    heddle_close(h);
    return 0;
}
