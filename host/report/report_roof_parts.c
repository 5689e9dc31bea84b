/* The roofline by kernel and by line. A part of a run, a kernel or a line, gets a row of its own: a copy of the run's
 * row with the part's name as kernel, and with the part's statistics. */
#include "isa/types.h"
#include "report_machines.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* MOST_PARTS: most parts of a page. LINES: most lines of a kernel. */
enum { MOST_PARTS = 96, LINES = 8 };

static const char *const summed[] = {"gpu.cycles", "gpu.thread_instructions", "l1.sectors",
                                     "l2.sectors", "dram.read_bytes",         "dram.write_bytes"};
enum { SUMMED = sizeof summed / sizeof summed[0] };

struct parts {
    struct report r; /* its rows are the parts */
    struct result_row *own;
    const struct result_row **rows;
    int left_out;
};

static bool parts_init(struct parts *p, const struct report *r, struct result_set *set) {
    *p = (struct parts){.r = *r};
    p->own = calloc(MOST_PARTS, sizeof *p->own);
    p->rows = calloc(MOST_PARTS, sizeof *p->rows);
    p->r.set = set;
    p->r.rows = p->rows;
    p->r.n = 0;
    report_roof_options(&p->r);
    return p->own && p->rows;
}

static void parts_free(struct parts *p) {
    for (int i = 0; i < p->r.n; i++) {
        free(p->own[i].kernel);
        free(p->own[i].values);
    }
    free(p->own);
    free(p->rows);
}

/* Adds a part of run `of` with this name, without values. Returns NULL if there are too many parts, which it counts, or
 * if memory runs out. */
static struct result_row *add_part(struct parts *p, const struct result_row *of, const char *name) {
    int n_names = p->r.set->n_names;
    if (p->r.n == MOST_PARTS) {
        p->left_out++;
        return NULL;
    }
    struct result_row *row = &p->own[p->r.n];
    *row = *of;
    row->launch = -1;
    row->kernel = strdup(name);
    row->values = calloc((size_t)n_names + 1, sizeof *row->values);
    if (!row->kernel || !row->values) {
        free(row->kernel);
        free(row->values);
        return NULL;
    }
    for (int i = 0; i < n_names; i++)
        row->values[i] = NAN;
    p->rows[p->r.n++] = row;
    return row;
}

/* Adds a value to a statistic of a part. */
static void add_value(struct parts *p, struct result_row *row, const char *name, double v) {
    int i = result_stat(p->r.set, name);
    if (i >= 0 && !isnan(v))
        row->values[i] = isnan(row->values[i]) ? v : row->values[i] + v;
}

/* Sets the instructions per cycle of all parts. */
static void set_ipc(struct parts *p) {
    int ipc = result_stat(p->r.set, "gpu.ipc");
    for (int i = 0; ipc >= 0 && i < p->r.n; i++) {
        double cycles = report_stat(&p->r, p->rows[i], "gpu.cycles");
        p->own[i].values[ipc] = cycles > 0 ? report_stat(&p->r, p->rows[i], "gpu.thread_instructions") / cycles : NAN;
    }
}

static bool draw(struct parts *p, struct report *r, const char *head) {
    set_ipc(p);
    fputs(head, r->out);
    bool fine = report_roof_rows(&p->r);
    memcpy(r->err, p->r.err, sizeof r->err);
    if (p->left_out)
        fprintf(r->out, "<p>%d more %s left out; --where chooses runs.</p>\n", p->left_out,
                p->left_out == 1 ? "is" : "are");
    return fine;
}

static struct result_row *find_part(struct parts *p, const struct result_row *launch) {
    for (int i = p->r.n - 1; i >= 0 && p->own[i].run == launch->run; i--)
        if (strcmp(p->own[i].kernel, launch->kernel) == 0)
            return &p->own[i];
    return NULL;
}

/* Adds the launches of run `run`, and notes in *several whether the run has more than one kernel. */
static void add_launches(struct parts *p, long long run, bool *several) {
    int first = p->r.n;
    for (int i = 0; i < p->r.set->n; i++) {
        const struct result_row *launch = &p->r.set->rows[i];
        if (launch->run != run || !launch->kernel)
            continue;
        struct result_row *row = find_part(p, launch);
        row = row ? row : add_part(p, launch, launch->kernel);
        for (int k = 0; row && k < SUMMED; k++)
            add_value(p, row, summed[k], report_stat(&p->r, launch, summed[k]));
    }
    *several |= p->r.n > first + 1;
}

