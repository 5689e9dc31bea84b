#include "results_view.h"
#include "ptx/diag.h"
#include "timing/config/config.h"
#include "timing/report/stat.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset; /* offset of a member of struct result_row; the member `launch` is an int, all others are char * */
} texts[] = {
    {"program", offsetof(struct result_row, program)}, {"size", offsetof(struct result_row, size)},
    {"model", offsetof(struct result_row, model)},     {"preset", offsetof(struct result_row, preset)},
    {"check", offsetof(struct result_row, verdict)},   {"kernel", offsetof(struct result_row, kernel)},
    {"launch", offsetof(struct result_row, launch)},   {"version", offsetof(struct result_row, version)},
    {"binary", offsetof(struct result_row, binary)},   {"ended", offsetof(struct result_row, ended)},
};
enum { N_TEXTS = sizeof texts / sizeof texts[0], LAUNCH = 6 };

static bool unknown_field(const struct result_set *set, const char *name, char *err, size_t err_size) {
    int n = 0;
    const char **all = calloc((size_t)(N_TEXTS + set->n_names + set->n_options), sizeof *all);
    for (int i = 0; all && i < N_TEXTS; i++)
        all[n++] = texts[i].name;
    for (int i = 0; all && i < set->n_names; i++)
        all[n++] = set->names[i];
    for (int i = 0; all && i < set->n_options; i++)
        all[n++] = set->options[i];
    const char *near = all ? diag_suggest(name, all, n) : NULL;
    if (near)
        snprintf(err, err_size, "no run has '%.60s'; did you mean '%s'?", name, near);
    else
        snprintf(
            err, err_size,
            "no run has '%.60s': it is program, size, model, preset, check, kernel, launch, version, binary, ended, "
            "an option ('heddle list options') or a statistic ('heddle list statistics')",
            name);
    free(all);
    return false;
}

bool field_find(struct results_db *db, struct result_set *set, const char *name, struct field *out, char *err,
                size_t err_size) {
    snprintf(out->name, sizeof out->name, "%s", name);
    for (int i = 0; i < N_TEXTS; i++)
        if (strcmp(texts[i].name, name) == 0) {
            out->kind = FIELD_TEXT;
            out->index = i;
            return true;
        }
    out->kind = FIELD_STATISTIC;
    out->index = result_stat(set, name);
    if (out->index >= 0)
        return true;
    out->kind = FIELD_OPTION;
    const char *now = config_renamed(name);
    out->index = results_option(db, set, now ? now : name, err, err_size);
    return out->index == -1 ? unknown_field(set, name, err, err_size) : out->index >= 0;
}

int fields_find(struct results_db *db, struct result_set *set, const char *names, struct field *out, int max, char *err,
                size_t err_size) {
    int n = 0;
    for (const char *at = names;; at++) {
        char name[64];
        size_t len = strcspn(at, ",");
        if (n == max) {
            snprintf(err, err_size, "'%.60s': more than %d of them", names, max);
            return 0;
        }
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        if (!field_find(db, set, name, &out[n++], err, err_size))
            return 0;
        at += len;
        if (!*at)
            return n;
    }
}

const char *field_text(const struct result_set *set, const struct result_row *r, const struct field *f, char out[48]) {
    (void)set;
    *out = '\0';
    if (f->kind == FIELD_OPTION)
        return r->options[f->index];
    if (f->kind == FIELD_STATISTIC) {
        if (!isnan(r->values[f->index]))
            snprintf(out, 48, "%.15g", r->values[f->index]);
        return out;
    }
    if (f->index == LAUNCH) {
        if (r->launch >= 0)
            snprintf(out, 48, "%d", r->launch);
        return out;
    }
    const char *text = *(char *const *)((const char *)r + texts[f->index].offset);
    return text ? text : "";
}

static bool in_bytes(const char *option) {
    for (const struct opt *o = config_options(); o->key; o++)
        if (strcmp(o->key, option) == 0)
            return o->unit && strcmp(o->unit, "bytes") == 0;
    return false;
}

