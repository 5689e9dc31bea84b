/* Executes the steps of a program, and loops over steps. */
#include "parts.h"
#include "ptx/diag.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 16, DEFAULT_LIMIT = 100000 };

static bool read_steps(struct run *r, const config_setting_t *s, const config_setting_t **out) {
    *out = config_setting_get_member(s, "steps");
    if (!*out)
        return run_fail(r, s, NULL, 0, "steps = ( { ... }, ... ) is missing");
    return config_setting_is_list(*out) || run_fail(r, *out, NULL, 0, "steps is a list: steps = ( { ... }, ... )");
}

/* Executes the step { loop = "i"; from = 0; below = 10; by = 1; steps = (...) }. */
static bool run_loop(struct run *r, const config_setting_t *s) {
    static const char *const keys[] = {"loop", "from", "below", "by", "steps", "when", NULL};
    const char *name = NULL;
    const config_setting_t *steps;
    int64_t from = 0, below = 0, by = 1;
    if (!check_keys(r, s, keys) || !read_text(r, s, "loop", &name) ||
        !read_integer(r, s, "from", INT64_MIN / 2, INT64_MAX / 2, &from) ||
        !read_integer(r, s, "below", INT64_MIN / 2, INT64_MAX / 2, &below) ||
        !read_integer(r, s, "by", 1, INT64_MAX / 2, &by) || !read_steps(r, s, &steps))
        return false;
    if (!config_setting_get_member(s, "below"))
        return run_fail(r, s, NULL, 0, "how far? below = NUMBER is missing");
    for (int i = 0; i < r->names.n; i++)
        if (strcmp(r->names.list[i].name, name) == 0)
            return run_fail(r, config_setting_get_member(s, "loop"), name, 0, "'%s' is a value already", name);
    if (find_buffer(r, name, strlen(name)) >= 0)
        return run_fail(r, config_setting_get_member(s, "loop"), name, 0, "'%s' is a buffer", name);
    if (!run_add_name(r, name, (struct value){.i = from}))
        return false;
    int at = r->names.n - 1;
    bool fine = true;
    for (int64_t i = from; fine && (r->h ? i < below : i == from); i += by) {
        r->names.list[at].v.i = i;
        fine = run_steps(r, steps);
    }
    r->names.n = at;
    return fine;
}

/* Reads the first element of a buffer, and sets *out to whether it differs from zero. */
static bool read_flag(struct run *r, const config_setting_t *s, const struct script_buffer *b, bool *out) {
    uint64_t v = 0;
    if (heddle_read(r->h, b->address, &v, b->type->bytes) != HEDDLE_OK)
        return run_library(r, s, b->name);
    *out = v != 0;
    return true;
}

/* Executes the step { until_zero = "flag"; limit = 1000; steps = (...) }. */
static bool run_until(struct run *r, const config_setting_t *s) {
    static const char *const keys[] = {"until_zero", "limit", "steps", "when", NULL};
    const config_setting_t *flag = config_setting_get_member(s, "until_zero"), *steps;
    int64_t limit = DEFAULT_LIMIT;
    int b = -1;
    if (!check_keys(r, s, keys) || !read_integer(r, s, "limit", 1, INT64_MAX, &limit) || !read_steps(r, s, &steps) ||
        (b = named_buffer(r, flag)) < 0)
        return false;
    bool again = true;
    for (int64_t round = 0; again; round++) {
        if (round == limit) {
            run_fail(r, s, "until_zero", 0, "the loop did not end: '%s' is not zero after %lld round%s (limit)",
                     r->buffers[b].name, (long long)limit, limit == 1 ? "" : "s");
            r->status = HEDDLE_DEADLOCK;
            return false;
        }
        if (!run_steps(r, steps) || (r->h && !read_flag(r, flag, &r->buffers[b], &again)))
            return false;
        again = again && r->h;
    }
    return true;
}

/* Finds the two buffers that a step with key `key` (swap or copy) names. They must have the same type and number of
 * values. */
static bool read_pair(struct run *r, const config_setting_t *s, const char *key, struct script_buffer *out[2]) {
    const config_setting_t *list = config_setting_get_member(s, key);
    const char *const keys[] = {key, "when", NULL};
    if (!check_keys(r, s, keys))
        return false;
    if ((!config_setting_is_list(list) && !config_setting_is_array(list)) || config_setting_length(list) != 2)
        return run_fail(r, list, NULL, 0, "it is written %s = (\"A\", \"B\")", key);
    for (int i = 0; i < 2; i++) {
        int b = named_buffer(r, config_setting_get_elem(list, (unsigned)i));
        if (b < 0)
            return false;
        out[i] = &r->buffers[b];
    }
    if (!r->h || (out[0]->bytes == out[1]->bytes && out[0]->type == out[1]->type))
        return true;
    return run_fail(r, list, NULL, 0, "'%s' has %llu values of %s, '%s' %llu of %s", out[0]->name,
                    (unsigned long long)out[0]->count, out[0]->type->name, out[1]->name,
                    (unsigned long long)out[1]->count, out[1]->type->name);
}

