/* Reads a database of results into memory. */
#include "digest.h"
#include "results_db.h"
#include "results_parts.h"
#include "timing/report/stat.h"
#include "values.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void row_free(struct result_row *r, int n_options) {
    for (int i = 0; r->options && i < n_options; i++)
        free(r->options[i]);
    free(r->options);
    char *const texts[] = {r->key,     r->program, r->size,   r->model, r->preset, r->verdict,
                           r->message, r->version, r->binary, r->ended, r->kernel, r->hash};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]);
    free(r->values);
}

void result_set_free(struct result_set *s) {
    for (int i = 0; i < s->n; i++)
        row_free(&s->rows[i], s->n_options);
    for (int i = 0; i < s->n_options; i++)
        free(s->options[i]);
    free(s->options);
    for (int i = 0; i < s->n_names; i++) {
        free(s->names[i]);
        free(s->units[i]);
    }
    free(s->rows);
    free(s->by_key);
    free(s->names);
    free(s->units);
    *s = (struct result_set){0};
}

/* Calls `take` for each row of a query. If `take` returns false, memory has run out. */
static bool each(struct results_db *db, const char *sql, bool (*take)(void *ctx, sqlite3_stmt *s), void *ctx, char *err,
                 size_t err_size) {
    sqlite3_stmt *s = results_prepare(db, sql, err, err_size);
    if (!s)
        return false;
    int code;
    bool fine = true;
    while (fine && (code = sqlite3_step(s)) == SQLITE_ROW)
        fine = take(ctx, s);
    if (!fine)
        snprintf(err, err_size, "the host is out of memory");
    else if (code != SQLITE_DONE)
        fine = results_fail(db, code, err, err_size);
    sqlite3_finalize(s);
    return fine;
}

/* State of the loader. The rows of the set are sorted by their ids in the file. */
struct loading {
    struct result_set *set;
    int *name_of, n_ids; /* name_of: id of a statistic in the file -> its index in set->names; it has n_ids elements */
    int cap, at;         /* at: index of the row to which the latest setting belongs */
};

static char *text(sqlite3_stmt *s, int column) {
    const char *t = (const char *)sqlite3_column_text(s, column);
    return strdup(t ? t : "");
}

static bool take_name(void *ctx, sqlite3_stmt *s) {
    struct loading *l = ctx;
    struct result_set *set = l->set;
    int id = sqlite3_column_int(s, 0);
    if (id < 0 || id > 1 << 20) /* Heddle writes only small ids, so the file is damaged */
        return true;
    char **names = realloc(set->names, (size_t)(set->n_names + 1) * sizeof *names);
    set->names = names ? names : set->names;
    char **units = realloc(set->units, (size_t)(set->n_names + 1) * sizeof *units);
    set->units = units ? units : set->units;
    int *ids = id >= l->n_ids ? realloc(l->name_of, (size_t)(id + 1) * sizeof *ids) : l->name_of;
    l->name_of = ids ? ids : l->name_of;
    if (!names || !units || !ids)
        return false;
    for (; l->n_ids <= id; l->n_ids++)
        ids[l->n_ids] = -1;
    ids[id] = set->n_names;
    names[set->n_names] = text(s, 1);
    const char *now = names[set->n_names] ? stat_renamed(names[set->n_names]) : NULL; /* of an older database */
    if (now) {
        free(names[set->n_names]);
        names[set->n_names] = strdup(now);
    }
    units[set->n_names++] = text(s, 2);
    return names[set->n_names - 1] && units[set->n_names - 1];
}

static bool grow(struct loading *l) {
    if (l->set->n < l->cap)
        return true;
    int cap = l->cap ? 2 * l->cap : 64;
    struct result_row *rows = realloc(l->set->rows, (size_t)cap * sizeof *rows);
    l->set->rows = rows ? rows : l->set->rows;
    l->cap = rows ? cap : l->cap;
    return rows != NULL; /* cppcheck-suppress memleak ; the set owns the rows */
}

/* Stores a value in the newest row. */
static void take_value(void *ctx, int id, double value) {
    const struct loading *l = ctx;
    if (id < l->n_ids && l->name_of[id] >= 0)
        l->set->rows[l->set->n - 1].values[l->name_of[id]] = value;
}

