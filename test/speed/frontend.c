/* Measures the speed of the parser and of lowering. Part of `make bench`.
 * - `frontend_speed FILE...` parses each file and lowers each of its kernels, repeatedly for a second each. It prints
 *   CSV: the step and MB/s.
 * - `frontend_speed --decouple FILE...` times the pass `decouple` on the largest kernel of the files, and on the kernel
 *   for which the pass takes longest. It prints the kernel, its instructions and the milliseconds of processor time,
 *   the best of ten runs. */
#include "frontend/passes/pass.h"
#include "mechanisms/all.h"
#include "mechanisms/dac/decouple.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct text {
    const char *name;
    char *data;
    size_t len;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool load(struct text *t, const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    fseek(f, 0, SEEK_END);
    t->len = (size_t)ftell(f);
    rewind(f);
    t->name = path;
    t->data = malloc(t->len + 1);
    bool ok = t->data && fread(t->data, 1, t->len, f) == t->len;
    fclose(f);
    return ok;
}

/* Parses `t` and, if `lower` is true, lowers its kernels. */
static bool once(const struct text *t, bool lower) {
    struct diags d;
    diags_init(&d, t->name, t->data, t->len);
    struct module *m = ptx_parse(&d);
    bool ok = m && !d.errors;
    struct image *img = ok && lower ? frontend_image(m) : NULL;
    struct lower_options opt = {.passes = mechanism_passes()};
    struct function *entry;
    for (int i = 0; img && (entry = ptx_entry(m, i)); i++) {
        struct program *p = frontend_lower(img, entry->name->text, &opt);
        ok = ok && p;
        program_free(p);
    }
    if (!ok)
        diags_print(&d, stderr);
    frontend_image_free(img);
    ptx_free(m);
    diags_free(&d);
    return ok;
}

/* ---- one pass ---- */

struct taken {
    uint32_t n; /* instructions before it */
    double ms;
};
static struct taken last; /* time that the pass took for the kernel that was lowered last */

static bool timed(struct ir *ir) {
    struct timespec from, to;
    last.n = ir->n;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    bool fine = decouple(ir);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    last.ms = 1e3 * (double)(to.tv_sec - from.tv_sec) + 1e-6 * (double)(to.tv_nsec - from.tv_nsec);
    return fine;
}

/* Returns the best time of ten runs for a kernel. n is 0 if the kernel cannot be lowered. */
static struct taken best_of(const struct image *img, const char *kernel, const struct pass *table) {
    static const char *const dac[] = {"dac", NULL};
    struct lower_options opt = {.context.extensions = dac, .passes = table};
    struct taken best = {0, 1e9};
    for (int i = 0; i < 10; i++) {
        struct program *p = frontend_lower(img, kernel, &opt);
        if (!p)
            return (struct taken){0};
        program_free(p);
        best = last.ms < best.ms ? last : best;
    }
    return best;
}

static int time_decouple(const struct text *texts, int n) {
    struct pass table[32];
    struct taken largest = {0}, slowest = {0};
    char names[2][128] = {"", ""};
    const struct pass *all = mechanism_passes();
    for (int i = 0; i == 0 || all[i - 1].name; i++) {
        table[i] = all[i];
        if (all[i].name && strcmp(all[i].name, "decouple") == 0)
            table[i].run = timed;
    }
    for (int i = 0; i < n; i++) {
        struct diags d;
        struct function *entry;
        diags_init(&d, texts[i].name, texts[i].data, texts[i].len);
        struct module *m = ptx_parse(&d);
        struct image *img = m && !d.errors ? frontend_image(m) : NULL;
        for (int k = 0; img && (entry = ptx_entry(m, k)); k++) {
            struct taken t = best_of(img, entry->name->text, table);
            if (t.n > largest.n) {
                largest = t;
                snprintf(names[0], sizeof names[0], "%s", entry->name->text);
            }
            if (t.n && t.ms > slowest.ms) {
                slowest = t;
                snprintf(names[1], sizeof names[1], "%s", entry->name->text);
            }
        }
        if (d.errors)
            diags_print(&d, stderr);
        frontend_image_free(img);
        ptx_free(m);
        diags_free(&d);
    }
    printf("largest,%s,%u,%.2f\nslowest,%s,%u,%.2f\n", names[0], largest.n, largest.ms, names[1], slowest.n,
           slowest.ms);
    return largest.n ? 0 : 1;
}

int main(int argc, char **argv) {
    struct text *texts = calloc((size_t)argc, sizeof *texts);
    const bool decouple = argc > 1 && strcmp(argv[1], "--decouple") == 0;
    if (!texts)
        return 2;
    argc -= decouple;
    argv += decouple;
    for (int i = 1; i < argc; i++)
        if (!load(&texts[i], argv[i])) {
            fprintf(stderr, "frontend_speed: cannot read %s\n", argv[i]);
            return 2;
        }
    if (decouple)
        return time_decouple(texts + 1, argc - 1);
    for (int lower = 0; lower <= 1; lower++) {
        double start = now(), bytes = 0;
        while (now() - start < 1.5)
            for (int i = 1; i < argc; i++) {
                if (!once(&texts[i], lower))
                    return 1;
                bytes += (double)texts[i].len;
            }
        printf("%s,%.1f\n", lower ? "parse_and_lower" : "parse", bytes / 1e6 / (now() - start));
    }
    for (int i = 1; i < argc; i++)
        free(texts[i].data);
    free(texts);
    return 0;
}
