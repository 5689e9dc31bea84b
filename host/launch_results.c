/* Keeps the statistics of a context's launches, and writes them as JSON, single values, or a summary. */
#include "context.h"
#include "handles.h"
#include "host/results/results_json.h"
#include "host/results/values.h"
#include "table.h"
#include "timing/report/causes.h"
#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

void launch_record_free(struct launch_record *r) {
    free(r->kernel);
    stats_kept_free(&r->stats);
}

/* Reads the peak memory from the system at most once a millisecond, since the call may take longer than a launch. */
static double peak_rss_bytes(struct heddle *h, double now) {
    struct rusage u;
    if (!h->n_launches || now - h->peak_rss_at > 1e-3) {
        h->peak_rss = getrusage(RUSAGE_SELF, &u) == 0 ? (double)u.ru_maxrss * 1024 : 0;
        h->peak_rss_at = now;
    }
    return h->peak_rss;
}

enum heddle_status results_record(struct heddle *h, const struct launch *l, double now, const char *incomplete) {
    if (h->n_launches == h->cap_launches) {
        int cap = h->cap_launches ? 2 * h->cap_launches : 16;
        struct launch_record *more = realloc(h->launches, (size_t)cap * sizeof *more);
        if (!more)
            return fail_memory(h);
        h->launches = more;
        h->cap_launches = cap;
    }
    stats_add(&h->running, "host.peak_rss_bytes", peak_rss_bytes(h, now));
    struct launch_record r = {
        .kernel = strdup(l->program->name),
        .grid = {l->grid.x, l->grid.y, l->grid.z},
        .block = {l->block.x, l->block.y, l->block.z},
        .dynamic_shared = l->dynamic_shared,
        .incomplete = incomplete,
    };
    if (!r.kernel || !stats_keep(&r.stats, &h->running)) {
        free(r.kernel);
        return fail_memory(h);
    }
    stats_kept_add(&h->totals, &r.stats);
    h->launches[h->n_launches++] = r;
    return HEDDLE_OK;
}

int heddle_launches(const struct heddle *h) { return handle_is_open(h, HANDLE_CONTEXT) ? h->n_launches : 0; }

const char *heddle_incomplete(const struct heddle *h, int launch) {
    int n = heddle_launches(h);
    if (launch >= 0)
        return launch < n ? h->launches[launch].incomplete : NULL;
    for (int i = 0; launch == -1 && i < n; i++)
        if (h->launches[i].incomplete)
            return h->launches[i].incomplete;
    return NULL;
}

double heddle_stat(const struct heddle *h, int launch, const char *name) {
    if (!handle_is_open(h, HANDLE_CONTEXT) || !name || launch < -1 || launch >= h->n_launches || stat_index(name) < 0)
        return NAN;
    return launch < 0 ? stats_get(&h->totals, name) : stats_kept_get(&h->launches[launch].stats, name);
}

const char *heddle_stat_name(int n, const char **unit, const char **meaning) {
    int all;
    const struct stat_def *defs = stat_defs(&all);
    if (n < 0 || n >= all)
        return NULL;
    if (unit)
        *unit = defs[n].unit;
    if (meaning)
        *meaning = defs[n].help;
    return defs[n].name;
}

const char *heddle_stat_combined(int n) {
    static const char *const words[] = {[STAT_SUM] = "sum", [STAT_MAX] = "max", [STAT_RATIO] = "ratio"};
    int all;
    const struct stat_def *defs = stat_defs(&all);
    return n < 0 || n >= all ? NULL : words[defs[n].kind];
}

/* Adds `item` to a JSON object. Returns false if `item` is NULL (cJSON's result when an allocation fails) or cannot be
 * added. */
static bool add(cJSON *object, const char *key, cJSON *item) {
    if (item && cJSON_AddItemToObject(object, key, item))
        return true;
    cJSON_Delete(item);
    return false;
}

static cJSON *json_stats(const struct stats *s) {
    cJSON *o = cJSON_CreateObject();
    int n;
    const struct stat_def *defs = stat_defs(&n);
    bool ok = o != NULL;
    for (int i = 0; ok && i < n; i++)
        ok = add(o, defs[i].name, cJSON_CreateNumber(stats_get(s, defs[i].name)));
    if (!ok) {
        cJSON_Delete(o);
        return NULL;
    }
    return o;
}