static bool take_row(void *ctx, sqlite3_stmt *s) {
    struct loading *l = ctx;
    if (!grow(l))
        return false;
    struct result_row *r = &l->set->rows[l->set->n];
    l->set->n++;
    *r = (struct result_row){.run = sqlite3_column_int64(s, 0),
                             .key = text(s, 3),
                             .program = text(s, 4),
                             .size = text(s, 5),
                             .model = text(s, 6),
                             .preset = text(s, 7),
                             .verdict = text(s, 8),
                             .message = text(s, 9),
                             .version = text(s, 10),
                             .binary = text(s, 11),
                             .ended = text(s, 12),
                             .status = sqlite3_column_int(s, 13),
                             .hash = text(s, 14),
                             .launch = sqlite3_column_int(s, 1),
                             .kernel = sqlite3_column_type(s, 2) == SQLITE_NULL ? NULL : text(s, 2),
                             .values = calloc((size_t)l->set->n_names + 1, sizeof *r->values)};
    for (int i = 0; r->values && i < l->set->n_names; i++)
        r->values[i] = NAN;
    if (r->values)
        values_each((const char *)sqlite3_column_text(s, 15), take_value, l);
    return r->key && r->program && r->size && r->model && r->preset && r->verdict && r->message && r->version &&
           r->binary && r->ended && r->hash && r->values;
}

/* Stores a run's value of the option that was added last. */
static bool take_option(void *ctx, sqlite3_stmt *s) {
    struct loading *l = ctx;
    struct result_set *set = l->set;
    sqlite3_int64 run = sqlite3_column_int64(s, 0);
    while (l->at < set->n && set->rows[l->at].run < run)
        l->at++;
    for (int i = l->at; i < set->n && set->rows[i].run == run; i++) {
        free(set->rows[i].options[set->n_options - 1]);
        if (!(set->rows[i].options[set->n_options - 1] = text(s, 1)))
            return false;
    }
    return true;
}

/* Adds an option, with room for its value in each row. */
static bool add_option(struct result_set *set, const char *name) {
    char **options = realloc(set->options, (size_t)(set->n_options + 1) * sizeof *options);
    if (!options)
        return false;
    set->options = options;
    for (int i = 0; i < set->n; i++) {
        char **more = realloc(set->rows[i].options, (size_t)(set->n_options + 1) * sizeof *more);
        if (!more)
            return false;
        set->rows[i].options = more;
    }
    options[set->n_options] = strdup(name);
    for (int i = 0; i < set->n; i++)
        set->rows[i].options[set->n_options] = NULL;
    bool fine = options[set->n_options] != NULL;
    set->n_options++;
    for (int i = 0; i < set->n; i++)
        fine = (set->rows[i].options[set->n_options - 1] = strdup("")) && fine;
    return fine;
}

static void drop_last_option(struct result_set *set) {
    set->n_options--;
    free(set->options[set->n_options]);
    for (int i = 0; i < set->n; i++)
        free(set->rows[i].options[set->n_options]);
}

/* The condition of results_pick(). */
#define PICKED " WHERE r.id IN (SELECT run FROM temp.picked)"
static const char *only(const struct results_db *db) { return db->picked ? PICKED : ""; }

/* Adds an option with its value for each row. On failure the set stays unchanged. */
static bool fill_option(struct results_db *db, struct result_set *set, const char *name, char *err, size_t err_size) {
    struct loading l = {.set = set};
    const int before = set->n_options;
    /* `name` may be a value of the program, such as values.n, which only the table of settings contains. */
    char *sql =
        sqlite3_mprintf("WITH b(id, value) AS MATERIALIZED (SELECT id, json_extract(json, '$.\"%q\"') FROM base)"
                        " SELECT r.id, coalesce(s.value, b.value) FROM run r"
                        " JOIN machine m ON m.hash = r.configuration JOIN b ON b.id = m.base"
                        " LEFT JOIN setting s ON s.run = r.id AND s.option = %Q%s ORDER BY r.id",
                        name, name, only(db));
    bool fine = sql && add_option(set, name);
    if (!fine)
        snprintf(err, err_size, "the host is out of memory");
    fine = fine && each(db, sql, take_option, &l, err, err_size);
    sqlite3_free(sql);
    if (!fine && set->n_options > before)
        drop_last_option(set);
    return fine;
}

struct names {
    char **name;
    int n;
};

static bool take_text(void *ctx, sqlite3_stmt *s) {
    struct names *names = ctx;
    char **more = realloc(names->name, (size_t)(names->n + 1) * sizeof *more);
    if (!more)
        return false;
    names->name = more;
    more[names->n] = text(s, 0);
    return more[names->n++] != NULL;
}

