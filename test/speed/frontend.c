/* How fast PTX text becomes programs. usage: frontend_speed FILE... ; prints CSV: what, MB/s. Every file is parsed, and
 * every kernel in it lowered, again and again for a second each. Part of `make bench`. */
#include "frontend/frontend.h"
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

/* Parses `t`, and lowers its kernels when `lower`. */
static bool once(const struct text *t, bool lower) {
    struct diags d;
    diags_init(&d, t->name, t->data, t->len);
    struct module *m = ptx_parse(&d);
    bool ok = m && !d.errors;
    struct image *img = ok && lower ? frontend_image(m) : NULL;
    struct lower_options opt = {0};
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

int main(int argc, char **argv) {
    struct text *texts = calloc((size_t)argc, sizeof *texts);
    if (!texts)
        return 2;
    for (int i = 1; i < argc; i++)
        if (!load(&texts[i], argv[i])) {
            fprintf(stderr, "frontend_speed: cannot read %s\n", argv[i]);
            return 2;
        }
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