bool report_kernel_roofs(struct report *r) {
    struct result_set set;
    struct parts p;
    bool several = false;
    if (!results_load(r->db, true, &set, r->err, sizeof r->err))
        return false;
    bool fine = parts_init(&p, r, &set);
    if (!fine)
        snprintf(r->err, sizeof r->err, "the host is out of memory");
    for (int i = 0; fine && i < r->n; i++)
        add_launches(&p, r->rows[i]->run, &several);
    if (fine && several)
        fine =
            draw(&p, r,
                 "<h2 id=kernels>Roofline by kernel</h2>\n<p>Each point is a kernel of a run, with the sums over its "
                 "launches.</p>\n");
    parts_free(&p);
    result_set_free(&set);
    return fine;
}

static double slots_of(const cJSON *line) {
    const cJSON *s;
    double sum = report_number(line, "issued");
    cJSON_ArrayForEach(s, cJSON_GetObjectItemCaseSensitive(line, "stalls")) sum += s->valuedouble;
    return sum;
}

/* Writes the name of a line: "lud_diagonal lud.cu:31" for CUDA, "lud_diagonal line 31" for PTX. */
static void name_line(const cJSON *kernel, const cJSON *line, char *out, size_t size) {
    const char *file = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, "file"));
    const char *base = file ? strrchr(file, '/') : NULL;
    snprintf(out, size, "%s %s%s%.0f", report_text(kernel, "kernel"),
             base   ? base + 1
             : file ? file
                    : "line",
             file ? ":" : " ", report_number(line, "line"));
}

/* Returns the cycles of all launches of a kernel in run `run`. */
static double cycles_of(const struct parts *kernels, long long run, const cJSON *kernel) {
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(kernel, "kernel"));
    for (int i = 0; name && i < kernels->r.n; i++)
        if (kernels->own[i].run == run && strcmp(kernels->own[i].kernel, name) == 0)
            return report_stat(&kernels->r, &kernels->own[i], "gpu.cycles");
    return NAN;
}

/* Adds the lines of a kernel that access the L1, at most LINES of them, those with the most issue slots first. */
static void add_lines(struct parts *p, const struct result_row *of, const cJSON *kernel, double cycles) {
    const cJSON *sources = cJSON_GetObjectItemCaseSensitive(kernel, "sources"), *line;
    const cJSON *hot[LINES];
    int n = 0;
    char name[256];
    if (!cJSON_GetArraySize(sources))
        sources = cJSON_GetObjectItemCaseSensitive(kernel, "lines");
    cJSON_ArrayForEach(line, sources) {
        if (report_number(line, "l1_sectors") <= 0)
            continue;
        int at = n < LINES ? n++ : LINES;
        for (; at > 0 && slots_of(hot[at - 1]) < slots_of(line); at--)
            if (at < LINES)
                hot[at] = hot[at - 1];
        if (at < LINES)
            hot[at] = line;
    }
    for (int i = 0; i < n; i++) {
        name_line(kernel, hot[i], name, sizeof name);
        struct result_row *row = add_part(p, of, name);
        if (!row)
            continue;
        add_value(p, row, "gpu.cycles", cycles);
        add_value(p, row, "gpu.thread_instructions", report_number(hot[i], "lanes"));
        add_value(p, row, "l1.sectors", report_number(hot[i], "l1_sectors"));
    }
}

static bool lines_of_run(struct parts *p, const struct parts *kernels, struct report *r, const struct result_row *row) {
    cJSON *profile;
    const cJSON *kernel;
    if (!results_profile(r->db, row->run, &profile, r->err, sizeof r->err))
        return false;
    cJSON_ArrayForEach(kernel, profile) add_lines(p, row, kernel, cycles_of(kernels, row->run, kernel));
    cJSON_Delete(profile);
    return true;
}

bool report_line_roofs(struct report *r) {
    struct result_set set;
    struct parts p, kernels = {0};
    bool several = false;
    if (!results_load(r->db, true, &set, r->err, sizeof r->err))
        return false;
    bool fine = parts_init(&p, r, r->set) && parts_init(&kernels, r, &set);
    if (!fine)
        snprintf(r->err, sizeof r->err, "the host is out of memory");
    for (int i = 0; fine && i < r->n; i++) {
        add_launches(&kernels, r->rows[i]->run, &several);
        fine = lines_of_run(&p, &kernels, r, r->rows[i]);
    }
    if (fine && p.r.n)
        fine = draw(&p, r,
                    "<h2 id=lineroofs>Roofline by line</h2>\n<p>Each point is a line that accesses the L1: a line of "
                    "CUDA if the program names its lines, else a line of PTX. It shows the thread instructions of the "
                    "line in a cycle of its kernel. The share of its roof is the share of the L1's bandwidth that the "
                    "line uses.</p>\n");
    parts_free(&p);
    parts_free(&kernels);
    result_set_free(&set);
    return fine;
}
