/* Checks of a program: compares a buffer with a file, or with the result of the same program in another model. */
#include "parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double real_at(const struct value_type *t, const unsigned char *at) {
    float f;
    double d;
    memcpy(t->bytes == 4 ? (void *)&f : (void *)&d, at, t->bytes);
    return t->bytes == 4 ? (double)f : d;
}

static bool same(const struct value_type *t, const unsigned char *got, const unsigned char *want, double tolerance) {
    return t->class == 'f' ? bench_same(real_at(t, got), real_at(t, want), tolerance)
                           : memcmp(got, want, t->bytes) == 0;
}

static const char *print(const struct value_type *t, const unsigned char *at, char out[48]) {
    uint64_t u = 0;
    memcpy(&u, at, t->class == 'f' ? 0 : t->bytes);
    unsigned unused = 64 - 8 * t->bytes;
    if (t->class == 'f')
        snprintf(out, 48, t->bytes == 4 ? "%.9g" : "%.17g", real_at(t, at));
    else if (t->class == 's')
        snprintf(out, 48, "%lld", (long long)((int64_t)(u << unused) >> unused));
    else
        snprintf(out, 48, "%llu", (unsigned long long)u);
    return out;
}

/* Compares a buffer with the expected values `want`. */
static bool compare(struct run *r, const config_setting_t *s, const struct script_buffer *b, const unsigned char *want,
                    const char *whose, double tolerance) {
    unsigned char *got = malloc(b->bytes);
    uint64_t wrong = 0, first = 0;
    if (!got)
        return run_no_memory(r);
    bool fine = heddle_read(r->h, b->address, got, b->bytes) == HEDDLE_OK || run_library(r, s, b->name);
    for (uint64_t i = 0; fine && i < b->count; i++)
        if (!same(b->type, got + i * b->type->bytes, want + i * b->type->bytes, tolerance) && wrong++ == 0)
            first = i;
    if (wrong) {
        char is[48], should[48];
        fine = run_fail(r, config_setting_get_member(s, "check"), b->name, 0,
                        "%s[%llu] is %s, %s says %s (%llu of %llu values differ)", b->name, (unsigned long long)first,
                        print(b->type, got + first * b->type->bytes, is), whose,
                        print(b->type, want + first * b->type->bytes, should), (unsigned long long)wrong,
                        (unsigned long long)b->count);
        r->status = HEDDLE_WRONG;
    }
    free(got);
    return fine;
}

static bool against_file(struct run *r, const config_setting_t *s, const struct script_buffer *b, double tolerance) {
    const config_setting_t *file = config_setting_get_member(s, "file");
    const char *name = NULL;
    size_t len = 0;
    if (!read_text(r, s, "file", &name))
        return false;
    char *path = path_of(r, name), *want = path ? read_whole_file(r, file, path, &len) : NULL;
    bool fine = want || (!r->h && r->status == HEDDLE_OK);
    if (want && len != b->bytes)
        fine = run_fail(r, file, name, 0, "the file has %zu bytes, and '%s' has %llu", len, b->name,
                        (unsigned long long)b->bytes);
    else if (want)
        fine = compare(r, s, b, (unsigned char *)want, name, tolerance);
    free(path);
    free(want);
    return fine;
}

/* Records the buffer's content in place of a check. Called in the run in another model, with which the main run is
 * compared. */
static bool record(struct run *r, const config_setting_t *s, const struct script_buffer *b) {
    struct reference *ref = r->recording;
    struct snapshot *more = realloc(ref->list, (size_t)(ref->n + 1) * sizeof *more);
    if (!more)
        return run_no_memory(r);
    ref->list = more;
    more[ref->n] = (struct snapshot){malloc(b->bytes), b->bytes};
    if (!more[ref->n].data)
        return run_no_memory(r);
    return heddle_read(r->h, b->address, more[ref->n++].data, b->bytes) == HEDDLE_OK || run_library(r, s, b->name);
}

/* Runs the whole program in the model ref->model, on the same machine configuration, to get the contents with which
 * buffers are compared. */
