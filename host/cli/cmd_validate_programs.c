/* heddle validate --programs: benchmarks at the sizes of public programs, beside the counts that others measured of
 * these programs' kernels on a card. */
#include "benchmarks/bench.h"
#include "cmd_runs.h"
#include "cmd_validate.h"
#include "host/progress.h"
#include "reproduce/card_kernels.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECTOR = 32 };

/* The counts that are compared. A value of the card is a member of struct card_kernel. */
static const struct {
    const char *title, *stat;
    double scale; /* value = statistic / scale */
    size_t card;
} counts[] = {
    {"cycles", "gpu.cycles", 1, offsetof(struct card_kernel, cycles)},
    {"DRAM reads", "dram.read_bytes", SECTOR, offsetof(struct card_kernel, dram_reads)},
    {"DRAM writes", "dram.write_bytes", SECTOR, offsetof(struct card_kernel, dram_writes)},
};
enum { WRITES = 2, N_COUNTS = sizeof counts / sizeof counts[0], MOST = 64 };

struct programs {
    const struct cli *c;
    const struct card_kernel *kernels[MOST];
    int n;
    struct job jobs[MOST]; /* one for each benchmark */
    int n_jobs;
    bool runs[MOST]; /* true while the job of this index runs */
    struct progress progress;
};

static double of_card(const struct card_kernel *k, int i) {
    double v;
    memcpy(&v, (const char *)k + counts[i].card, sizeof v);
    return v;
}

/* Returns the mean of a statistic over the launches of the kernel; NAN: it did not run. */
static double mean_of(const struct programs *p, const struct card_kernel *k, const char *stat) {
    double sum = 0;
    int n = 0;
    for (int j = 0; k->bench && j < p->n_jobs; j++) {
        const cJSON *launches = cJSON_GetObjectItemCaseSensitive(p->jobs[j].result, "kernels"), *launch;
        if (strcmp(p->jobs[j].bench->name, k->bench) != 0)
            continue;
        cJSON_ArrayForEach(launch, launches) {
            const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(launch, "name"));
            const cJSON *stats = cJSON_GetObjectItemCaseSensitive(launch, "stats");
            if (name && strcmp(name, k->own_kernel) == 0) {
                sum += cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(stats, stat));
                n++;
            }
        }
    }
    return n ? sum / n : NAN;
}

static double of_run(const struct programs *p, const struct card_kernel *k, int count) {
    return mean_of(p, k, counts[count].stat) / counts[count].scale;
}

/* Returns the mean power of the kernel in W; NAN: it did not run. */
static double watts_of(const struct programs *p, const struct card_kernel *k) {
    const double joules = mean_of(p, k, "energy.total_joules"), cycles = mean_of(p, k, "gpu.cycles");
    const cJSON *config = cJSON_GetObjectItemCaseSensitive(p->n_jobs ? p->jobs[0].result : NULL, "config");
    const double mhz = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(config, "clock.core_mhz"));
    return joules / (cycles / (mhz * 1e6));
}

/* Returns the relative error; 0 if both are 0. */
static double error_of(double here, double there) { return here == 0 && there == 0 ? 0 : here / there - 1; }

static double card_watts(const struct card_kernel *k) {
    const double watts = card_kernel_watts(k);
    return watts > 0 ? watts : NAN;
}

static struct table *table_of(const struct programs *p) {
    static const char *const titles[] = {"program", "kernel", ">cycles",      ">card",  ">error", ">DRAM reads",
                                         ">card",   ">error", ">DRAM writes", ">card",  ">error", ">again",
                                         ">error",  ">W",     ">card",        ">error", NULL};
    struct table *t = table_new(titles);
    for (int i = 0; i < p->n; i++) {
        const struct card_kernel *k = p->kernels[i];
        if (!k->bench)
            continue;
        table_text(t, k->program);
        table_text(t, k->kernel);
        for (int n = 0; n < N_COUNTS; n++) {
            table_number(t, of_run(p, k, n), NUM_COUNT);
            table_number(t, of_card(k, n), NUM_COUNT);
            table_number(t, error_of(of_run(p, k, n), of_card(k, n)), NUM_PERCENT);
        }
        table_number(t, k->dram_writes_again, NUM_COUNT);
        table_number(t, error_of(of_run(p, k, WRITES), k->dram_writes_again), NUM_PERCENT);
        table_number(t, watts_of(p, k), NUM_FIXED2);
        table_number(t, card_watts(k), NUM_FIXED2);
        table_number(t, watts_of(p, k) / card_watts(k) - 1, NUM_PERCENT);
    }
    return t;
}

/* Prints the mean absolute error of the cycles and the correlation of their logarithms. Then prints how Heddle's
 * kernels differ from the public kernels, and which public kernels have no benchmark. */
static void print_summary(const struct programs *p) {
    double sum = 0, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
    double power = 0;
    int n = 0, n_power = 0;
    for (int i = 0; i < p->n; i++) {
        double error = fabs(watts_of(p, p->kernels[i]) / card_watts(p->kernels[i]) - 1);
        double here = of_run(p, p->kernels[i], 0), there = of_card(p->kernels[i], 0), x = log(here), y = log(there);
        power += isnan(error) ? 0 : error;
        n_power += !isnan(error);
        if (isnan(here))
            continue;
        sum += fabs(here / there - 1);
        sx += x, sy += y, sxx += x * x, syy += y * y, sxy += x * y;
        n++;
    }
    if (n)
        printf("\n%d kernels: mean absolute error of cycles %.1f %%", n, 100 * sum / n);
    if (n > 2)
        printf(", correlation of log cycles %.4f",
               (n * sxy - sx * sy) / sqrt((n * sxx - sx * sx) * (n * syy - sy * sy)));
    if (n_power)
        printf("; of power %.1f %%", 100 * power / n_power);
    puts("\nReads and writes are sectors of 32 bytes. Others measured the card's counts:");
    printf("%s\n%s\n", card_kernels_source, card_power_source);
    for (int i = 0; i < p->n; i++)
        if (p->kernels[i]->differs)
            printf("%s %s: %s\n", p->kernels[i]->bench ? "Differs:" : "Not run:", p->kernels[i]->kernel,
                   p->kernels[i]->differs);
}

