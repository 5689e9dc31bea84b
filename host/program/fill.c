/* Fills buffers with their initial content: zeros, generated values, a file, or a part of a graph. */
#include "parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEYS = 24 };

/* Checks the keys of a buffer: allows only the keys that all buffers may have, and the keys in `own`. */
static bool keys_of(struct run *r, const config_setting_t *s, const char *const *own) {
    static const char *const common[] = {"type", "count", "set", "save", "symbol", "module", NULL};
    const char *all[MOST_KEYS];
    int n = 0;
    for (int i = 0; own[i]; i++)
        all[n++] = own[i];
    for (int i = 0; common[i]; i++)
        all[n++] = common[i];
    all[n] = NULL;
    return check_keys(r, s, all);
}

bool store_value(struct run *r, const config_setting_t *s, const char *token, const struct value_type *t,
                 struct value v, unsigned char *out) {
    if (t->class == 'f') {
        double d = value_real(v);
        float f = (float)d;
        memcpy(out, t->bytes == 4 ? (void *)&f : (void *)&d, t->bytes);
        return true;
    }
    unsigned bits = 8 * t->bytes;
    if (v.real)
        return run_fail(r, s, token, 0, "%g is no whole number, as %s needs it", v.r, t->name);
    int64_t least = t->class == 'u' ? 0 : bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1));
    int64_t most = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - (t->class == 's'))) - 1;
    if (v.i < least || v.i > most)
        return run_fail(r, s, token, 0, "%lld is no %s value (%lld to %lld)", (long long)v.i, t->name, (long long)least,
                        (long long)most);
    memcpy(out, &v.i, t->bytes); /* little-endian, as the device is */
    return true;
}

static double uniform_double(uint64_t *state) { return (double)(bench_random(state) >> 11) * 0x1p-53; }

