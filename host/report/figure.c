#include "figure.h"
#include "geomean.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int panel_series(const struct panel *p) {
    int n = 0;
    while (p->series && p->series[n].label)
        n++;
    return n;
}

static int panels(const struct figure *f) {
    int n = 0;
    while (n < FIGURE_PANELS && f->panels[n].title)
        n++;
    return n;
}

static bool add_line(char **text, const char *fmt, const char *a, const char *b, const char *c) {
    char *line, *all;
    if (asprintf(&line, fmt, a, b, c) < 0)
        return false;
    if (*text && strstr(*text, line)) { /* the text already has this line, from another panel */
        free(line);
        return true;
    }
    int n = asprintf(&all, "%s%s", *text ? *text : "", line);
    free(line);
    if (n < 0)
        return false;
    free(*text);
    *text = all;
    return true;
}

static bool is_set(const char *name) {
    for (int i = 0; i < n_bench_sets; i++)
        if (strcmp(bench_sets[i].name, name) == 0)
            return true;
    return false;
}

/* Lists the figure's programs, each once. Unknown names become lines of `absent`. */
static bool find_programs(struct figure_runs *r) {
    char word[64];
    r->programs = calloc((size_t)n_all_benches + 1, sizeof *r->programs);
    bool fine = r->programs != NULL;
    for (const char *at = r->figure->programs; fine && *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)len, at);
        at += len;
        const struct bench *one = bench_find(word);
        if (!one && !is_set(word))
            fine = add_line(&r->absent, "program %s: not there yet%s%s\n", word, "", "");
        for (int i = 0; i < n_all_benches; i++) {
            bool in = one ? benches[i] == one : bench_in(benches[i], word);
            for (int k = 0; in && k < r->n_programs; k++)
                in = r->programs[k] != benches[i];
            if (in)
                r->programs[r->n_programs++] = benches[i];
        }
    }
    return fine;
}

/* Returns the options of the figure and of the series as a NULL-terminated list that points into `text`. */
static const char **assignments(const struct figure *f, const struct series *s, char *text, size_t size) {
    snprintf(text, size, "%s %s", f->set ? f->set : "", s->set ? s->set : "");
    const char **set = calloc(strlen(text) + 1, sizeof *set);
    int n = 0;
    for (char *word = strtok(text, " "); set && word; word = strtok(NULL, " "))
        set[n++] = word;
    return set;
}

/* Returns the program that a series runs in place of a program of the figure: with the series' suffix in its name if
 * there is such a program. */
static const struct bench *program_of(const struct series *s, const struct bench *program) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", program->name, s->suffix ? s->suffix : "");
    const struct bench *own = bench_find(name);
    return own ? own : program;
}

static bool plan_series(struct figure_runs *r, int *run, const struct series *s, enum bench_size size,
                        struct plan *plan, char *err, size_t err_size) {
    char text[1024], why[512];
    const char **set = assignments(r->figure, s, text, sizeof text);
    if (!set) {
        snprintf(err, err_size, "the host is out of memory");
        return false;
    }
    struct heddle_options o = {.model = s->model, .config = s->preset ? s->preset : r->figure->preset, .set = set};
    int machine = plan_machine(plan, &o, why, sizeof why);
    free(set);
    if (machine < 0) /* this build lacks a mechanism or option of the series */
        return add_line(&r->absent, "series %s (model %s): %s\n", s->label, s->model, why);
    for (int i = 0; i < r->n_programs; i++)
        if ((run[i] = plan_add(plan, program_of(s, r->programs[i]), size, machine, err, err_size)) < 0)
            return false;
    return true;
}

bool figure_plan(struct figure_runs *r, const struct figure *f, enum bench_size size, struct plan *plan, char *err,
                 size_t err_size) {
    *r = (struct figure_runs){.figure = f};
    snprintf(err, err_size, "the host is out of memory");
    if (!find_programs(r))
        return false;
    size_t places = (size_t)FIGURE_PANELS * FIGURE_SERIES * (size_t)(r->n_programs + 1);
    r->run = malloc(places * sizeof *r->run);
    if (!r->run)
        return false;
    for (size_t i = 0; i < places; i++)
        r->run[i] = -1;
    bool fine = !f->missing || add_line(&r->absent, "the figure: %s%s%s\n", f->missing, "", "");
    for (int p = 0; p < panels(f); p++)
        for (int s = 0; fine && s < panel_series(&f->panels[p]); s++)
            if (f->panels[p].series[s].model)
                fine = plan_series(r, &r->run[(p * FIGURE_SERIES + s) * r->n_programs], &f->panels[p].series[s], size,
                                   plan, err, err_size);
    return fine;
}

void figure_runs_free(struct figure_runs *r) {
    free(r->programs);
    free(r->run);
    free(r->absent);
    *r = (struct figure_runs){.figure = NULL};
}