static cJSON *json_kept(const struct stats_kept *k) {
    struct stats s;
    if (!stats_init(&s))
        return NULL;
    stats_kept_add(&s, k);
    cJSON *o = json_stats(&s);
    stats_free(&s);
    return o;
}

static cJSON *json_option(const struct config *c, const struct opt *o) {
    char value[256];
    config_value(c, o, value, sizeof value);
    switch (o->kind) {
    case OPT_KIND_BOOL:
        return cJSON_CreateBool(strcmp(value, "true") == 0);
    case OPT_KIND_U32:
    case OPT_KIND_DOUBLE:
        return cJSON_CreateNumber(strtod(value, NULL));
    default:
        return cJSON_CreateString(value);
    }
}

static cJSON *json_config(const struct config *c) {
    cJSON *o = cJSON_CreateObject();
    bool ok = o != NULL;
    for (const struct opt *opt = config_options(); ok && opt->key; opt++)
        ok = add(o, opt->key, json_option(c, opt));
    if (!ok) {
        cJSON_Delete(o);
        return NULL;
    }
    return o;
}

static cJSON *json_dim(struct heddle_dim d) { return cJSON_CreateIntArray((int[]){(int)d.x, (int)d.y, (int)d.z}, 3); }

static cJSON *json_word(const char *word) { return word ? cJSON_CreateString(word) : cJSON_CreateNull(); }

/* Creates the JSON object of launch `r` without its statistics. If `launches` is not 0, the object describes as many
 * launches of the kernel. */
static cJSON *json_head(const struct launch_record *r, const char *incomplete, int launches) {
    cJSON *k = cJSON_CreateObject();
    bool ok = k && add(k, "name", cJSON_CreateString(r->kernel)) &&
              (!launches || add(k, "launches", cJSON_CreateNumber(launches))) && add(k, "grid", json_dim(r->grid)) &&
              add(k, "block", json_dim(r->block)) && add(k, "dynamic_shared", cJSON_CreateNumber(r->dynamic_shared)) &&
              add(k, "incomplete", json_word(incomplete));
    if (ok)
        return k;
    cJSON_Delete(k);
    return NULL;
}

/* Creates the JSON object of launch `r`. If `s` is not NULL, the object instead describes `launches` launches of the
 * kernel, whose sum is `s`. */
static cJSON *json_kernel(const struct launch_record *r, const char *incomplete, const struct stats *s, int launches) {
    cJSON *k = json_head(r, incomplete, s ? launches : 0);
    if (k && add(k, "stats", s ? json_stats(s) : json_kept(&r->stats)))
        return k;
    cJSON_Delete(k);
    return NULL;
}

/* Prints a member of the list "kernels" and frees it. Returns false when memory runs out. */
static bool print_kernel(cJSON *k, bool first, FILE *out) {
    char *text = k ? cJSON_Print(k) : NULL;
    cJSON_Delete(k);
    if (text)
        fprintf(out, "%s%s", first ? "" : ", ", text);
    cJSON_free(text);
    return text != NULL;
}

/* Prints the sum of all launches of a kernel if `first` is the kernel's first launch. Else prints nothing. */
static bool print_sum(const struct heddle *h, int first, bool *begun, struct stats *s, FILE *out) {
    const char *name = h->launches[first].kernel, *incomplete = NULL;
    int n = 0;
    stats_clear(s);
    for (int i = first; i < h->n_launches; i++) {
        const struct launch_record *r = &h->launches[i];
        if (strcmp(r->kernel, name) != 0)
            continue;
        n++;
        stats_kept_add(s, &r->stats);
        incomplete = incomplete ? incomplete : r->incomplete;
    }
    bool fine = print_kernel(json_kernel(&h->launches[first], incomplete, s, n), !*begun, out);
    *begun = true;
    return fine;
}