static bool load_options(struct results_db *db, struct result_set *set, char *err, size_t err_size) {
    struct names names = {NULL, 0};
    static const char all[] = "SELECT DISTINCT option FROM setting ORDER BY option",
                      some[] = "SELECT DISTINCT s.option FROM run r JOIN setting s ON s.run = r.id" PICKED
                               " ORDER BY s.option";
    bool fine = each(db, db->picked ? some : all, take_text, &names, err, err_size);
    for (int i = 0; i < names.n; i++) {
        fine = fine && fill_option(db, set, names.name[i], err, err_size);
        free(names.name[i]);
    }
    free(names.name);
    return fine;
}

int results_option(struct results_db *db, struct result_set *s, const char *name, char *err, size_t err_size) {
    for (int i = 0; i < s->n_options; i++)
        if (strcmp(s->options[i], name) == 0)
            return i;
    bool known = false;
    if (strpbrk(name, "\"'$"))
        return -1;
    if (!fill_option(db, s, name, err, err_size))
        return -2;
    for (int i = 0; i < s->n; i++)
        known = known || *s->rows[i].options[s->n_options - 1];
    if (known)
        return s->n_options - 1;
    drop_last_option(s);
    return -1;
}

#define RUN_COLUMNS                                                                                                    \
    "r.key, r.program, r.size, r.model, r.preset, r.verdict, r.message, r.version, r.binary, r.ended, r.status,"       \
    " r.program_hash"
static const char runs_sql[] = "SELECT r.id, -1, NULL, " RUN_COLUMNS ", r.stats FROM run r%s ORDER BY r.id";
/* All launches of a run were inserted together. So rows in the order of launch ids are also in the order of run ids, as
 * the loader expects. */
static const char launches_sql[] =
    "SELECT r.id, l.number, l.kernel, " RUN_COLUMNS
    ", coalesce(l.stats, r.stats) FROM launch l JOIN run r ON r.id = l.run%s ORDER BY l.id";

/* Returns the slot that has the row of a key, or else a free slot. */
static int *slot_of(const struct result_set *s, const char *key) {
    for (uint32_t at = digest_bits(key);; at++) {
        int *slot = &s->by_key[at & (uint32_t)(s->slots - 1)];
        if (!*slot || strcmp(s->rows[*slot - 1].key, key) == 0)
            return slot;
    }
}

static bool add_keys(struct result_set *s) {
    int slots = 1;
    while (slots < 2 * s->n)
        slots *= 2;
    if (!(s->by_key = calloc((size_t)slots, sizeof *s->by_key)))
        return false;
    s->slots = slots;
    for (int i = 0; i < s->n; i++) {
        int *slot = slot_of(s, s->rows[i].key);
        if (!*slot)
            *slot = i + 1;
    }
    return true;
}

bool results_load(struct results_db *db, bool launches, struct result_set *out, char *err, size_t err_size) {
    *out = (struct result_set){0};
    struct loading l = {.set = out};
    char sql[512];
    snprintf(sql, sizeof sql, launches ? launches_sql : runs_sql, only(db));
    /* all queries are in one transaction, since another process may add runs between them */
    bool fine = results_run(db, "BEGIN", err, err_size) &&
                each(db, "SELECT id, name, unit FROM statistic ORDER BY id", take_name, &l, err, err_size) &&
                each(db, sql, take_row, &l, err, err_size);
    fine = fine && load_options(db, out, err, err_size);
    if (fine && !add_keys(out)) {
        snprintf(err, err_size, "the host is out of memory");
        fine = false;
    }
    sqlite3_exec(db->sql, "COMMIT", NULL, NULL, NULL);
    free(l.name_of);
    if (!fine)
        result_set_free(out);
    return fine;
}

int result_stat(const struct result_set *s, const char *name) {
    const char *now = stat_renamed(name);
    for (int i = 0; i < s->n_names; i++)
        if (strcmp(s->names[i], now ? now : name) == 0)
            return i;
    return -1;
}

const struct result_row *result_find(const struct result_set *s, const char *key) {
    for (int i = 0; !s->slots && i < s->n; i++) /* a set that results_load() has not made */
        if (strcmp(s->rows[i].key, key) == 0)
            return &s->rows[i];
    const int at = s->slots ? *slot_of(s, key) : 0;
    return at ? &s->rows[at - 1] : NULL;
}