const char *field_label(const struct result_set *set, const struct result_row *r, const struct field *f, char out[48]) {
    const char *text = field_text(set, r, f, out);
    if (f->kind != FIELD_OPTION || !*text || text[strspn(text, "0123456789")] || !in_bytes(set->options[f->index]))
        return text;
    unsigned long long v = strtoull(text, NULL, 10);
    int unit = 0;
    for (; unit < 3 && v && v % 1024 == 0; unit++)
        v /= 1024;
    snprintf(out, 48, "%llu%.1s", v, &"\0KMG"[unit]);
    return out;
}

static double as_number(const char *s) {
    char *end;
    double v = strtod(s, &end);
    double scale = end == s ? 1 : *end == 'K' ? 1024 : *end == 'M' ? 1048576 : *end == 'G' ? 1073741824 : 1;
    return end == s || end[scale > 1] ? NAN : v * scale;
}

double field_number(const struct result_set *set, const struct result_row *r, const struct field *f) {
    char text[48];
    return f->kind == FIELD_STATISTIC ? r->values[f->index] : as_number(field_text(set, r, f, text));
}

enum number_format field_format(const struct result_set *set, const struct field *f, double v) {
    const char *unit = f->kind == FIELD_STATISTIC ? set->units[f->index] : "";
    if (fabs(v) < 1e15 && v == floor(v) && strcmp(unit, "1") != 0 && strcmp(unit, "1/cycle") != 0)
        return NUM_COUNT;
    return v != 0 && (fabs(v) < 0.01 || fabs(v) >= 1e6) ? NUM_SHORT : NUM_FIXED3;
}

static int by_number_or_text(const struct result_set *set, const struct result_row *a, const struct result_row *b,
                             const struct field *f) {
    char x[48], y[48];
    double p = field_number(set, a, f), q = field_number(set, b, f);
    if (!isnan(p) && !isnan(q))
        return (p > q) - (p < q);
    return strcmp(field_text(set, a, f, x), field_text(set, b, f, y));
}

static int by_identity(const void *a, const void *b, void *ctx) {
    const struct result_row *x = *(const struct result_row *const *)a, *y = *(const struct result_row *const *)b;
    const struct result_set *set = ctx;
    int order = strcmp(x->program, y->program);
    for (int i = 0; !order && i < set->n_options; i++)
        order = by_number_or_text(set, x, y, &(struct field){FIELD_OPTION, i, ""});
    if (!order) /* runs of model USUAL_BASE come before runs of other models */
        order = (strcmp(x->model, USUAL_BASE) != 0) - (strcmp(y->model, USUAL_BASE) != 0);
    if (!order)
        order = strcmp(x->model, y->model);
    return order ? order : (x->run > y->run) - (x->run < y->run);
}

void rows_sort(struct result_set *set, const struct result_row **rows, int n) {
    qsort_r(rows, (size_t)n, sizeof *rows, by_identity, set);
}

static bool is_operator(const char *op) {
    static const char *const all[] = {"=", "==", "!=", "<", "<=", ">", ">="};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(op, all[i]) == 0)
            return true;
    return false;
}

/* Splits one condition, the first `len` characters of `text`, at its operator. Sets the operator and the value. */
static bool condition_split(const char *text, size_t len, struct condition *c, char name[64], char *err,
                            size_t err_size) {
    char all[400];
    snprintf(all, sizeof all, "%.*s", (int)len, text);
    size_t n = strcspn(all, "=!<>"), at = n, ops = strspn(all + n, "=!<>");
    while (n && all[n - 1] == ' ')
        n--;
    snprintf(c->op, sizeof c->op, "%.*s", (int)ops, all + at);
    if (!n || ops > 2 || n >= 64 || !is_operator(c->op)) {
        snprintf(err, err_size, "'%s' is no condition; for example model=spe,dpe or gpu.ipc>100", all);
        return false;
    }
    if (strcmp(c->op, "==") == 0)
        strcpy(c->op, "=");
    snprintf(name, 64, "%.*s", (int)n, all);
    snprintf(c->value, sizeof c->value, "%s", all + at + ops + strspn(all + at + ops, " "));
    for (n = strlen(c->value); n && c->value[n - 1] == ' '; n--)
        c->value[n - 1] = '\0';
    return true;
}