/* Prints a list with the sum of the launches of each kernel. The kernels are in the order of their first launches. */
static bool print_sums(const struct heddle *h, FILE *out) {
    struct stats s;
    const char **names = calloc((size_t)h->n_launches + 1, sizeof *names);
    bool fine = names && stats_init(&s), begun = false;
    int n = 0;
    if (!fine) {
        free(names);
        return false;
    }
    for (int i = 0; fine && i < h->n_launches; i++) {
        int k = n;
        while (k > 0 && strcmp(names[k - 1], h->launches[i].kernel) != 0)
            k--;
        if (k > 0)
            continue;
        names[n++] = h->launches[i].kernel;
        fine = print_sum(h, i, &begun, &s, out);
    }
    stats_free(&s);
    free(names);
    return fine;
}

/* Prints the list "kernels" member by member: the whole list in memory would take ten times the size of the file. */
static bool print_kernels(const struct heddle *h, bool sums, FILE *out) {
    if (sums)
        return print_sums(h, out);
    for (int i = 0; i < h->n_launches; i++)
        if (!print_kernel(json_kernel(&h->launches[i], h->launches[i].incomplete, NULL, 1), i == 0, out))
            return false;
    return true;
}

static cJSON *json_command(int argc, char *const *argv) {
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; list && i < argc; i++) {
        cJSON *word = cJSON_CreateString(argv[i]);
        if (!word || !cJSON_AddItemToArray(list, word)) {
            cJSON_Delete(word);
            cJSON_Delete(list);
            return NULL;
        }
    }
    return list;
}

static cJSON *json_check(int check) {
    return check < 0 ? cJSON_CreateNull() : cJSON_CreateString(check ? "pass" : "fail");
}

static const char list_here[] = "[\"kernels come here\"]";

/* Makes the text of the JSON, with the marker `list_here` where the list of launches belongs. */
static char *json_frame(struct heddle *h, int argc, char *const *argv, int check) {
    cJSON *o = cJSON_CreateObject();
    bool ok = o && add(o, "heddle", cJSON_CreateString(HEDDLE_VERSION)) &&
              add(o, "command", json_command(argc, argv)) && add(o, "model", cJSON_CreateString(h->model_name)) &&
              add(o, "reconvergence", cJSON_CreateString(h->reconv->name)) &&
              add(o, "config_name", cJSON_CreateString(h->config_name)) && add(o, "config", json_config(&h->config)) &&
              add(o, "kernels", cJSON_CreateRaw(list_here)) && add(o, "stats", json_stats(&h->totals)) &&
              add(o, "incomplete", json_word(heddle_incomplete(h, -1))) && add(o, "check", json_check(check)) &&
              (!h->plan || !h->settled || add(o, "sampled", sampled_json(h))) &&
              (!h->n_profiles || add(o, "profile", profile_json(h)));
    char *text = ok ? cJSON_Print(o) : NULL;
    cJSON_Delete(o);
    return text;
}

enum heddle_status results_write_json(struct heddle *h, FILE *out, int argc, char *const *argv, int check, bool sums) {
    if (!context_enter(h) || !given(h, out, "the stream") || (argc > 0 && !given(h, argv, "the command")))
        return HEDDLE_USAGE;
    char *text = json_frame(h, argc, argv, check), *at = text;
    for (char *next = text; next && (next = strstr(next, list_here)); next++)
        if (strncmp(next - strlen("\"kernels\":\t"), "\"kernels\":\t", strlen("\"kernels\":\t")) == 0)
            /* the marker counts only after the key "kernels"; no string in the JSON contains this key with its quotes,
             * because quotes in strings are escaped */
            at = next;
    if (!text)
        return fail_memory(h);
    errno = 0;
    fprintf(out, "%.*s[", (int)(at - text), text);
    bool whole = print_kernels(h, sums, out);
    bool written = fprintf(out, "]%s\n", at + strlen(list_here)) > 0 && fflush(out) == 0 && !ferror(out);
    int error = errno;
    cJSON_free(text);
    if (!whole)
        return fail_memory(h);
    return written ? HEDDLE_OK
                   : fail(h, HEDDLE_USAGE, "the result cannot be written: %s", strerror(error ? error : EIO));
}

