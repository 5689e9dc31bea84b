/* A roofline: thread instructions a cycle over thread instructions a byte, of each level of memory. All in cycles of
 * the SMs' clock. */
#include "host/html.h"
#include "isa/types.h"
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { L1, L2, DRAM, LEVELS, SECTOR = 32 };
static const char *const level_names[LEVELS] = {"L1", "L2", "DRAM"};

/* What a machine could do in a cycle at most. */
struct machine {
    double bytes[LEVELS], instructions;
};

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

static struct machine machine_of(const struct report *r, const struct result_row *row) {
    double sms = report_option(r, row, "gpu.sms"), core = report_option(r, row, "clock.core_mhz");
    struct machine m = {.instructions = sms * report_option(r, row, "sm.schedulers") * WARP_LANES};
    m.bytes[L1] = sms * report_option(r, row, "l1.ports") * report_option(r, row, "l1.line");
    m.bytes[L2] = report_option(r, row, "l2.slices") * report_option(r, row, "l2.port_bytes") *
                  report_option(r, row, "clock.l2_mhz") / core;
    m.bytes[DRAM] = report_dram_peak(r, row);
    return m;
}

static double bytes_of(const struct report *r, const struct result_row *row, int level) {
    return level == L1   ? SECTOR * report_stat(r, row, "l1.sectors")
           : level == L2 ? SECTOR * report_stat(r, row, "l2.sectors")
                         : report_dram_bytes(r, row);
}

/* Instructions a byte; NAN where the level moved nothing. */
static double intensity(const struct report *r, const struct result_row *row, int level) {
    double bytes = bytes_of(r, row, level);
    return bytes > 0 ? report_stat(r, row, "gpu.thread_instructions") / bytes : NAN;
}

static bool same(const struct machine *a, const struct machine *b) { return memcmp(a, b, sizeof *a) == 0; }

/* The runs on one machine: a point for each level. */
static bool draw(struct report *r, const void *machine, const void *machines) {
    const struct machine *m = machine, *of = machines;
    size_t most = (size_t)r->n * LEVELS + 1;
    double *x = calloc(most, sizeof *x), *y = calloc(most * LEVELS, sizeof *y);
    char *series[LEVELS], names[LEVELS][8];
    struct chart_roof roofs[LEVELS];
    char texts[LEVELS][64], title[160];
    int n = 0;
    for (int i = 0; x && y && i < r->n; i++)
        for (int l = 0; l < LEVELS && same(&of[i], m); l++, n++) {
            x[n] = intensity(r, r->rows[i], l);
            for (int k = 0; k < LEVELS; k++)
                y[n * LEVELS + k] = k == l ? report_stat(r, r->rows[i], "gpu.ipc") : NAN;
        }
    for (int l = 0; l < LEVELS; l++) {
        snprintf(names[l], sizeof names[l], "%s", level_names[l]);
        snprintf(texts[l], sizeof texts[l], "%s: %.4g bytes/cycle", level_names[l], m->bytes[l]);
        series[l] = names[l];
        roofs[l] = (struct chart_roof){texts[l], m->bytes[l], m->instructions};
    }
    snprintf(title, sizeof title, "At most %.4g thread instructions a cycle", m->instructions);
    struct chart c = {.kind = CHART_POINTS, .title = title, .x_label = "thread instructions a byte of the level"};
    c.y_label = "thread instructions a cycle";
    c.x = x;
    c.y = y;
    c.n = n;
    c.series = series;
    c.n_series = LEVELS;
    c.roofs = roofs;
    c.n_roofs = LEVELS;
    bool fine = x && y;
    if (!fine)
        snprintf(r->err, sizeof r->err, "the host is out of memory");
    fine = fine && report_chart(r, &c);
    free(x);
    free(y);
    return fine;
}

/* How much of what each level would allow was reached. */
static bool table(struct report *r, const struct machine *of) {
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
            double x = intensity(r, r->rows[i], l), roof = fmin(of[i].instructions, of[i].bytes[l] * x);
            double share = isnan(x) ? NAN : ipc / roof;
            table_number(t, x, NUM_SHORT);
            table_number(t, share, NUM_PERCENT);
            if (share > nearest) {
                nearest = share;
                which = of[i].bytes[l] * x < of[i].instructions ? level_names[l] : "issue";
            }
        }
        table_text(t, which);
        free(name);
    }
    return report_table(r, t);
}

static bool whole(const void *machine) {
    const struct machine *m = machine;
    return isfinite(m->instructions + m->bytes[L1] + m->bytes[L2] + m->bytes[DRAM]);
}

bool report_machines(struct report *r, const void *of, size_t size, bool (*is_whole)(const void *machine),
                     bool (*draws)(struct report *r, const void *machine, const void *of)) {
    enum { MOST = 6 };
    const char *at = of;
    int machines = 0;
    bool fine = true;
    for (int i = 0; fine && i < r->n; i++) {
        const char *m = at + (size_t)i * size;
        bool seen = !is_whole(m);
        for (const char *k = at; k < m && !seen; k += size)
            seen = memcmp(k, m, size) == 0;
        if (!seen && machines++ < MOST)
            fine = draws(r, m, of);
    }
    if (machines > MOST)
        fprintf(r->out, "<p>%d more machines are not drawn; the table has them.</p>\n", machines - MOST);
    return fine;
}

bool report_roofs(struct report *r) {
    struct machine *of = calloc((size_t)r->n + 1, sizeof *of);
    fputs("<h2 id=roofline>Roofline by level of memory</h2>\n<p>A point is a run and a level: the thread instructions "
          "that it did for a byte that the level moved, and those that it did in a cycle. A run cannot be above the "
          "line of the level, which is how many bytes it moves in a cycle at most; a point near it says that this "
          "level is what the run waits for.</p>\n",
          r->out);
    for (int i = 0; of && i < r->n; i++)
        of[i] = machine_of(r, r->rows[i]);
    if (!of)
        snprintf(r->err, sizeof r->err, "the host is out of memory");
    bool fine = of && report_machines(r, of, sizeof *of, whole, draw) && table(r, of);
    free(of);
    return fine;
}
