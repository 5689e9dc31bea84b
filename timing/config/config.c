/* Handles options by key: sets defaults and values, checks them and prints them. */
#include "config.h"
#include "config_text.h"
#include "ptx/spelling.h"
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const struct pipe_row pipe_rows[N_PIPES] = {
#define PIPE(id, name, text, units, collectors, in, out, instead) {name, PIPE_##instead},
#include "pipes.def"
#undef PIPE
};

static uint32_t *u32_of(struct config *c, const struct opt *o) { return (uint32_t *)((char *)c + o->offset); }
static uint32_t u32_value(const struct config *c, const struct opt *o) {
    return *(const uint32_t *)((const char *)c + o->offset);
}
static bool bool_value(const struct config *c, const struct opt *o) {
    return *(const bool *)((const char *)c + o->offset);
}

void config_default(struct config *c) {
    memset(c, 0, sizeof *c);
    for (const struct opt *o = config_options(); o->key; o++) {
        void *at = (char *)c + o->offset;
        if (o->kind == OPT_KIND_BOOL)
            *(bool *)at = o->def != 0;
        else if (o->kind == OPT_KIND_DOUBLE)
            *(double *)at = o->def;
        else if (o->kind == OPT_KIND_STRING)
            snprintf(at, CFG_NAME_BYTES, "%s", o->choices);
        else
            *(uint32_t *)at = (uint32_t)o->def;
    }
    c->latency[LAT_MEM] = (struct latency_cfg){1, 1}; /* no option sets it: the load/store unit has its own latencies */
}

enum { KEY_SLOTS = 2048 };

/* Hash table of the options, written once: index of an option, plus 1; 0 means that the slot is empty. */
static uint16_t key_slots[KEY_SLOTS];

/* Hashes a few characters, by which most keys differ. */
static uint32_t key_hash(const char *key, size_t len) {
    uint32_t h = (uint32_t)len;
    for (size_t i = 0; i < 8 && i < len; i++)
        h = h * 33 + (unsigned char)key[len - 1 - i];
    return (h * 33 + (unsigned char)key[len / 2]) % KEY_SLOTS;
}

static void index_keys(void) {
    const struct opt *all = config_options();
    for (uint16_t i = 0; all[i].key; i++) {
        uint32_t at = key_hash(all[i].key, strlen(all[i].key));
        while (key_slots[at])
            at = (at + 1) % KEY_SLOTS;
        key_slots[at] = (uint16_t)(i + 1);
    }
}

static const struct opt *find(const char *key, size_t len) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, index_keys);
    for (uint32_t at = key_hash(key, len); key_slots[at]; at = (at + 1) % KEY_SLOTS) {
        const struct opt *o = &config_options()[key_slots[at] - 1];
        if (strncmp(o->key, key, len) == 0 && o->key[len] == '\0')
            return o;
    }
    return NULL;
}

static const struct {
    const char *old, *key;
} renamed[] = {
#define RENAMED(old, key) {old, key},
#include "renamed.def"
#undef RENAMED
};

static const char *renamed_key(const char *old, size_t len) {
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
        if (strlen(renamed[i].old) == len && memcmp(renamed[i].old, old, len) == 0)
            return renamed[i].key;
    return NULL;
}

const char *config_renamed(const char *old) { return renamed_key(old, strlen(old)); }

const struct opt *config_find_noting(const char *key, size_t len, const struct config_notes *notes) {
    const struct opt *o = find(key, len);
    const char *now = o ? NULL : renamed_key(key, len);
    if (!now)
        return o;
    char old[64];
    snprintf(old, sizeof old, "%.*s", (int)len, key);
    if (notes)
        notes->renamed(notes->ctx, old, now);
    return find(now, strlen(now));
}

/* Removed options, and what a user can set instead. */
static const struct {
    const char *key, *instead;
} gone[] = {
    {"fetch.ibuffer", "a path's buffer holds what one fetch brings: say fetch.width"},
    {"pipe.mem.units", "an SM has one load/store unit: say pipe.mem.in_ports, or l1.ports"},
};

void config_unknown(const char *key, size_t len, char *err, size_t err_size) {
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
        if (strlen(gone[i].key) == len && memcmp(gone[i].key, key, len) == 0) {
            snprintf(err, err_size, "there is no option \"%s\" any more; %s", gone[i].key, gone[i].instead);
            return;
        }
    struct spelling near;
    spelling_begin(&near, key, len);
    for (const struct opt *o = config_options(); o->key; o++)
        spelling_try(&near, o->key);
    if (near.best)
        snprintf(err, err_size, "unknown option \"%.*s\"; did you mean \"%s\"?", (int)len, key, near.best);
    else
        snprintf(err, err_size, "unknown option \"%.*s\"; `heddle list options` shows them all", (int)len, key);
}