/* Adds the values of all statistics as a text (values.h). As an object, they would take a tenth of a short run. */
static bool add_values(cJSON *o, const struct stats *s) {
    double v[N_STATS];
    for (int i = 0; i < N_STATS; i++)
        v[i] = stats_at(s, i);
    char *text = values_print(v, N_STATS);
    bool fine = text && add(o, "values", cJSON_CreateString(text));
    free(text);
    return fine;
}

/* Returns the member of "kernels" of one of several launches. */
static cJSON *brief_kernel(const struct launch_record *r) {
    struct stats s;
    cJSON *k = json_head(r, r->incomplete, 0);
    if (!stats_init(&s)) {
        cJSON_Delete(k);
        return NULL;
    }
    stats_kept_add(&s, &r->stats);
    if (k && !add_values(k, &s)) {
        cJSON_Delete(k);
        k = NULL;
    }
    stats_free(&s);
    return k;
}

enum heddle_status results_write_brief(struct heddle *h, FILE *out, bool launches) {
    cJSON *o = cJSON_CreateObject(), *kernels = launches ? cJSON_CreateArray() : NULL;
    bool ok = o && (!launches || add(o, "kernels", kernels)) && add_values(o, &h->totals) &&
              add(o, "incomplete", json_word(heddle_incomplete(h, -1))) &&
              (!h->plan || !h->settled || add(o, "sampled", sampled_json(h)));
    for (int i = 0; ok && launches && i < h->n_launches; i++) {
        const struct launch_record *r = &h->launches[i];
        cJSON *k = h->n_launches == 1 ? json_head(r, r->incomplete, 0) : brief_kernel(r);
        ok = k && cJSON_AddItemToArray(kernels, k);
    }
    char *text = ok ? cJSON_PrintUnformatted(o) : NULL;
    cJSON_Delete(o);
    ok = text && fputs(text, out) >= 0 && fflush(out) == 0;
    cJSON_free(text);
    return ok ? HEDDLE_OK : fail_memory(h);
}

enum heddle_status heddle_write_json(struct heddle *h, FILE *out, int argc, char *const *argv, int check) {
    return results_write_json(h, out, argc, argv, check, false);
}

/* Text. */

static double get(const struct heddle *h, const char *name) {
    double v = heddle_stat(h, -1, name);
    return isnan(v) ? 0 : v;
}

/* Writes a number of bytes with its unit to `out` and returns `out`: 12345678 as "12.35 MB". */
static const char *sized(double bytes, char *out, size_t size) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    int u = 0;
    for (; bytes >= 1000 && u < 4; u++)
        bytes /= 1000;
    snprintf(out, size, u ? "%.2f %s" : "%.0f %s", bytes, units[u]);
    return out;
}

static void count(const struct heddle *h, FILE *out, const char *label, const char *name) {
    char text[48];
    fprintf(out, "  %-20s %16s\n", label, group_digits(get(h, name), text, sizeof text));
}

static void misses(const struct heddle *h, FILE *out, const char *label, const char *accesses, const char *missed) {
    double n = get(h, accesses), m = get(h, missed);
    char text[48], more[48];
    fprintf(out, "  %-20s %16s", label, group_digits(m, text, sizeof text));
    if (n > 0)
        fprintf(out, "  of %s accesses (%.1f %%)", group_digits(n, more, sizeof more), 100 * m / n);
    fputc('\n', out);
}

static void print_launches(const struct heddle *h, FILE *out) {
    enum { SHOWN = 8 };
    for (int i = 0; i < h->n_launches && i < SHOWN; i++) {
        const struct launch_record *r = &h->launches[i];
        fprintf(out, "%s  grid %ux%ux%u  block %ux%ux%u\n", r->kernel, r->grid.x, r->grid.y, r->grid.z, r->block.x,
                r->block.y, r->block.z);
    }
    if (h->n_launches > SHOWN)
        fprintf(out, "... and %d more launches\n", h->n_launches - SHOWN);
}

/* Prints one fraction of the issue slots with its words (causes.def), or with the meaning of its statistic. Returns
 * false if the fraction rounds to zero. */