static bool run_reference(struct run *r, const config_setting_t *s, struct reference *ref) {
    struct heddle_options o = r->host->options ? *r->host->options : (struct heddle_options){0};
    bool functional = strcmp(ref->model, "functional") == 0;
    char err[1024];
    FILE *nowhere = fopen("/dev/null", "w");
    o.model = ref->model;
    /* the limit of the main run is in cycles, but the functional model would take it as a number of warp
     * instructions */
    o.cycle_limit = functional ? 0 : o.cycle_limit;
    o.trace = o.samples = NULL;
    o.sample_interval = 0;
    o.watch = NULL;
    o.profile = o.progress = o.check = false;
    o.device_stdout = nowhere;
    struct heddle *h = nowhere ? heddle_open(&o, err, sizeof err) : NULL;
    if (!h) {
        if (nowhere)
            fclose(nowhere);
        return run_fail(r, config_setting_get_member(s, "model"), ref->model, 0, "%.*s", (int)strcspn(err, "\n"),
                        nowhere ? err : "no file can be opened");
    }
    struct run other = {.p = r->p,
                        .go = r->go,
                        .h = h,
                        .host = r->host,
                        .size = r->size,
                        .why = r->why,
                        .why_size = r->why_size,
                        .recording = ref};
    if (r->host->watch)
        r->host->watch(h);
    bool fine = r->go(&other);
    if (r->host->watch)
        r->host->watch(r->h);
    r->status = other.status;
    run_free(&other);
    heddle_close(h);
    fclose(nowhere);
    return fine;
}

static struct reference *reference_of(struct run *r, const config_setting_t *s, const char *model) {
    for (struct reference *ref = r->references; ref; ref = ref->next)
        if (strcmp(ref->model, model) == 0)
            return ref;
    struct reference *ref = calloc(1, sizeof *ref);
    if (!ref) {
        run_no_memory(r);
        return NULL;
    }
    ref->model = model;
    ref->next = r->references;
    r->references = ref;
    return run_reference(r, s, ref) ? ref : NULL;
}

static bool against_model(struct run *r, const config_setting_t *s, const struct script_buffer *b, double tolerance) {
    const char *model = NULL;
    if (!read_text(r, s, "model", &model) || !r->h)
        return r->status == HEDDLE_OK;
    if (r->recording)
        return strcmp(r->recording->model, model) != 0 || record(r, s, b);
    struct reference *ref = reference_of(r, s, model);
    if (!ref)
        return false;
    const struct snapshot *want = ref->used < ref->n ? &ref->list[ref->used++] : NULL;
    if (want && want->bytes == b->bytes)
        return compare(r, s, b, want->data, model, tolerance);
    run_fail(r, s, "check", 0, "'%s' came to this check %d time%s only: its loops went another way", model, ref->n,
             ref->n == 1 ? "" : "s");
    r->status = HEDDLE_WRONG;
    return false;
}

bool run_check(struct run *r, const config_setting_t *s) {
    static const char *const keys[] = {"check", "file", "model", "tolerance", "when", NULL};
    const config_setting_t *tolerance = config_setting_get_member(s, "tolerance");
    bool file = config_setting_get_member(s, "file"), model = config_setting_get_member(s, "model");
    double allowed = 0;
    int b = check_keys(r, s, keys) ? named_buffer(r, config_setting_get_member(s, "check")) : -1;
    if (b < 0 || !read_real(r, s, "tolerance", &allowed))
        return false;
    if (file == model)
        return run_fail(r, s, "check", 0, "against what? file = \"X.bin\" or model = \"functional\"");
    if (tolerance && r->buffers[b].type->class != 'f')
        return run_fail(r, tolerance, NULL, 0, "values of %s are equal or not: a tolerance is for f32 and f64",
                        r->buffers[b].type->name);
    if (r->h && !(allowed >= 0 && isfinite(allowed)))
        return run_fail(r, tolerance, NULL, 0, "a tolerance is a positive number");
    if (r->open)
        r->open->checks = true;
    if (file)
        return r->recording || against_file(r, s, &r->buffers[b], allowed);
    return against_model(r, s, &r->buffers[b], allowed);
}

static void free_references(struct run *r) {
    while (r->references) {
        struct reference *next = r->references->next;
        for (int i = 0; i < r->references->n; i++)
            free(r->references->list[i].data);
        free(r->references->list);
        free(r->references);
        r->references = next;
    }
}

void run_free(struct run *r) {
    for (int i = 0; i < r->n_graphs; i++) {
        bench_graph_free(&r->graphs[i].g);
        free(r->graphs[i].values);
        for (int k = 0; k < 4; k++)
            free(r->graphs[i].names[k]);
    }
    for (int i = 0; i < r->n_buffers; i++)
        free(r->buffers[i].count_name);
    free_references(r);
    free(r->modules);
    free(r->graphs);
    free(r->buffers);
    free(r->textures);
    free(r->names.list);
}