/* Returns the index of `text` among the words of `choices`, or -1 if it is not among them. */
static int choice_index(const char *choices, const char *text) {
    size_t len = strlen(text);
    int n = 0;
    for (const char *at = choices; *at; n++) {
        size_t word = strcspn(at, " ");
        if (word == len && memcmp(at, text, len) == 0)
            return n;
        at += word;
        at += strspn(at, " ");
    }
    return -1;
}

static void choice_name(const char *choices, uint32_t index, char *out, size_t size) {
    const char *at = choices;
    for (uint32_t n = 0; n < index; n++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    snprintf(out, size, "%.*s", (int)strcspn(at, " "), at);
}

static bool range_ok(const struct opt *o, double v, const char *text, char *err, size_t err_size) {
    if (v >= o->min && v <= o->max)
        return true;
    snprintf(err, err_size, "%s: %s is out of range (%.12g to %.12g%s%s)", o->key, text, o->min, o->max,
             *o->unit ? " " : "", o->unit);
    return false;
}

static bool store_u32(struct config *c, const struct opt *o, const char *text, char *err, size_t err_size) {
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 0);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (end == text || errno || text[strspn(text, " \t")] == '-' || end[shift != 0] || v > (UINT64_MAX >> shift)) {
        bool unit = end != text && *end && strchr("kmgKMG", *end);
        snprintf(err, err_size, "%s takes a whole number, not \"%s\"%s", o->key, text,
                 unit ? "; K, M or G alone may be at its end (powers of 1024)" : "");
        return false;
    }
    v <<= shift;
    if (!range_ok(o, (double)v, text, err, err_size))
        return false;
    *u32_of(c, o) = (uint32_t)v;
    return true;
}

static bool store_double(struct config *c, const struct opt *o, const char *text, char *err, size_t err_size) {
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !isfinite(v)) {
        snprintf(err, err_size, "%s takes a number, not \"%s\"", o->key, text);
        return false;
    }
    if (!range_ok(o, v, text, err, err_size))
        return false;
    *(double *)((char *)c + o->offset) = v;
    return true;
}

static bool store_bool(struct config *c, const struct opt *o, const char *text, char *err, size_t err_size) {
    int i = choice_index("false true off on no yes 0 1", text);
    if (i < 0) {
        snprintf(err, err_size, "%s is on or off, not \"%s\"", o->key, text);
        return false;
    }
    *(bool *)((char *)c + o->offset) = i & 1;
    return true;
}

static bool store_enum(struct config *c, const struct opt *o, const char *text, char *err, size_t err_size) {
    int i = choice_index(o->choices, text);
    if (i < 0) {
        snprintf(err, err_size, "%s is one of: %s; not \"%s\"", o->key, o->choices, text);
        return false;
    }
    *u32_of(c, o) = (uint32_t)i;
    return true;
}

static bool store_string(struct config *c, const struct opt *o, const char *text, char *err, size_t err_size) {
    for (const char *p = text; *p; p++)
        if (*p == '"' || *p == '\\' || (unsigned char)*p < ' ') {
            snprintf(err, err_size, "%s cannot hold quotes, backslashes or control characters", o->key);
            return false;
        }
    if (strlen(text) >= CFG_NAME_BYTES) {
        snprintf(err, err_size, "%s is at most %d characters", o->key, CFG_NAME_BYTES - 1);
        return false;
    }
    snprintf((char *)c + o->offset, CFG_NAME_BYTES, "%s", text);
    return true;
}

bool config_store(struct config *c, const struct opt *o, const char *text, char *err, size_t err_size) {
    switch (o->kind) {
    case OPT_KIND_U32:
        return store_u32(c, o, text, err, err_size);
    case OPT_KIND_BOOL:
        return store_bool(c, o, text, err, err_size);
    case OPT_KIND_DOUBLE:
        return store_double(c, o, text, err, err_size);
    case OPT_KIND_ENUM:
        return store_enum(c, o, text, err, err_size);
    case OPT_KIND_STRING:
        return store_string(c, o, text, err, err_size);
    }
    return false;
}

/* Adds advice to the error message if the value of an assignment contains another assignment ("a=1,b=2"). */
static void advise_to_split(const char *assignment, char *err, size_t err_size) {
    const char *comma = strchr(assignment, ','), *second = comma ? comma + 1 + strspn(comma + 1, " ") : "";
    size_t key = strcspn(second, "=,"), used = strlen(err);
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)key, second);
    if (key < sizeof name && second[key] == '=' && config_find_noting(name, key, NULL))
        snprintf(err + used, err_size - used, "; each option needs its own assignment: '%.*s' and '%s'",
                 (int)(comma - assignment), assignment, second);
}

