/* Measures how well figures agree with the papers' texts: counts of directions, ranks, and distances. */
#include "figure.h"
#include "host/table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void rank_add(struct ranks *r, double ours, double ours2, double theirs, double theirs2) {
    if (isnan(ours) || isnan(ours2))
        return;
    int own = (ours > ours2) - (ours < ours2), paper = (theirs > theirs2) - (theirs < theirs2);
    r->pairs++;
    r->tied_ours += own == 0;
    r->tied_paper += paper == 0;
    r->concordant += own * paper > 0;
    r->discordant += own * paper < 0;
}

double rank_tau(const struct ranks *r) {
    double apart = (double)(r->pairs - r->tied_ours) * (r->pairs - r->tied_paper);
    return apart > 0 ? (r->concordant - r->discordant) / sqrt(apart) : NAN;
}

static bool is_program(const char *of) { return bench_find(of) != NULL; }

/* Compares two numbers of the paper at a time: two programs under one series, or two series of one program or group.
 * Counts the pairs that Heddle has in the same order as the paper. Skips numbers that the paper gives as a bound. */
static void count_ranks(const struct figure_runs *r, const struct panel_values *v, struct claims *out) {
    for (const struct claim *a = v->panel->claims; a && a->of; a++)
        for (const struct claim *b = a + 1; b->of; b++) {
            if (a->at_most || b->at_most)
                continue;
            bool programs = strcmp(a->series, b->series) == 0 && is_program(a->of) && is_program(b->of);
            bool settings = strcmp(a->of, b->of) == 0;
            if (programs || settings)
                rank_add(programs ? &out->programs : &out->settings, panel_value(v, r, a->of, a->series),
                         panel_value(v, r, b->of, b->series), a->value, b->value);
        }
}

static void count_claim(const struct panel_values *v, const struct claim *c, double ours, struct claims *out) {
    int direction = claim_direction(v->panel, c, ours);
    out->all++;
    out->measured += !isnan(ours);
    out->directed += direction != 0;
    out->same += direction == 1;
    if (!isnan(ours) && !c->at_most) {
        out->distance += fabs(ours / c->value - 1);
        out->compared++;
    }
}

/* Adds the numbers that the paper's text gives for a figure (its claims) to the counts. */
static void claims_count(const struct figure_page *page, struct claims *out) {
    for (int p = 0; p < page->n; p++) {
        const struct panel_values *v = &page->panels[p];
        for (const struct claim *c = v->panel->claims; c && c->of; c++)
            count_claim(v, c, panel_value(v, page->runs, c->of, c->series), out);
        count_ranks(page->runs, v, out);
    }
}

/* Returns the host seconds of a run. */
static double seconds_of(const struct figure_source *from, int run, int stat) {
    const struct result_row *row = stat >= 0 ? result_find(from->set, from->plan->runs[run].key) : NULL;
    return row && !isnan(row->values[stat]) ? row->values[stat] : 0;
}

/* Marks the figure's runs in `mine`, and marks in `all` the runs that no earlier figure uses. Returns the seconds of
 * simulation of the figure's runs. Adds the number and the seconds of the runs that are new in `all` to `s`. */
static double add_runs(const struct figure_page *page, const struct figure_source *from, bool *mine, bool *all,
                       struct summary *s) {
    int stat = result_stat(from->set, "host.seconds");
    int places = FIGURE_PANELS * FIGURE_SERIES * page->runs->n_programs;
    double seconds = 0;
    memset(mine, 0, (size_t)from->plan->n_runs);
    for (int i = 0; i < places; i++) {
        int run = page->runs->run[i];
        if (run < 0 || mine[run])
            continue;
        mine[run] = true;
        double took = seconds_of(from, run, stat);
        seconds += took;
        if (all[run])
            continue;
        all[run] = true;
        s->runs++;
        s->seconds += took;
    }
    return seconds;
}

static void add_ranks(struct ranks *to, const struct ranks *r) {
    to->pairs += r->pairs;
    to->concordant += r->concordant;
    to->discordant += r->discordant;
    to->tied_ours += r->tied_ours;
    to->tied_paper += r->tied_paper;
}

bool summary_make(struct summary *s, const struct figure_page *pages, int n, const struct figure_source *from) {
    size_t runs = (size_t)from->plan->n_runs + 1;
    bool *mine = calloc(runs, 1), *all = calloc(runs, 1);
    *s = (struct summary){.n = n, .pages = pages, .rows = calloc((size_t)n + 1, sizeof *s->rows)};
    bool fine = mine && all && s->rows;
    for (int i = 0; i < n && fine; i++) {
        struct claims *c = &s->rows[i].claims, *sum = &s->all;
        claims_count(&pages[i], c);
        s->rows[i].seconds = add_runs(&pages[i], from, mine, all, s);
        sum->all += c->all;
        sum->measured += c->measured;
        sum->directed += c->directed;
        sum->same += c->same;
        sum->compared += c->compared;
        sum->distance += c->distance;
        add_ranks(&sum->programs, &c->programs);
        add_ranks(&sum->settings, &c->settings);
    }
    free(mine);
    free(all);
    return fine;
}

void summary_free(struct summary *s) {
    free(s->rows);
    s->rows = NULL;
}

double claims_distance(const struct claims *c) { return c->compared ? c->distance / c->compared : NAN; }

static void add_row(struct table *t, const char *name, const struct claims *c, double seconds) {
    table_text(t, name);
    table_number(t, c->all, NUM_COUNT);
    table_number(t, c->measured, NUM_COUNT);
    table_number(t, c->same, NUM_COUNT);
    table_number(t, c->directed, NUM_COUNT);
    table_number(t, rank_tau(&c->programs), NUM_FIXED2);
    table_number(t, c->programs.pairs, NUM_COUNT);
    table_number(t, rank_tau(&c->settings), NUM_FIXED2);
    table_number(t, c->settings.pairs, NUM_COUNT);
    table_number(t, claims_distance(c), NUM_PERCENT);
    table_number(t, seconds, NUM_FIXED2);
}

struct table *summary_table(const struct summary *s) {
    static const char *const titles[] = {
        "figure", ">numbers",          ">measured",    ">same direction",  ">of",      ">rank",
        ">pairs", ">rank of settings", ">their pairs", ">mean difference", ">seconds", NULL};
    struct table *t = table_new(titles);
    char all[48];
    for (int i = 0; i < s->n; i++)
        add_row(t, s->pages[i].runs->figure->name, &s->rows[i].claims, s->rows[i].seconds);
    table_rule(t);
    snprintf(all, sizeof all, "%d figure%s", s->n, s->n == 1 ? "" : "s");
    add_row(t, all, &s->all, s->seconds);
    return t;
}
