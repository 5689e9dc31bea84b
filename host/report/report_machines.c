#include "report_machines.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double report_option(const struct report *r, const struct result_row *row, const char *name) {
    struct field f;
    char why[256];
    return field_find(r->db, r->set, name, &f, why, sizeof why) ? field_number(r->set, row, &f) : NAN;
}

double report_stat(const struct report *r, const struct result_row *row, const char *name) {
    int i = result_stat(r->set, name);
    return i < 0 ? NAN : row->values[i];
}

double report_dram_peak(const struct report *r, const struct result_row *row) {
    return report_option(r, row, "dram.channels") * report_option(r, row, "dram.bus_bytes") *
           report_option(r, row, "dram.data_rate") * report_option(r, row, "clock.dram_mhz") /
           report_option(r, row, "clock.core_mhz");
}

double report_dram_bytes(const struct report *r, const struct result_row *row) {
    return report_stat(r, row, "dram.read_bytes") + report_stat(r, row, "dram.write_bytes");
}

static bool same(const struct roof_machine *a, const struct roof_machine *b) { return memcmp(a, b, sizeof *a) == 0; }

/* Writes one point for each kind of each run on machine `m`. Point n of kind k has the
 * coordinates x[n] and y[n * l->n + k]. The elements of `y` for the other kinds at point n are NAN. Returns the number
 * of points. */
static int points(const struct report *r, const struct roofline *l, const struct roof_machine *m,
                  const struct roof_machine *of, double *x, double *y) {
    int n = 0;
    for (int i = 0; i < r->n; i++)
        for (int k = 0; k < l->n && same(&of[i], m); k++, n++) {
            x[n] = l->x(r, r->rows[i], k);
            for (int other = 0; other < l->n; other++)
                y[n * l->n + other] = other == k ? l->y(r, r->rows[i], k) : NAN;
        }
    return n;
}

static bool draw(struct report *r, const struct roofline *l, const struct roof_machine *m,
                 const struct roof_machine *of) {
    size_t most = (size_t)r->n * ROOFS + 1;
    double *x = calloc(most, sizeof *x), *y = calloc(most * ROOFS, sizeof *y);
    char names[ROOFS][24], texts[ROOFS][64], title[160], *series[ROOFS];
    struct chart_roof roofs[ROOFS];
    for (int k = 0; k < l->n; k++) {
        snprintf(names[k], sizeof names[k], "%s", l->names[k]);
        snprintf(texts[k], sizeof texts[k], "%s: %.4g %s", l->names[k], l->by_slope ? m->slope[k] : m->height[k],
                 l->unit);
        series[k] = names[k];
        roofs[k] = (struct chart_roof){texts[k], m->slope[k], m->height[k]};
    }
    snprintf(title, sizeof title, "%s %.4g %s", l->title, l->by_slope ? m->height[0] : m->slope[0], l->title_end);
    struct chart c = {.kind = CHART_POINTS, .title = title, .x_label = l->x_label, .y_label = l->y_label};
    c.x = x;
    c.y = y;
    c.series = series;
    c.n_series = l->n;
    c.roofs = roofs;
    c.n_roofs = l->n;
    bool fine = x && y;
    if (fine)
        c.n = points(r, l, m, of, x, y);
    else
        snprintf(r->err, sizeof r->err, "the host is out of memory");
    fine = fine && report_chart(r, &c);
    free(x);
    free(y);
    return fine;
}

static bool is_whole(const struct roofline *l, const struct roof_machine *m) {
    double sum = 0;
    for (int k = 0; k < l->n; k++)
        sum += m->slope[k] + m->height[k];
    return isfinite(sum);
}

static bool draw_each(struct report *r, const struct roofline *l, const struct roof_machine *of) {
    enum { MOST = 6 };
    int machines = 0;
    bool fine = true;
    for (int i = 0; fine && i < r->n; i++) {
        bool seen = !is_whole(l, &of[i]);
        for (int k = 0; k < i && !seen; k++)
            seen = same(&of[k], &of[i]);
        if (!seen && machines++ < MOST)
            fine = draw(r, l, &of[i], of);
    }
    if (machines > MOST)
        fprintf(r->out, "<p>%d more machine%s not drawn; the table has %s.</p>\n", machines - MOST,
                machines == MOST + 1 ? " is" : "s are", machines == MOST + 1 ? "it" : "them");
    return fine;
}

bool report_machines(struct report *r, const struct roofline *l) {
    struct roof_machine *of = calloc((size_t)r->n + 1, sizeof *of);
    for (int i = 0; of && i < r->n; i++)
        of[i] = l->machine(r, r->rows[i]);
    if (!of)
        snprintf(r->err, sizeof r->err, "the host is out of memory");
    bool fine = of && draw_each(r, l, of) && l->table(r, of);
    free(of);
    return fine;
}