static bool print_share(const struct heddle *h, FILE *out, const char *label, const char *name, const char *indent) {
    double all = get(h, "issue.slots"), share = all > 0 ? 100 * get(h, name) / all : 0;
    int n;
    if (share < 0.05)
        return false;
    int slot = slot_find(name + strlen("issue."));
    fprintf(out, "  %-20s %14.1f %%  %s%s\n", label, share, indent,
            slot >= 0 ? slot_words(slot) : stat_defs(&n)[stat_index(name)].help);
    return true;
}

/* Prints how the issue slots were used, the most frequent use first. */
static void print_slots(const struct heddle *h, FILE *out) {
    enum { NAME = 48 };
    char name[N_SLOTS][NAME];
    int n = 0;
    for (const char *const *slot = issue_slot_names; *slot; slot++) {
        char own[NAME];
        int at = n++;
        snprintf(own, sizeof own, "issue.%s", *slot);
        for (; at > 0 && get(h, name[at - 1]) < get(h, own); at--)
            memcpy(name[at], name[at - 1], NAME);
        memcpy(name[at], own, NAME);
    }
    const char *label = "issue slots";
    for (int i = 0; i < n && print_share(h, out, label, name[i], ""); i++) {
        label = "";
        if (strcmp(name[i], "issue.pipe_busy") == 0)
            print_share(h, out, "", "issue.pipe_busy_memory", "  ");
    }
}

/* Prints a utilization, if it does not round to zero. */
static void print_use(const struct heddle *h, FILE *out, const char *label, const char *name) {
    int n;
    const double share = 100 * get(h, name);
    if (share >= 0.05)
        fprintf(out, "  %-20s %14.1f %%  %s\n", label, share, stat_defs(&n)[stat_index(name)].help);
}

void heddle_print_stats(const struct heddle *h, FILE *out) {
    if (!out || !handle_is_open(h, HANDLE_CONTEXT))
        return;
    print_launches(h, out);
    if (h->gpu)
        fprintf(out, "model %s on %s\n", h->model_name, h->config_name);
    else
        fprintf(out, "functional (no time), paths as in %s\n", h->reconv->name);
    const char *why = heddle_incomplete(h, -1);
    if (why)
        fprintf(out, "INCOMPLETE (%s): figures are of what ran until then\n", why);
    if (h->gpu)
        count(h, out, "cycles", "gpu.cycles");
    if (h->plan && h->settled)
        sampled_print(h, out);
    count(h, out, "warp instructions", "gpu.warp_instructions");
    count(h, out, "thread instructions", "gpu.thread_instructions");
    if (h->gpu)
        fprintf(out, "  %-20s %16.2f  thread instructions a cycle\n", "IPC", get(h, "gpu.ipc"));
    fprintf(out, "  %-20s %14.1f %%\n", "lane utilisation", 100 * get(h, "gpu.lane_utilization"));
    fprintf(out, "  %-20s %16.3f  paths a warp could issue from\n", "average paths", get(h, "gpu.avg_paths"));
    count(h, out, "deepest stack", "gpu.max_stack_depth");
    if (h->gpu) {
        count(h, out, "idle cycles", "gpu.idle_cycles");
        misses(h, out, "L1 misses", "l1.accesses", "l1.misses");
        misses(h, out, "L2 misses", "l2.accesses", "l2.misses");
        char read[32], written[32];
        fprintf(out, "  %-20s %16s  read, %s written\n", "DRAM", sized(get(h, "dram.read_bytes"), read, sizeof read),
                sized(get(h, "dram.write_bytes"), written, sizeof written));
        print_use(h, out, "tensor units", "util.tensor");
        print_use(h, out, "bulk copies", "util.tma");
        print_use(h, out, "cluster network", "util.dsmem");
        print_slots(h, out);
    }
    fprintf(out, "  %-20s %16.3f  s, %.2f M warp instructions a second, %.0f MB of memory\n", "time of the host",
            get(h, "host.seconds"), get(h, "host.warp_instructions_per_second") * 1e-6,
            get(h, "host.peak_rss_bytes") * 1e-6);
}