/* Parses one condition, the first `len` characters of `text`. */
static bool condition_read(struct results_db *db, struct result_set *set, const char *text, size_t len,
                           struct condition *c, char *err, size_t err_size) {
    char name[64];
    if (!condition_split(text, len, c, name, err, err_size) || !field_find(db, set, name, &c->field, err, err_size))
        return false;
    bool number = !isnan(as_number(c->value));
    if (!*c->value || (c->field.kind == FIELD_STATISTIC && *c->op != '=' && *c->op != '!' && !number)) {
        snprintf(err, err_size, "'%.*s': %s%s", (int)len, text,
                 *c->value ? "it is compared with a number, not with " : "a value is missing", c->value);
        return false;
    }
    return true;
}

/* Returns the length of the first condition of `text`, and sets *next to the text after it; NULL: it is the last. */
static size_t condition_end(const char *text, const char **next) {
    static const char also[] = " and ";
    const char *end = strstr(text, also);
    *next = end ? end + sizeof also - 1 : NULL;
    return end ? (size_t)(end - text) : strlen(text);
}

bool conditions_read(struct results_db *db, struct result_set *set, const char *text, struct condition *c, int *n,
                     char *err, size_t err_size) {
    for (const char *next; text; text = next) {
        if (*n == CONDITIONS) {
            snprintf(err, err_size, "more than %d conditions", CONDITIONS);
            return false;
        }
        text += strspn(text, " ");
        const size_t len = condition_end(text, &next);
        if (!condition_read(db, set, text, len, &c[(*n)++], err, err_size))
            return false;
    }
    return true;
}

/* Returns true if the text equals one of the values; two numbers are compared as numbers. */
static bool among(const char *text, const char *values) {
    for (const char *at = values;; at++) {
        char one[256];
        size_t len = strcspn(at, ",");
        snprintf(one, sizeof one, "%.*s", (int)len, at);
        if (strcmp(one, text) == 0 || as_number(one) == as_number(text)) /* NAN equals nothing */
            return true;
        at += len;
        if (!*at)
            return false;
    }
}

/* Returns true if the condition holds for a value, given as text and as a number (NAN: it is no number). */
static bool holds_for(const struct condition *c, const char *own, double a) {
    if (strcmp(c->op, "=") == 0)
        return among(own, c->value);
    if (strcmp(c->op, "!=") == 0)
        return !among(own, c->value);
    double b = as_number(c->value);
    int order = !isnan(a) && !isnan(b) ? (a > b) - (a < b) : strcmp(own, c->value);
    if (!*own)
        return false;
    return c->op[0] == '<' ? order < 0 || (c->op[1] && order == 0) : order > 0 || (c->op[1] && order == 0);
}

static bool holds(const struct result_set *set, const struct result_row *r, const struct condition *c) {
    char text[48];
    return holds_for(c, field_text(set, r, &c->field, text), field_number(set, r, &c->field));
}

static bool holds_for_text(const void *ctx, const char *value) { return holds_for(ctx, value, as_number(value)); }

bool rows_pick(struct results_db *db, const char *const *where, int n_where, bool examples, char *err,
               size_t err_size) {
    struct condition c[CONDITIONS] = {0};
    struct results_condition field[CONDITIONS];
    char ignored[512];
    int n = 0;
    for (int i = 0; i < n_where; i++)
        for (const char *text = where[i], *next; text && n < CONDITIONS; text = next) {
            text += strspn(text, " ");
            const size_t len = condition_end(text, &next);
            char *name = c[n].field.name;
            if (!condition_split(text, len, &c[n], name, ignored, sizeof ignored)) /* rows_where() prints the message */
                continue;
            const char *now = config_renamed(name) ? config_renamed(name) : stat_renamed(name);
            field[n] = (struct results_condition){now ? now : name, holds_for_text, &c[n]};
            n++;
        }
    return (examples ? results_pick_examples : results_pick)(db, field, n, err, err_size);
}

bool conditions_hold(const struct result_set *set, const struct result_row *r, const struct condition *c, int n) {
    for (int i = 0; i < n; i++)
        if (!holds(set, r, &c[i]))
            return false;
    return true;
}

