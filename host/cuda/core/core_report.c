/* Writes the report when the program ends: a line for each kernel, and the result as JSON. */
#include "core_report.h"
#include "host/results/results_json.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Statistics of all launches of one kernel. */
struct row {
    const char *name;
    double launches, cycles, warps, threads;
};

static struct row *find_row(struct row *rows, int *n, const char *name) {
    for (int i = *n - 1; i >= 0; i--) /* searches backward, because the kernel of the last row often runs again */
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    rows[*n] = (struct row){.name = name};
    return &rows[(*n)++];
}

static void print_table(const struct heddle *h, bool functional, FILE *out) {
    int n = 0, launches = heddle_launches(h);
    struct row *rows = calloc((size_t)launches + 1, sizeof *rows);
    if (!rows)
        return;
    for (int i = 0; i < launches; i++) {
        struct row *r = find_row(rows, &n, heddle_launch_kernel(h, i));
        double cycles = heddle_stat(h, i, "gpu.cycles");
        r->launches++;
        r->cycles += isnan(cycles) ? 0 : cycles;
        r->warps += heddle_stat(h, i, "gpu.warp_instructions");
        r->threads += heddle_stat(h, i, "gpu.thread_instructions");
    }
    fprintf(out, "heddle: %10s %14s %18s %8s  %s\n", "launches", "cycles", "warp instructions", "IPC", "kernel");
    for (int i = 0; i < n; i++) {
        char name[256], cycles[32] = "-", ipc[32] = "-";
        heddle_demangle(rows[i].name, name, sizeof name);
        if (!functional) {
            snprintf(cycles, sizeof cycles, "%.0f", rows[i].cycles);
            snprintf(ipc, sizeof ipc, "%.1f", rows[i].cycles > 0 ? rows[i].threads / rows[i].cycles : 0);
        }
        fprintf(out, "heddle: %10.0f %14s %18.0f %8s  %s\n", rows[i].launches, cycles, rows[i].warps, ipc, name);
    }
    const double half = heddle_plan_interval(h, "gpu.cycles"), cycles = heddle_stat(h, -1, "gpu.cycles");
    if (!isnan(half) && cycles > 0)
        fprintf(out, "heddle: sampled: %.0f cycles +- %.2f %%\n", cycles, 100 * half / cycles);
    free(rows);
}

/* Reads the words of the command line from /proc. */
static char *command_line(char ***argv, int *argc) {
    FILE *f = fopen("/proc/self/cmdline", "rb");
    char *text = NULL;
    size_t cap = 0, len = 0;
    for (int c; f && (c = getc(f)) != EOF;) {
        if (len + 1 >= cap) {
            char *more = realloc(text, cap = 2 * cap + 256);
            if (!more)
                break;
            text = more;
        }
        text[len++] = (char)c;
        text[len] = '\0';
    }
    if (f)
        fclose(f);
    *argc = 0;
    *argv = calloc(len + 1, sizeof **argv);
    for (size_t i = 0; *argv && i < len; i += strlen(text + i) + 1)
        (*argv)[(*argc)++] = text + i;
    return text;
}

static bool is_set(const char *value) { return value && *value; }

/* Writes the results to the file `path` as JSON. The file is renamed when it is complete, so a reader never sees an
 * incomplete file. A device or a pipe cannot be replaced by a file, and is written directly. Returns false with a
 * message on failure. */
static bool write_json(struct heddle *h, const char *path, int argc, char *const *argv) {
    char temporary[4096];
    struct stat st;
    bool direct = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    snprintf(temporary, sizeof temporary, direct ? "%s" : "%s.%d", path, (int)getpid());
    FILE *f = fopen(temporary, "w");
    bool ok = f && results_write_json(h, f, argc, argv, -1, !is_set(getenv("HEDDLE_JSON_LAUNCHES"))) == HEDDLE_OK;
    ok = f && fclose(f) == 0 && ok && (direct || rename(temporary, path) == 0);
    if (!ok) {
        const char *why = heddle_status(h) != HEDDLE_OK ? heddle_error(h) : strerror(errno);
        fprintf(stderr, "heddle: HEDDLE_JSON=%s: %.*s\n", path, (int)strcspn(why, "\n"), why);
        if (f && !direct)
            unlink(temporary);
    }
    return ok;
}

/* Writes the files of results that the user asked for. Returns false if one cannot be written. */
static bool write_files(struct cuda_core *r, int status, const char *json, const char *results) {
    char **argv;
    int argc;
    char *text = command_line(&argv, &argc);
    bool ok = !is_set(json) || write_json(r->h, json, argc, argv);
    if (is_set(results) && argc && heddle_launches(r->h))
        ok = cuda_report_results(results, status, argc, argv) && ok;
    free(argv);
    free(text);
    return ok;
}

/* Says why the program has no table. */
static void say_no_launch(const struct cuda_core *r) {
    if (r->options.time_launches)
        fprintf(stderr, "heddle: no launch ran with timing, since no launch matches --time-launch %s\n",
                r->options.time_launches);
    else
        fputs("heddle: the program has ended without a launch of a kernel\n", stderr);
}

void cuda_report_now(int status) {
    struct cuda_core *r = &cuda_core;
    const char *json = getenv("HEDDLE_JSON"), *results = getenv("HEDDLE_RESULTS");
    if (!r->h)
        return;
    cuda_settle_plan();
    if (heddle_launches(r->h) && !is_set(getenv("HEDDLE_QUIET")) && !is_set(json)) {
        fflush(stdout);
        print_table(r->h, r->functional, stderr);
    } else if (!heddle_launches(r->h) && !is_set(getenv("HEDDLE_QUIET"))) {
        say_no_launch(r);
    }
    if (r->check)
        cuda_print_findings(is_set(getenv("HEDDLE_QUIET")));
    bool written = write_files(r, status, json, results);
    if (is_set(getenv("HEDDLE_CHECKPOINT")) && heddle_checkpoint_end(r->h) != HEDDLE_OK) {
        fprintf(stderr, "heddle: %s", heddle_error(r->h));
        written = false;
    }
    if (!written && r->worst == HEDDLE_OK)
        r->worst = HEDDLE_USAGE;
}

void cuda_report(int status) {
    pthread_mutex_lock(&cuda_core.lock);
    cuda_report_now(status);
    pthread_mutex_unlock(&cuda_core.lock);
}
