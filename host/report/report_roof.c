/* A roofline: thread instructions per cycle over thread instructions per byte, for each level of memory. Cycles are
 * those of the SM clock. */
#include "isa/types.h"
#include "report_machines.h"
#include <math.h>
#include <stdlib.h>

enum { L1, L2, DRAM, LEVELS, SECTOR = 32 };

/* Returns the peak rates of a machine per SM cycle: thread instructions, and bytes of each memory level. */
static struct roof_machine machine_of(const struct report *r, const struct result_row *row) {
    double sms = report_option(r, row, "gpu.sms"), core = report_option(r, row, "clock.core_mhz");
    struct roof_machine m = {{0}, {0}};
    for (int l = 0; l < LEVELS; l++)
        m.height[l] = sms * report_option(r, row, "sm.schedulers") * WARP_LANES;
    m.slope[L1] = sms * report_option(r, row, "l1.ports") * report_option(r, row, "l1.line");
    m.slope[L2] = report_option(r, row, "l2.slices") * report_option(r, row, "l2.port_bytes") *
                  report_option(r, row, "clock.l2_mhz") / core;
    m.slope[DRAM] = report_dram_peak(r, row);
    return m;
}

static double bytes_of(const struct report *r, const struct result_row *row, int level) {
    return level == L1   ? SECTOR * report_stat(r, row, "l1.sectors")
           : level == L2 ? SECTOR * report_stat(r, row, "l2.sectors")
                         : report_dram_bytes(r, row);
}

/* Returns thread instructions per byte that the memory level moved; NAN if it moved none. */
static double intensity(const struct report *r, const struct result_row *row, int level) {
    double bytes = bytes_of(r, row, level);
    return bytes > 0 ? report_stat(r, row, "gpu.thread_instructions") / bytes : NAN;
}

static double a_cycle(const struct report *r, const struct result_row *row, int level) {
    (void)level;
    return report_stat(r, row, "gpu.ipc");
}

static bool table(struct report *r, const struct roof_machine *of);

static const struct roofline roofline = {
    .n = LEVELS,
    .names = {"L1", "L2", "DRAM"},
    .x_label = "thread instructions a byte of the level",
    .y_label = "thread instructions a cycle",
    .by_slope = true,
    .unit = "bytes/cycle",
    .title = "At most",
    .title_end = "thread instructions a cycle",
    .machine = machine_of,
    .x = intensity,
    .y = a_cycle,
    .table = table,
};

/* Writes a table with the fraction of each level's limit that each run reached. */
static bool table(struct report *r, const struct roof_machine *of) {
    static const char *const titles[] = {"run",
                                         ">instructions/cycle",
                                         ">instructions/byte L1",
                                         ">of its roof",
                                         ">L2",
                                         ">of its roof",
                                         ">DRAM",
                                         ">of its roof",
                                         "nearest roof",
                                         NULL};
    struct table *t = table_new(titles);
    for (int i = 0; i < r->n; i++) {
        char *name = report_name(r, r->rows[i]);
        double ipc = report_stat(r, r->rows[i], "gpu.ipc"), nearest = 0;
        const char *which = "";
        table_text(t, name ? name : "");
        table_number(t, ipc, NUM_FIXED3);
        for (int l = 0; l < LEVELS; l++) {
            double x = intensity(r, r->rows[i], l), roof = fmin(of[i].height[l], of[i].slope[l] * x);
            double share = isnan(x) ? NAN : ipc / roof;
            table_number(t, x, NUM_SHORT);
            table_number(t, share, NUM_PERCENT);
            if (share > nearest) {
                nearest = share;
                which = of[i].slope[l] * x < of[i].height[l] ? roofline.names[l] : "issue";
            }
        }
        table_text(t, which);
        free(name);
    }
    return report_table(r, t);
}

void report_roof_options(const struct report *r) {
    if (r->set->n)
        (void)machine_of(r, r->set->rows);
}

bool report_roof_rows(struct report *r) { return report_machines(r, &roofline); }

bool report_roofs(struct report *r) {
    fputs("<h2 id=roofline>Roofline by level of memory</h2>\n<p>Each point is a run at one level of memory. It shows "
          "the run's thread instructions per byte that the level moved, and per cycle. The line of a level shows its "
          "largest bandwidth in bytes per cycle, and no run is above this line. If a point is near the line, the run "
          "waits for this level.</p>\n",
          r->out);
    return report_roof_rows(r);
}