bool config_set_noting(struct config *c, const char *assignment, const struct config_notes *notes, char *err,
                       size_t err_size) {
    const char *eq = strchr(assignment, '=');
    if (!eq) {
        snprintf(err, err_size, "\"%s\" is not KEY=VALUE", assignment);
        return false;
    }
    const struct opt *o = config_find_noting(assignment, (size_t)(eq - assignment), notes);
    if (!o) {
        config_unknown(assignment, (size_t)(eq - assignment), err, err_size);
        return false;
    }
    bool fine = config_store(c, o, eq + 1, err, err_size);
    if (!fine)
        advise_to_split(assignment, err, err_size);
    return fine;
}

bool config_set(struct config *c, const char *assignment, char *err, size_t err_size) {
    return config_set_noting(c, assignment, NULL, err, err_size);
}

void config_value(const struct config *c, const struct opt *o, char *out, size_t size) {
    const void *at = (const char *)c + o->offset;
    double v;
    switch (o->kind) {
    case OPT_KIND_U32:
        snprintf(out, size, "%u", u32_value(c, o));
        break;
    case OPT_KIND_BOOL:
        snprintf(out, size, "%s", bool_value(c, o) ? "true" : "false");
        break;
    case OPT_KIND_DOUBLE: /* prints 15 digits if they read back as the same number, and 17 digits if they do not */
        memcpy(&v, at, sizeof v);
        snprintf(out, size, "%.15g", v);
        if (strtod(out, NULL) != v)
            snprintf(out, size, "%.17g", v);
        break;
    case OPT_KIND_ENUM:
        choice_name(o->choices, u32_value(c, o), out, size);
        break;
    case OPT_KIND_STRING:
        snprintf(out, size, "%s", (const char *)at);
        break;
    }
}

bool config_same(const struct config *a, const struct config *b, const struct opt *o) {
    const char *x = (const char *)a + o->offset, *y = (const char *)b + o->offset;
    if (o->kind == OPT_KIND_STRING)
        return strcmp(x, y) == 0;
    return memcmp(x, y,
                  o->kind == OPT_KIND_BOOL     ? sizeof(bool)
                  : o->kind == OPT_KIND_DOUBLE ? sizeof(double)
                                               : sizeof(uint32_t)) == 0;
}

bool config_number(const struct config *c, const char *key, double *value) {
    const struct opt *o = config_options();
    while (o->key && strcmp(o->key, key) != 0)
        o++;
    if (!o->key || o->kind == OPT_KIND_STRING)
        return false;
    if (o->kind == OPT_KIND_DOUBLE)
        memcpy(value, (const char *)c + o->offset, sizeof *value);
    else
        *value = o->kind == OPT_KIND_BOOL ? bool_value(c, o) : u32_value(c, o);
    return true;
}

static void dump_option(const struct config *c, const struct opt *o, const char *name, int depth, FILE *out) {
    char value[64];
    config_value(c, o, value, sizeof value);
    const char *quote = o->kind == OPT_KIND_ENUM || o->kind == OPT_KIND_STRING ? "\"" : "";
    bool point = o->kind == OPT_KIND_DOUBLE && !strpbrk(value, ".e"); /* without ".0", libconfig reads an integer */
    fprintf(out, "%*s%s = %s%s%s%s;\n", depth * 4, "", name, quote, value, point ? ".0" : "", quote);
}

/* Prints all options whose key begins with the `len` bytes of `prefix`, as nested groups. The syntax does not allow a
 * group to be opened twice, so all options of a group are printed where its first option is. */
static void dump_group(const struct config *c, const char *prefix, size_t len, int depth, FILE *out) {
    const struct opt *all = config_options();
    for (const struct opt *o = all; o->key; o++) {
        if (strncmp(o->key, prefix, len) != 0)
            continue;
        const char *rest = o->key + len, *dot = strchr(rest, '.');
        if (!dot) {
            dump_option(c, o, rest, depth, out);
            continue;
        }
        size_t group = (size_t)(dot + 1 - o->key);
        bool seen = false;
        for (const struct opt *p = all; p < o && !seen; p++)
            seen = strncmp(p->key, o->key, group) == 0;
        if (seen)
            continue;
        fprintf(out, "%*s%.*s = {\n", depth * 4, "", (int)(dot - rest), rest);
        dump_group(c, o->key, group, depth + 1, out);
        fprintf(out, "%*s};\n", depth * 4, "");
    }
}

void config_dump(const struct config *c, FILE *out) { dump_group(c, "", 0, 0, out); }