/* Returns a normally distributed number, computed from two uniformly distributed numbers by Box and Muller's method. */
static double normal(uint64_t *state) {
    double u = 1 - uniform_double(state), v = uniform_double(state);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

struct filler {
    struct run *r;
    const config_setting_t *s;
    const struct value_type *t;
    uint64_t count, state;
    unsigned char *out;
    double diagonal; /* number that is added to each element on the diagonal of the matrix */
    int64_t columns; /* number of columns of the matrix; 0: the buffer is no matrix */
};

static bool put(struct filler *f, uint64_t i, struct value v) {
    if (f->columns && i / (uint64_t)f->columns == i % (uint64_t)f->columns)
        v = (struct value){.real = true, .r = value_real(v) + f->diagonal};
    return store_value(f->r, f->s, NULL, f->t, v, f->out + i * f->t->bytes);
}

static bool read_matrix_keys(struct filler *f) {
    int64_t seed = 1;
    bool diagonal = config_setting_get_member(f->s, "diagonal"), columns = config_setting_get_member(f->s, "columns");
    if (diagonal != columns)
        return run_fail(f->r, f->s, NULL, 0, "diagonal = VALUE and columns = NUMBER belong together");
    if (diagonal && f->t->class != 'f')
        return run_fail(f->r, config_setting_get_member(f->s, "diagonal"), NULL, 0, "a diagonal needs f32 or f64");
    bool fine = read_integer(f->r, f->s, "seed", INT64_MIN, INT64_MAX, &seed) &&
                read_real(f->r, f->s, "diagonal", &f->diagonal) &&
                read_integer(f->r, f->s, "columns", 1, INT64_MAX, &f->columns);
    f->state = (uint64_t)seed;
    return fine;
}

static bool fill_uniform(struct filler *f) {
    static const char *const keys[] = {"generate", "seed", "low", "high", "diagonal", "columns", NULL};
    double low = 0, high = 1;
    int64_t from = 0, to = f->t->class == 'f' ? 0 : 2;
    if (!keys_of(f->r, f->s, keys) || !read_matrix_keys(f))
        return false;
    if (f->t->class == 'f' ? !read_real(f->r, f->s, "low", &low) || !read_real(f->r, f->s, "high", &high)
                           : !read_integer(f->r, f->s, "low", INT64_MIN / 2, INT64_MAX / 2, &from) ||
                                 !read_integer(f->r, f->s, "high", INT64_MIN / 2, INT64_MAX / 2, &to))
        return false;
    if (f->r->h && f->t->class != 'f' && from >= to)
        return run_fail(f->r, f->s, "low", 0, "low is %lld, and must be below high, which is %lld", (long long)from,
                        (long long)to);
    for (uint64_t i = 0; i < f->count; i++) {
        struct value v = {.real = f->t->class == 'f'};
        if (!v.real)
            v.i = from + (int64_t)(bench_random(&f->state) % (uint64_t)(to - from));
        else if (f->t->bytes == 4)
            v.r = (double)bench_uniform(&f->state, (float)low, (float)high);
        else
            v.r = low + (high - low) * uniform_double(&f->state);
        if (!put(f, i, v))
            return false;
    }
    return true;
}

static bool fill_normal(struct filler *f) {
    static const char *const keys[] = {"generate", "seed", "mean", "deviation", "diagonal", "columns", NULL};
    double mean = 0, deviation = 1;
    if (!keys_of(f->r, f->s, keys) || !read_matrix_keys(f) || !read_real(f->r, f->s, "mean", &mean) ||
        !read_real(f->r, f->s, "deviation", &deviation))
        return false;
    for (uint64_t i = 0; i < f->count; i++) {
        struct value v = {.real = true, .r = mean + deviation * normal(&f->state)};
        if (f->t->class != 'f')
            v = (struct value){.i = llrint(fmin(fmax(v.r, -9e18), 9e18))};
        if (!put(f, i, v))
            return false;
    }
    return true;
}

static bool fill_sequence(struct filler *f) {
    static const char *const keys[] = {"generate", "start", "step", NULL};
    double start = 0, step = 1;
    int64_t from = 0, by = 1;
    bool real = f->t->class == 'f';
    if (!keys_of(f->r, f->s, keys) ||
        (real ? !read_real(f->r, f->s, "start", &start) || !read_real(f->r, f->s, "step", &step)
              : !read_integer(f->r, f->s, "start", INT64_MIN, INT64_MAX, &from) ||
                    !read_integer(f->r, f->s, "step", INT64_MIN, INT64_MAX, &by)))
        return false;
    for (uint64_t i = 0; i < f->count; i++) {
        struct value v = {.real = real, .r = start + step * (double)i};
        if (!real && (__builtin_mul_overflow(by, (int64_t)i, &v.i) || __builtin_add_overflow(from, v.i, &v.i)))
            return run_fail(f->r, f->s, NULL, 0, "the sequence leaves 64 bits at element %llu", (unsigned long long)i);
        if (!put(f, i, v))
            return false;
    }
    return true;
}

static bool fill_constant(struct filler *f) {
    static const char *const keys[] = {"generate", "value", NULL};
    const config_setting_t *s = config_setting_get_member(f->s, "value");
    struct value v;
    if (!keys_of(f->r, f->s, keys))
        return false;
    if (!s)
        return run_fail(f->r, f->s, NULL, 0, "value = NUMBER is missing");
    if (!read_value(f->r, s, &v))
        return false;
    for (uint64_t i = 0; i < f->count; i++)
        if (!put(f, i, v))
            return false;
    return true;
}

static bool fill_nothing(struct filler *f) {
    static const char *const keys[] = {"generate", NULL};
    return keys_of(f->r, f->s, keys);
}

static const char *const kinds[] = {"zero", "none", "constant", "uniform", "normal", "sequence", NULL};
enum { KIND_ZERO, KIND_NONE };

/* Allocates host memory for the contents of buffer `b`, whose count must be set. In a dry run, the memory has one
 * element. */
static unsigned char *room(struct run *r, const config_setting_t *s, struct script_buffer *b) {
    if (r->h && (b->count < 1 || b->count > ((uint64_t)1 << 40) / b->type->bytes)) {
        run_fail(r, s, "count", 0, "'%s' has %llu elements, and must have from 1 to 2^40 bytes", b->name,
                 (unsigned long long)b->count);
        return NULL;
    }
    b->count = r->h ? b->count : 1;
    b->bytes = b->count * b->type->bytes;
    unsigned char *data = calloc(1, b->bytes);
    if (!data)
        run_fail(r, s, "count", 0, "'%s' has %llu bytes: the host is out of memory", b->name,
                 (unsigned long long)b->bytes);
    return data;
}

static unsigned char *from_file(struct run *r, const config_setting_t *s, struct script_buffer *b) {
    static const char *const keys[] = {"file", NULL};
    const config_setting_t *file = config_setting_get_member(s, "file");
    const char *name = NULL;
    size_t len = 0;
    if (!keys_of(r, s, keys) || !read_text(r, s, "file", &name))
        return NULL;
    char *path = path_of(r, name), *data = path ? read_whole_file(r, file, path, &len) : NULL;
    free(path);
    if (!data)
        return r->h || r->status != HEDDLE_OK ? NULL : room(r, s, b);
    bool counted = config_setting_get_member(s, "count");
    if (len == 0 || len % b->type->bytes || (counted && len / b->type->bytes != b->count)) {
        if (counted)
            run_fail(r, file, name, 0, "the file has %zu bytes, and %llu values of %s have %llu", len,
                     (unsigned long long)b->count, b->type->name, (unsigned long long)(b->count * b->type->bytes));
        else
            run_fail(r, file, name, 0, "the file has %zu bytes: no whole number of values of %s", len, b->type->name);
        free(data);
        return NULL;
    }
    b->count = len / b->type->bytes;
    b->bytes = len;
    return (unsigned char *)data;
}

static const struct script_graph *named_graph(struct run *r, const config_setting_t *s) {
    const char *name = config_setting_type(s) == CONFIG_TYPE_STRING ? config_setting_get_string(s) : "";
    for (int i = 0; i < r->n_graphs; i++)
        if (strcmp(r->graphs[i].name, name) == 0)
            return &r->graphs[i];
    run_fail(r, s, name, 0, "there is no graph '%s'", name);
    return NULL;
}

static unsigned char *from_graph(struct run *r, const config_setting_t *s, struct script_buffer *b) {
    static const char *const keys[] = {"graph", "part", NULL}, *const parts[] = {"offsets", "targets", "values", NULL};
    const config_setting_t *part = config_setting_get_member(s, "part"), *count = config_setting_get_member(s, "count");
    int which = 0;
    if (!keys_of(r, s, keys))
        return NULL;
    const struct script_graph *g = named_graph(r, config_setting_get_member(s, "graph"));
    if (!g || (part && !read_word(r, part, "part of a graph", parts, &which)))
        return NULL;
    if (!part)
        return run_fail(r, s, NULL, 0, "which part? part = \"offsets\", \"targets\" or \"values\""), NULL;
    if (count)
        return run_fail(r, count, NULL, 0, "the graph says how many there are"), NULL;
    b->count = which ? g->g.edges : (uint64_t)g->g.nodes + 1;
    unsigned char *data = room(r, s, b);
    for (uint64_t i = 0; data && r->h && i < b->count; i++) {
        struct value v = which == 2 ? (struct value){.real = true, .r = g->values ? g->values[i] : 1}
                                    : (struct value){.i = which ? g->g.targets[i] : g->g.offsets[i]};
        if (v.real && b->type->class != 'f' && v.r == floor(v.r) && fabs(v.r) < 9e18)
            v = (struct value){.i = (int64_t)v.r};
        if (!store_value(r, s, NULL, b->type, v, data + i * b->type->bytes)) {
            free(data);
            return NULL;
        }
    }
    return data;
}

static unsigned char *generated(struct run *r, const config_setting_t *s, struct script_buffer *b, bool *zero) {
    static bool (*const fillers[])(struct filler *) = {fill_nothing, fill_nothing, fill_constant,
                                                       fill_uniform, fill_normal,  fill_sequence};
    const config_setting_t *kind = config_setting_get_member(s, "generate");
    int which = 0;
    if (!read_word(r, kind, "generator", kinds, &which))
        return NULL;
    if (!config_setting_get_member(s, "count"))
        return run_fail(r, s, NULL, 0, "how many elements? count = NUMBER is missing"), NULL;
    unsigned char *data = room(r, s, b);
    struct filler f = {.r = r, .s = s, .t = b->type, .count = r->h ? b->count : 0, .out = data};
    *zero = which == KIND_ZERO;
    if (data && !fillers[which](&f)) {
        free(data);
        return NULL;
    }
    return data;
}

/* Handles set = ((INDEX, VALUE), ...), which sets single elements. */
static bool set_elements(struct run *r, const config_setting_t *s, const struct script_buffer *b, unsigned char *data) {
    const config_setting_t *set = config_setting_get_member(s, "set");
    for (int i = 0; set && i < config_setting_length(set); i++) {
        const config_setting_t *pair = config_setting_get_elem(set, (unsigned)i);
        struct value at, v;
        if (!config_setting_is_aggregate(pair) || config_setting_is_group(pair) || config_setting_length(pair) != 2)
            return run_fail(r, set, NULL, 0, "it is written set = ((INDEX, VALUE), ...)");
        if (!read_value(r, config_setting_get_elem(pair, 0), &at) ||
            !check_whole(r, config_setting_get_elem(pair, 0), "index", at, 0,
                         r->h ? (int64_t)b->count - 1 : INT64_MAX) ||
            !read_value(r, config_setting_get_elem(pair, 1), &v))
            return false;
        if (r->h &&
            !store_value(r, config_setting_get_elem(pair, 1), NULL, b->type, v, data + (uint64_t)at.i * b->type->bytes))
            return false;
    }
    return true;
}

unsigned char *fill_buffer(struct run *r, const config_setting_t *s, struct script_buffer *b, bool *zero) {
    static const char *const sources[] = {"generate", "file", "graph"};
    int n = 0;
    for (int i = 0; i < 3; i++)
        n += config_setting_get_member(s, sources[i]) != NULL;
    *zero = false;
    if (n != 1)
        return run_fail(r, s, NULL, 0, "one of generate = \"zero\", file = \"X.bin\" and graph = \"G\" %s",
                        n ? "at a time" : "is missing"),
               NULL;
    unsigned char *data = config_setting_get_member(s, "generate") ? generated(r, s, b, zero)
                          : config_setting_get_member(s, "file")   ? from_file(r, s, b)
                                                                   : from_graph(r, s, b);
    if (!data || set_elements(r, s, b, data)) {
        *zero = *zero && !config_setting_get_member(s, "set");
        return data;
    }
    free(data);
    return NULL;
}