/* Evaluates a sum of [FACTOR*]NAME up to `end`. */
static double sum(const struct result_set *set, const struct result_row *row, const char *at, const char *end) {
    double total = 0;
    while (at < end) {
        char name[80];
        double factor = 1;
        size_t len = strcspn(at, "+/");
        const char *star = memchr(at, '*', len);
        if (star) {
            factor = strtod(at, NULL);
            len -= (size_t)(star + 1 - at);
            at = star + 1;
        }
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        int index = result_stat(set, name);
        total += index >= 0 ? factor * row->values[index] : NAN;
        at += len + 1;
    }
    return total;
}

double figure_expression(const struct result_set *set, const struct result_row *row, const char *text) {
    const char *end = text + strlen(text), *over = strchr(text, '/');
    double v = sum(set, row, text, over ? over : end);
    if (!over)
        return v;
    double by = sum(set, row, over + 1, end);
    return by != 0 ? v / by : NAN;
}

static int find_series(const struct panel *p, const char *label, size_t len) {
    for (int s = 0; s < panel_series(p); s++)
        if (strlen(p->series[s].label) == len && memcmp(p->series[s].label, label, len) == 0)
            return s;
    return -1;
}

/* Evaluates expression `value` for the run of a series with a program. The result is absolute, not relative to a
 * base. */
static double measured(const struct figure_runs *r, int panel, int series, int program, const char *value,
                       const struct plan *plan, const struct result_set *set) {
    int run = r->run[(panel * FIGURE_SERIES + series) * r->n_programs + program];
    const struct result_row *row = run >= 0 ? result_find(set, plan->runs[run].key) : NULL;
    return row && row->status == HEDDLE_OK ? figure_expression(set, row, value) : NAN;
}

static double compared(const struct figure_runs *r, int panel, int s, int program, const struct plan *plan,
                       const struct result_set *set) {
    const struct panel *p = &r->figure->panels[panel];
    const struct series *own = &p->series[s];
    /* this expression is evaluated for both runs that are compared */
    const char *value = own->value ? own->value : p->value;
    double v = measured(r, panel, s, program, value, plan, set);
    if (!own->base || p->kind == PANEL_VALUE)
        return p->kind == PANEL_VALUE ? v : NAN;
    int base = find_series(p, own->base, strlen(own->base));
    double b = measured(r, panel, base, program, value, plan, set);
    double over = p->kind == PANEL_SPEEDUP ? v : b, part = p->kind == PANEL_SPEEDUP ? b : v;
    return over != 0 ? part / over : NAN;
}

/* Returns an estimate for a series that is not run: used time / (used time + all losses). A loss with `gain` is first
 * multiplied by l->left of the series `gain` / l->left of the series `base`. If l->left of the base is 0, the loss
 * stays unchanged. */
static double estimated(const struct figure_runs *r, int panel, const struct estimate *e, int program,
                        const struct plan *plan, const struct result_set *set) {
    const struct panel *p = &r->figure->panels[panel];
    const int of = find_series(p, e->of, strlen(e->of));
    const double used = measured(r, panel, of, program, e->used, plan, set);
    double time = used;
    for (int i = 0; i < ESTIMATE_LOSSES && e->losses[i].loss; i++) {
        const struct estimate_loss *l = &e->losses[i];
        double loss = measured(r, panel, of, program, l->loss, plan, set);
        if (l->gain) {
            double with = measured(r, panel, find_series(p, l->gain, strlen(l->gain)), program, l->left, plan, set);
            double without = measured(r, panel, find_series(p, l->base, strlen(l->base)), program, l->left, plan, set);
            loss *= without == 0 ? 1 : with / without;
        }
        time += loss;
    }
    return time > 0 ? used / time : NAN;
}

/* Returns the largest of the values that the series named in `labels` have for a program. A '|' separates the
 * labels. */
static double best(const struct panel_values *v, const char *labels, int program) {
    double most = NAN;
    for (const char *at = labels; *at; at += *at == '|') {
        size_t len = strcspn(at, "|");
        int s = find_series(v->panel, at, len);
        if (s >= 0)
            most = fmax(most, v->value[s * v->n_programs + program]); /* fmax() ignores NAN */
        at += len;
    }
    return most;
}

static double mean_of(const struct panel_values *v, int s, const bool *member) {
    struct geomean geometric = {0};
    double total = 0, most = NAN;
    int n = 0;
    for (int i = 0; i < v->n_programs; i++) {
        double x = v->value[s * v->n_programs + i];
        if (!member[i] || isnan(x))
            continue;
        geomean_add(&geometric, x);
        total += x;
        most = fmax(most, x);
        n++;
    }
    switch (v->panel->mean) {
    case MEAN_GEOMETRIC:
        return geomean_get(&geometric);
    case MEAN_ARITHMETIC:
        return n ? total / n : NAN;
    default:
        return most;
    }
}

/* Makes the groups of programs: each set that the figure names, the two parts of the panel's split, and all programs.
 * If there is only one group besides "all", it is left out. */