bool field_differs(const struct result_set *set, const struct result_row *const *rows, int n, const struct field *f) {
    char a[48], b[48];
    for (int i = 1; i < n; i++)
        if (strcmp(field_text(set, rows[0], f, a), field_text(set, rows[i], f, b)) != 0)
            return true;
    return false;
}

int fields_identity(const struct result_set *set, const struct result_row *const *rows, int n, struct field *out,
                    int max) {
    int k = 0;
    for (int i = 0; i < N_TEXTS && k < max; i++) {
        struct field f = {FIELD_TEXT, i, ""};
        snprintf(f.name, sizeof f.name, "%s", texts[i].name);
        bool always = i < 4 || (n && rows[0]->launch >= 0 && (i == LAUNCH || i == LAUNCH - 1));
        bool never = i == 4 || strcmp(f.name, "ended") == 0 || strcmp(f.name, "binary") == 0;
        if (always || (!never && field_differs(set, rows, n, &f)))
            out[k++] = f;
    }
    for (int i = 0; i < set->n_options && k < max; i++) {
        struct field f = {FIELD_OPTION, i, ""};
        snprintf(f.name, sizeof f.name, "%s", set->options[i]);
        if (field_differs(set, rows, n, &f))
            out[k++] = f;
    }
    return k;
}

bool rows_where(struct results_db *db, struct result_set *set, const char *const *where, int n_where,
                const struct result_row ***rows, int *n, char *err, size_t err_size) {
    struct condition conditions[CONDITIONS];
    char why[512];
    int n_conditions = 0;
    *n = 0;
    *rows = calloc((size_t)set->n + 1, sizeof **rows);
    for (int i = 0; *rows && i < n_where; i++)
        if (!conditions_read(db, set, where[i], conditions, &n_conditions, why, sizeof why)) {
            snprintf(err, err_size, "--where: %s", why);
            return false;
        }
    for (int i = 0; *rows && i < set->n; i++)
        if (conditions_hold(set, &set->rows[i], conditions, n_conditions))
            (*rows)[(*n)++] = &set->rows[i];
    if (!*rows)
        snprintf(err, err_size, "the host is out of memory");
    return *rows != NULL;
}

struct table *view_list(const struct result_set *set, const struct result_row *const *rows, int n,
                        const struct field *stats, int n_stats) {
    struct field ids[TABLE_COLUMNS], usual[2] = {{FIELD_STATISTIC, result_stat(set, "gpu.cycles"), "gpu.cycles"},
                                                 {FIELD_STATISTIC, result_stat(set, "gpu.ipc"), "gpu.ipc"}};
    if (!stats) {
        stats = usual;
        n_stats = set->n_names ? 2 : 0;
    }
    int k = fields_identity(set, rows, n, ids, TABLE_COLUMNS - 1 - n_stats);
    char titles[TABLE_COLUMNS][72];
    const char *list[TABLE_COLUMNS + 1] = {NULL};
    int c = 0;
    for (int i = 0; i < k; i++)
        snprintf(titles[c++], sizeof titles[0], "%s%s", ids[i].kind == FIELD_OPTION ? ">" : "", ids[i].name);
    snprintf(titles[c++], sizeof titles[0], "check");
    for (int i = 0; i < n_stats; i++)
        snprintf(titles[c++], sizeof titles[0], ">%s", stats[i].name);
    for (int i = 0; i < c; i++)
        list[i] = titles[i];
    struct table *t = table_new(list);
    for (int r = 0; r < n; r++) {
        char text[48];
        for (int i = 0; i < k; i++)
            table_text(t, field_text(set, rows[r], &ids[i], text));
        table_text(t, rows[r]->verdict);
        for (int i = 0; i < n_stats; i++) {
            double v = field_number(set, rows[r], &stats[i]);
            if (stats[i].kind == FIELD_STATISTIC)
                table_number(t, v, field_format(set, &stats[i], v));
            else
                table_text(t, field_text(set, rows[r], &stats[i], text));
        }
    }
    return t;
}
