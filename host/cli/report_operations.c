/* A roofline by operation: what each kind of pipe did in a cycle, and for a byte of DRAM, beside what it could do. */
#include "host/html.h"
#include "isa/types.h"
#include "report.h"
#include "timing/config/config.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kind of operation: the statistics that count its lanes, each with what one of them is worth, and the pipe, and the
 * initiation interval, that set its limit. */
static const struct kind {
    const char *name;
    struct {
        const char *stat;
        double worth;
    } of[4];
    int pipe;
    const char *initiation;
    double most; /* worth of the operation that gives the peak */
} kinds[] = {
    {"f32 flop", {{"op.f32_add", 1}, {"op.f32_mul", 1}, {"op.f32_fma", 2}}, PIPE_SP, "initiation.f32_fma", 2},
    {"f64", {{"op.f64", 1}}, PIPE_DP, "initiation.f64_fma", 1},
    {"integer", {{"op.int", 1}, {"op.int_mul", 1}}, PIPE_INT, "initiation.int_add", 1},
    {"special function", {{"op.sfu", 1}}, PIPE_SFU, "initiation.sfu", 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

struct machine {
    double peak[KINDS], dram; /* operations, bytes a cycle */
};

/* Pipes of an SM; a machine without them uses others instead. */
static double units(const struct report *r, const struct result_row *row, int pipe) {
    char name[48];
    snprintf(name, sizeof name, "pipe.%s.units", pipe_rows[pipe].name);
    double n = report_option(r, row, name);
    return n > 0 || pipe_rows[pipe].instead == pipe ? n : units(r, row, pipe_rows[pipe].instead);
}

static struct machine machine_of(const struct report *r, const struct result_row *row) {
    struct machine m = {.dram = report_dram_peak(r, row)};
    for (int k = 0; k < KINDS; k++)
        m.peak[k] = report_option(r, row, "gpu.sms") * units(r, row, kinds[k].pipe) * WARP_LANES * kinds[k].most /
                    report_option(r, row, kinds[k].initiation);
    return m;
}

/* Operations of a run; NAN when it did none. */
static double done(const struct report *r, const struct result_row *row, int k) {
    double sum = 0;
    for (int i = 0; i < 4 && kinds[k].of[i].stat; i++) {
        double n = report_stat(r, row, kinds[k].of[i].stat);
        sum += isnan(n) ? 0 : kinds[k].of[i].worth * n;
    }
    return sum > 0 ? sum : NAN;
}

static double a_cycle(const struct report *r, const struct result_row *row, int k) {
    return done(r, row, k) / report_stat(r, row, "gpu.cycles");
}

static double a_byte(const struct report *r, const struct result_row *row, int k) {
    double bytes = report_dram_bytes(r, row);
    return bytes > 0 ? done(r, row, k) / bytes : NAN;
}

static bool same(const struct machine *a, const struct machine *b) { return memcmp(a, b, sizeof *a) == 0; }

static bool whole(const void *machine) {
    const struct machine *m = machine;
    double sum = m->dram;
    for (int k = 0; k < KINDS; k++)
        sum += m->peak[k];
    return isfinite(sum);
}

/* The runs on one machine: a point for each kind of operation. */
static bool draw(struct report *r, const void *machine, const void *machines) {
    const struct machine *m = machine, *of = machines;
    size_t most = (size_t)r->n * KINDS + 1;
    double *x = calloc(most, sizeof *x), *y = calloc(most * KINDS, sizeof *y);
    char names[KINDS][24], texts[KINDS][64], title[96], *series[KINDS];
    struct chart_roof roofs[KINDS];
    int n = 0;
    for (int i = 0; x && y && i < r->n; i++)
        for (int k = 0; k < KINDS && same(&of[i], m); k++, n++) {
            x[n] = a_byte(r, r->rows[i], k);
            for (int o = 0; o < KINDS; o++)
                y[n * KINDS + o] = o == k ? a_cycle(r, r->rows[i], k) : NAN;
        }
    for (int k = 0; k < KINDS; k++) {
        snprintf(names[k], sizeof names[k], "%s", kinds[k].name);
        snprintf(texts[k], sizeof texts[k], "%s: %.4g a cycle", kinds[k].name, m->peak[k]);
        series[k] = names[k];
        roofs[k] = (struct chart_roof){texts[k], m->dram, m->peak[k]};
    }
    snprintf(title, sizeof title, "DRAM: %.4g bytes a cycle", m->dram);
    const struct chart c = {.kind = CHART_POINTS,
                            .title = title,
                            .x_label = "operations a byte of DRAM",
                            .y_label = "operations a cycle",
                            .x = x,
                            .y = y,
                            .n = n,
                            .series = series,
                            .n_series = KINDS,
                            .roofs = roofs,
                            .n_roofs = KINDS};
    bool fine = x && y;
    if (!fine)
        snprintf(r->err, sizeof r->err, "the host is out of memory");
    fine = fine && report_chart(r, &c);
    free(x);
    free(y);
    return fine;
}

static bool table(struct report *r, const struct machine *of) {
    char titles[3 * KINDS][48];
    const char *list[3 * KINDS + 2] = {"run"};
    for (int k = 0; k < KINDS; k++) {
        snprintf(titles[3 * k], sizeof titles[0], ">%s/cycle", kinds[k].name);
        snprintf(titles[3 * k + 1], sizeof titles[0], ">of its peak");
        snprintf(titles[3 * k + 2], sizeof titles[0], ">/byte of DRAM");
        for (int i = 0; i < 3; i++)
            list[1 + 3 * k + i] = titles[3 * k + i];
    }
    struct table *t = table_new(list);
    for (int i = 0; i < r->n; i++) {
        char *name = report_name(r, r->rows[i]);
        table_text(t, name ? name : "");
        for (int k = 0; k < KINDS; k++) {
            table_number(t, a_cycle(r, r->rows[i], k), NUM_SHORT);
            table_number(t, a_cycle(r, r->rows[i], k) / of[i].peak[k], NUM_PERCENT);
            table_number(t, a_byte(r, r->rows[i], k), NUM_SHORT);
        }
        free(name);
    }
    return report_table(r, t);
}

bool report_operations(struct report *r) {
    struct machine *of = calloc((size_t)r->n + 1, sizeof *of);
    fputs("<h2 id=operations>Roofline by operation</h2>\n<p>A point is a run and a kind of operation: how many of them "
          "it did for a byte of DRAM, and in a cycle. The height of a line is what the pipes of this kind can do; its "
          "slope is what DRAM delivers. A fused multiply-add is two f32 flop. Kinds that share pipes, as integer and "
          "f32 operations do where there are no pipes for integers, share the limit, too.</p>\n",
          r->out);
    for (int i = 0; of && i < r->n; i++)
        of[i] = machine_of(r, r->rows[i]);
    if (!of)
        snprintf(r->err, sizeof r->err, "the host is out of memory");
    bool fine = of && report_machines(r, of, sizeof *of, whole, draw) && table(r, of);
    free(of);
    return fine;
}