/* Makes {"heddle", "source", "kernels": [{"program", "kernel", "cycles": {"value", "card"}, ...}, ...]}. */
static cJSON *json_of(const struct programs *p) {
    cJSON *o = cJSON_CreateObject(), *list = NULL;
    bool fine = o && cJSON_AddStringToObject(o, "heddle", HEDDLE_VERSION) &&
                cJSON_AddStringToObject(o, "source", card_kernels_source) &&
                (list = cJSON_AddArrayToObject(o, "kernels"));
    for (int i = 0; fine && i < p->n; i++) {
        const struct card_kernel *k = p->kernels[i];
        cJSON *row = cJSON_CreateObject();
        fine = cJSON_AddItemToArray(list, row) && cJSON_AddStringToObject(row, "program", k->program) &&
               cJSON_AddStringToObject(row, "kernel", k->kernel);
        for (int n = 0; fine && n < N_COUNTS; n++) {
            cJSON *both = cJSON_AddObjectToObject(row, counts[n].title);
            fine = both && cJSON_AddNumberToObject(both, "value", of_run(p, k, n)) &&
                   cJSON_AddNumberToObject(both, "card", of_card(k, n)) &&
                   (n != WRITES || cJSON_AddNumberToObject(both, "again", k->dram_writes_again));
        }
        cJSON *watts = fine ? cJSON_AddObjectToObject(row, "watts") : NULL;
        fine = watts && cJSON_AddNumberToObject(watts, "value", watts_of(p, k)) &&
               cJSON_AddNumberToObject(watts, "card", card_watts(k));
    }
    if (!fine) {
        cJSON_Delete(o);
        return NULL;
    }
    return o;
}

/* Selects the card's kernels whose program or kernel has the text of --only in its name, and a job for each benchmark
 * among them. Prints a message and returns false if there are none. */
static bool select_kernels(struct programs *p, const char *card, const struct heddle_options *o) {
    const char *only = cli_value(p->c, "only");
    for (const struct card_kernel *k = card_kernels; k->card && p->n < MOST; k++) {
        if (strcmp(k->card, card) != 0 || (only && !strstr(k->program, only) && !strstr(k->kernel, only)))
            continue;
        p->kernels[p->n++] = k;
        bool there = !k->bench;
        for (int j = 0; j < p->n_jobs; j++)
            there = there || strcmp(p->jobs[j].bench->name, k->bench) == 0;
        if (!there)
            p->jobs[p->n_jobs++] = (struct job){.bench = bench_find(k->bench), .size = BENCH_CARD, .options = *o};
    }
    if (!p->n)
        cli_error(p->c, "--programs: there are no counts of %s%s%s", card, only ? " with --only " : "",
                  only ? only : "");
    return p->n > 0;
}

static bool on_begin(void *ctx, int job) {
    struct programs *p = ctx;
    return p->runs[job] = true;
}

static void on_end(void *ctx, int job) {
    struct programs *p = ctx;
    p->runs[job] = false;
}

/* Shows the names of the benchmarks that run. */
static void on_tick(void *ctx, int finished) {
    struct programs *p = ctx;
    char note[64] = "";
    for (int j = 0; j < p->n_jobs; j++)
        if (p->runs[j])
            snprintf(note + strlen(note), sizeof note - strlen(note), " %s", p->jobs[j].bench->name);
    progress_update(&p->progress, (uint64_t)finished, (uint64_t)p->n_jobs, note + (*note == ' '));
}

static enum heddle_status run_programs(struct programs *p) {
    uint64_t parallel = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    bool printed;
    if (!cli_number(p->c, "jobs", 1, 256, &parallel) || !runs_files_possible(p->c))
        return HEDDLE_USAGE;
    progress_init(&p->progress, true);
    progress_start(&p->progress, "validate");
    jobs_run(p->jobs, p->n_jobs, (int)parallel, p->c->argc, p->c->argv,
             &(struct jobs_watch){.ctx = p, .wanted = on_begin, .ended = on_end, .tick = on_tick});
    progress_end(&p->progress);
    struct table *t = table_of(p);
    enum heddle_status written = validate_write(p->c, t, json_of(p), &printed);
    if (printed)
        print_summary(p);
    table_free(t);
    enum heddle_status ran = runs_complain(p->c, p->jobs, p->n_jobs);
    return ran != HEDDLE_OK ? ran : written;
}

enum heddle_status validate_programs(const struct cli *c, const char *card, const struct sim *sim) {
    struct programs *p = calloc(1, sizeof *p);
    int n = 0;
    while (sim->set[n])
        n++;
    const char **set = calloc((size_t)n + 2, sizeof *set);
    enum heddle_status status = HEDDLE_USAGE;
    if (!p || !set) {
        cli_fail(c, "the host is out of memory");
    } else {
        set[0] = "gpu.cold_launches=on"; /* the user's assignments follow, so they can override this one */
        memcpy(set + 1, sim->set, (size_t)n * sizeof *set);
        p->c = c;
        struct heddle_options o = sim->o;
        o.set = set;
        if (select_kernels(p, card, &o))
            status = run_programs(p);
        for (int j = 0; j < p->n_jobs; j++)
            job_free(&p->jobs[j]);
    }
    free(p);
    free(set);
    return status;
}
