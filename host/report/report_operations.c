/* A roofline by operation: operations of each kind of pipe per cycle and per byte of DRAM, beside the pipe's peak. */
#include "isa/types.h"
#include "report_machines.h"
#include "timing/config/config.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kind of operation. of[i]: a statistic that counts the lanes of some instructions, and the number of operations of
 * this kind per lane. `pipe`: the pipe that executes the operations. `initiation`: the option for the number of cycles
 * between two instructions in this pipe. */
static const struct kind {
    const char *name;
    struct {
        const char *stat;
        double worth;
    } of[4];
    int pipe;
    const char *initiation;
    double most; /* number of operations per lane in the instruction that reaches the peak rate */
} kinds[] = {
    {"f32 flop", {{"op.f32_add", 1}, {"op.f32_mul", 1}, {"op.f32_fma", 2}}, PIPE_SP, "initiation.f32_fma", 2},
    {"f64", {{"op.f64", 1}}, PIPE_DP, "initiation.f64_fma", 1},
    {"integer", {{"op.int", 1}, {"op.int_mul", 1}}, PIPE_INT, "initiation.int_add", 1},
    {"special function", {{"op.sfu", 1}}, PIPE_SFU, "initiation.sfu", 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Returns the number of pipes of kind `pipe` in an SM. On a machine without this kind, another kind executes its
 * operations; then returns the number of pipes of that other kind. */
static double units(const struct report *r, const struct result_row *row, int pipe) {
    char name[48];
    snprintf(name, sizeof name, "pipe.%s.units", pipe_rows[pipe].name);
    double n = report_option(r, row, name);
    return n > 0 || pipe_rows[pipe].instead == pipe ? n : units(r, row, pipe_rows[pipe].instead);
}

static struct roof_machine machine_of(const struct report *r, const struct result_row *row) {
    struct roof_machine m = {{0}, {0}};
    for (int k = 0; k < KINDS; k++) {
        m.slope[k] = report_dram_peak(r, row);
        m.height[k] = report_option(r, row, "gpu.sms") * units(r, row, kinds[k].pipe) * WARP_LANES * kinds[k].most /
                      report_option(r, row, kinds[k].initiation);
    }
    return m;
}

/* Returns the number of operations of kind `k` in a run; NAN if there are none. */
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

static bool table(struct report *r, const struct roof_machine *of) {
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
            table_number(t, a_cycle(r, r->rows[i], k) / of[i].height[k], NUM_PERCENT);
            table_number(t, a_byte(r, r->rows[i], k), NUM_SHORT);
        }
        free(name);
    }
    return report_table(r, t);
}

bool report_operations(struct report *r) {
    struct roofline l = {
        .n = KINDS,
        .x_label = "operations a byte of DRAM",
        .y_label = "operations a cycle",
        .unit = "a cycle",
        .title = "DRAM:",
        .title_end = "bytes a cycle",
        .machine = machine_of,
        .x = a_byte,
        .y = a_cycle,
        .table = table,
    };
    for (int k = 0; k < KINDS; k++)
        l.names[k] = kinds[k].name;
    fputs("<h2 id=operations>Roofline by operation</h2>\n<p>A point is a run and a kind of operation: how many of them "
          "it did for a byte of DRAM, and in a cycle. The height of a line is what the pipes of this kind can do; its "
          "slope is what DRAM delivers. A fused multiply-add is two f32 flop. Kinds that share pipes, as integer and "
          "f32 operations do where there are no pipes for integers, share the limit, too.</p>\n",
          r->out);
    return report_machines(r, &l);
}