static void make_groups(struct panel_values *v, const struct figure_runs *r) {
    const struct split *split = v->panel->split;
    int n = 0;
    for (int i = 0; i < n_bench_sets && n < FIGURE_GROUPS - 3; i++) {
        bool named = false;
        for (const char *at = r->figure->programs; *at && !named; at += strcspn(at, " "), at += *at == ' ')
            named = strcspn(at, " ") == strlen(bench_sets[i].name) &&
                    memcmp(at, bench_sets[i].name, strlen(bench_sets[i].name)) == 0;
        if (!named)
            continue;
        for (int k = 0; k < v->n_programs; k++)
            v->member[n * v->n_programs + k] = bench_in(r->programs[k], bench_sets[i].name);
        v->group[n++] = bench_sets[i].name;
    }
    for (int yes = 1; split && yes >= 0; yes--) {
        int s = find_series(v->panel, split->series, strlen(split->series));
        for (int k = 0; k < v->n_programs; k++) {
            double x = v->value[s * v->n_programs + k];
            v->member[n * v->n_programs + k] = yes ? x >= split->least : x < split->least;
        }
        v->group[n++] = yes ? split->yes : split->no;
    }
    if (n == 1) /* a single set has the same programs as the group "all" */
        n = 0;
    for (int k = 0; k < v->n_programs; k++)
        v->member[n * v->n_programs + k] = true;
    v->group[n++] = "all";
    v->n_groups = n;
    for (int s = 0; s < v->n_series; s++)
        for (int g = 0; g < n; g++)
            v->mean[s][g] = mean_of(v, s, &v->member[g * v->n_programs]);
}

bool panel_fill(struct panel_values *v, const struct figure_runs *r, int panel, const struct plan *plan,
                const struct result_set *set) {
    const struct panel *p = &r->figure->panels[panel];
    *v = (struct panel_values){.panel = p, .n_series = panel_series(p), .n_programs = r->n_programs};
    v->value = calloc((size_t)v->n_series * (size_t)v->n_programs + 1, sizeof *v->value);
    v->member = calloc((size_t)FIGURE_GROUPS * (size_t)v->n_programs + 1, sizeof *v->member);
    if (!v->value || !v->member)
        return false;
    for (int s = 0; s < v->n_series; s++)
        for (int i = 0; i < v->n_programs; i++)
            v->value[s * v->n_programs + i] = p->series[s].model ? compared(r, panel, s, i, plan, set)
                                              : p->series[s].estimate
                                                  ? estimated(r, panel, p->series[s].estimate, i, plan, set)
                                                  : NAN;
    for (int s = 0; s < v->n_series; s++)
        for (int i = 0; p->series[s].best_of && i < v->n_programs; i++)
            v->value[s * v->n_programs + i] = best(v, p->series[s].best_of, i);
    make_groups(v, r);
    return true;
}

void panel_free(struct panel_values *v) {
    free(v->value);
    free(v->member);
    *v = (struct panel_values){.panel = NULL};
}

double panel_value(const struct panel_values *v, const struct figure_runs *r, const char *of, const char *series) {
    int s = find_series(v->panel, series, strlen(series));
    double most = NAN;
    if (s < 0)
        return NAN;
    for (int i = 0; i < v->n_programs; i++) {
        if (strcmp(of, r->programs[i]->name) == 0)
            return v->value[s * v->n_programs + i];
        most = fmax(most, v->value[s * v->n_programs + i]);
    }
    if (strcmp(of, "most") == 0)
        return most;
    for (int g = 0; g < v->n_groups; g++)
        if (strcmp(of, v->group[g]) == 0)
            return v->mean[s][g];
    /* a figure with one set has only the group "all", which stands for this set */
    return v->n_groups == 1 && strcmp(of, r->figure->programs) == 0 ? v->mean[s][0] : NAN;
}

const struct claim *panel_claim(const struct panel *p, const char *of, const char *series) {
    for (const struct claim *c = p->claims; c && c->of; c++)
        if (strcmp(c->of, of) == 0 && strcmp(c->series, series) == 0)
            return c;
    return NULL;
}

int claim_direction(const struct panel *p, const struct claim *c, double ours) {
    const double even = 0.005;
    if (p->kind == PANEL_VALUE || isnan(ours))
        return 0;
    if (c->at_most)
        return ours <= c->value + even ? 1 : -1;
    int theirs = (c->value > 1 + even) - (c->value < 1 - even), own = (ours > 1 + even) - (ours < 1 - even);
    return own == theirs ? 1 : -1;
}

const char *panel_show(const struct panel *p, double v, char *out, size_t size) {
    if (isnan(v))
        snprintf(out, size, "-");
    else if (p->show == SHOW_PERCENT)
        snprintf(out, size, "%.1f %%", 100 * v);
    else
        snprintf(out, size, p->show == SHOW_COUNT ? "%.0f" : "%.3f", v);
    return out;
}
