/* Draws a figure's panels in its page, without gnuplot: a cluster of bars for each program and mean, with the paper's
 * numbers as diamonds. If a panel has too many series, only means are drawn, with a cluster for each series. */
#include "chart.h"
#include "figure.h"
#include <math.h>
#include <stdlib.h>

/* A panel's chart and its arrays. The elements of `places` and `series` point to the panel's names. */
struct panel_chart {
    struct chart c;
    char **places, **series;
    double *y, *paper;
};

static bool allocate(struct panel_chart *p, int places, int series) {
    size_t n = (size_t)places * (size_t)series + 1;
    p->places = calloc((size_t)places + 1, sizeof *p->places);
    p->series = calloc((size_t)series + 1, sizeof *p->series);
    p->y = calloc(n, sizeof *p->y);
    p->paper = calloc(n, sizeof *p->paper);
    p->c.places = p->places;
    p->c.series = p->series;
    p->c.n = places;
    p->c.n_series = series;
    p->c.y = p->y;
    p->c.paper = p->paper;
    return p->places && p->series && p->y && p->paper;
}

static void release(struct panel_chart *p) {
    free(p->places);
    free(p->series);
    free(p->y);
    free(p->paper);
}

/* Sets the value of a series for program i, or for group i - n_programs. */
static void put(struct panel_chart *p, int at, const struct figure_runs *r, const struct panel_values *v, int i,
                int s) {
    const struct claim *claim = figure_claim(r, v, i, v->panel->series[s].label);
    double scale = p->c.percent ? 100 : 1;
    double own = i < v->n_programs ? v->value[s * v->n_programs + i] : v->mean[s][i - v->n_programs];
    p->y[at] = scale * own;
    p->paper[at] = claim ? scale * claim->value : NAN;
}

/* Fills a chart with a place for each program and group, and a series for each series. */
static bool fill_all(struct panel_chart *p, const struct figure_runs *r, const struct panel_values *v) {
    int places = v->n_programs + v->n_groups, n = 0;
    if (!allocate(p, places, panel_shown_series(v)))
        return false;
    for (int i = 0; i < places; i++)
        p->places[i] = (char *)(i < v->n_programs ? r->programs[i]->name : v->group[i - v->n_programs]);
    for (int s = 0; s < v->n_series; s++) {
        if (v->panel->series[s].hidden)
            continue;
        p->series[n] = (char *)v->panel->series[s].label;
        for (int i = 0; i < places; i++)
            put(p, i * p->c.n_series + n, r, v, i, s);
        n++;
    }
    return true;
}

/* Fills a chart with a place for each series, and a series for each group of programs. */
static bool fill_means(struct panel_chart *p, const struct figure_runs *r, const struct panel_values *v) {
    int n = 0;
    if (!allocate(p, panel_shown_series(v), v->n_groups))
        return false;
    for (int g = 0; g < v->n_groups; g++)
        p->series[g] = (char *)v->group[g];
    for (int s = 0; s < v->n_series; s++) {
        if (v->panel->series[s].hidden)
            continue;
        p->places[n] = (char *)v->panel->series[s].label;
        for (int g = 0; g < v->n_groups; g++)
            put(p, n * v->n_groups + g, r, v, v->n_programs + g, s);
        n++;
    }
    return true;
}

void figure_chart(FILE *out, const struct figure_runs *r, const struct panel_values *v) {
    struct panel_chart p = {{.kind = CHART_BARS, .title = v->panel->title}, NULL, NULL, NULL, NULL};
    p.c.percent = v->panel->show == SHOW_PERCENT;
    p.c.level = v->panel->kind != PANEL_VALUE;
    bool fine = panel_means_alone(v) ? fill_means(&p, r, v) : fill_all(&p, r, v);
    p.c.y_label = p.c.percent ? "%" : NULL;
    if (fine && chart_any(&p.c)) {
        fputs("<figure>", out);
        chart_svg(&p.c, true, out);
        fputs("</figure>\n", out);
    }
    release(&p);
}