static bool run_swap(struct run *r, const config_setting_t *s) {
    struct script_buffer *b[2];
    if (!read_pair(r, s, "swap", b))
        return false;
    if (b[0]->symbol || b[1]->symbol)
        return run_fail(r, s, "swap", 0, "a variable of a module stays where it is");
    uint64_t address = b[0]->address;
    b[0]->address = b[1]->address;
    b[1]->address = address;
    return true;
}

/* Executes the step copy = ("from", "to"). */
static bool run_copy(struct run *r, const config_setting_t *s) {
    struct script_buffer *b[2];
    if (!read_pair(r, s, "copy", b))
        return false;
    void *data = r->h ? malloc(b[0]->bytes) : NULL;
    if (!r->h || !data)
        return !r->h || run_no_memory(r);
    bool fine = (heddle_read(r->h, b[0]->address, data, b[0]->bytes) == HEDDLE_OK &&
                 heddle_write(r->h, b[1]->address, data, b[1]->bytes) == HEDDLE_OK) ||
                run_library(r, s, "copy");
    free(data);
    return fine;
}

static bool run_zero(struct run *r, const config_setting_t *s) {
    static const char *const keys[] = {"zero", "when", NULL};
    int b = check_keys(r, s, keys) ? named_buffer(r, config_setting_get_member(s, "zero")) : -1;
    if (b < 0)
        return false;
    return !r->h || heddle_clear(r->h, r->buffers[b].address, r->buffers[b].bytes) == HEDDLE_OK ||
           run_library(r, s, r->buffers[b].name);
}

/* Executes the step { set = "flag"; at = 0; value = 1; }. */
static bool run_set(struct run *r, const config_setting_t *s) {
    static const char *const keys[] = {"set", "at", "value", "when", NULL};
    const config_setting_t *value = config_setting_get_member(s, "value");
    struct value v;
    int64_t at = 0;
    unsigned char bytes[8];
    int i = check_keys(r, s, keys) ? named_buffer(r, config_setting_get_member(s, "set")) : -1;
    if (i < 0)
        return false;
    const struct script_buffer *b = &r->buffers[i];
    if (!value)
        return run_fail(r, s, "set", 0, "to what? value = NUMBER is missing");
    if (!read_value(r, value, &v) || !read_integer(r, s, "at", 0, r->h ? (int64_t)b->count - 1 : INT64_MAX, &at))
        return false;
    if (!r->h)
        return true;
    return store_value(r, value, NULL, b->type, v, bytes) &&
           (heddle_write(r->h, b->address + (uint64_t)at * b->type->bytes, bytes, b->type->bytes) == HEDDLE_OK ||
            run_library(r, s, b->name));
}

static const struct {
    const char *name;
    bool (*run)(struct run *r, const config_setting_t *s);
} verbs[] = {
    {"launch", run_launch}, {"loop", run_loop}, {"until_zero", run_until}, {"swap", run_swap},
    {"copy", run_copy},     {"zero", run_zero}, {"set", run_set},          {"check", run_check},
};
enum { N_VERBS = sizeof verbs / sizeof *verbs };

static bool run_step(struct run *r, const config_setting_t *s) {
    int which = -1, n = 0;
    const config_setting_t *when = config_setting_is_group(s) ? config_setting_get_member(s, "when") : NULL;
    struct value v;
    if (!config_setting_is_group(s))
        return run_fail(r, s, NULL, 0, "a step is a group: { launch = \"KERNEL\"; ... }");
    for (int i = 0; i < N_VERBS; i++)
        if (config_setting_get_member(s, verbs[i].name)) {
            which = which < 0 ? i : which;
            n++;
        }
    if (n != 1) {
        const config_setting_t *first = config_setting_get_elem(s, 0);
        const char *known[N_VERBS], *near;
        for (int i = 0; i < N_VERBS; i++)
            known[i] = verbs[i].name;
        if (n == 0 && first && (near = diag_suggest(config_setting_name(first), known, N_VERBS)))
            return run_fail(r, first, NULL, 0, "there is no step '%s'; did you mean '%s'?", config_setting_name(first),
                            near);
        return run_fail(r, first ? first : s, NULL, 0,
                        "a step does one of these: launch loop until_zero swap copy zero set check");
    }
    if (when && !read_value(r, when, &v))
        return false;
    if (when && r->h && value_real(v) == 0)
        return true;
    return verbs[which].run(r, s);
}

bool run_steps(struct run *r, const config_setting_t *steps) {
    if (r->depth >= MAX_DEPTH)
        return run_fail(r, steps, NULL, 0, "more than %d loops in each other", MAX_DEPTH);
    r->depth++;
    bool fine = true;
    for (int i = 0; fine && i < config_setting_length(steps); i++)
        fine = run_step(r, config_setting_get_elem(steps, (unsigned)i));
    r->depth--;
    return fine;
}
