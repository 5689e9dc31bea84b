/* heddle run: runs one kernel of a PTX file with arguments from the command line, or a .heddle program. */
#include "axes.h"
#include "cmd.h"
#include "help.h"
#include "host/live/live.h"
#include "host/models.h"
#include "host/program/own.h"
#include "host/report/gzip.h"
#include "host/report/interrupt.h"
#include "host/report/outfile.h"
#include "request.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct option_def options[] = {
    {'k', "kernel", "KERNEL", "the kernel; not needed if the file has only one"},
    {'g', "grid", "X[,Y[,Z]]", "blocks of the grid"},
    {'b', "block", "X[,Y[,Z]]", "threads of a block"},
    {0, "shared", "BYTES", "dynamic shared memory of a block (K, M: powers of 1024)"},
    {0, "cluster", "X[,Y[,Z]]", "blocks of a cluster (default: as the kernel declares)"},
    {'a', "arg", "SPEC", "the next argument of the kernel, see below"},
    {0, "triton", "FILE.json", "Triton's metadata of the kernel, which replace -k -b --shared --cluster, see below"},
    {0, "size", "SIZE", "size of a program: small (the default) or paper"},
    {0, "texture", "NAME=SPEC", "the texture or surface of the .texref or .surfref NAME, see below"},
    {0, "sampler", "NAME=SPEC", "the sampler of the .samplerref NAME, see below; overrides the module"},
    {'v', "set-value", "NAME=VALUE", "sets a value of a program (X.heddle); may be repeated"},
    SIM_OPTIONS,
    {'j', "threads", "N", "host threads; same results, except functional with races, see below"},
    {0, "json", "FILE", "write the result as JSON; with -, nothing else goes to stdout"},
    {0, "profile", NULL,
     "print the cost of each line of PTX and source, also in the JSON: issues, lanes, misses, stalls"},
    {0, "sample", "N", "write the statistics of every N cycles as CSV (see --samples)"},
    {0, "samples", "FILE", "where --sample writes (default samples.csv)"},
    {0, "trace", "FILE", "write a trace of events for chrome://tracing or ui.perfetto.dev; X.gz is compressed"},
    {0, "trace-cycles", "A:B", "only the cycles from A to before B"},
    {0, "trace-sms", "N", "only the first N SMs, which keeps the file small"},
    {0, "trace-waits", "N", "only waits of at least N cycles (default 3; 1: all)"},
    LIVE_OPTION,
    BOUNDS_OPTION,
    SAMPLED_OPTIONS,
    PROGRAM_OPTIONS,
    {0, "check", NULL, "find mistakes of the kernel, in the functional model; see below"},
    {0, NULL, NULL, NULL},
};

/* The work of the command: a launch, or a program. */
struct task {
    const struct cli *c;
    const char *file, *json;
    char *ptx; /* the name of the PTX file beside the metadata of Triton; NULL: not used */
    struct request launch;
    struct script *program; /* NULL: a launch */
    enum bench_size size;
    struct outfile *saved; /* files of the buffers that a program saves */
    int n_saved;
    bool to_stdout; /* true if an output file is stdout, which then gets no other text */
};

static const char default_samples[] = "samples.csv";

/* Returns the file for samples: the name in --samples or a default name; NULL without --sample. */
static const char *samples_file(const struct cli *c) {
    const char *given = cli_value(c, "samples");
    return !cli_value(c, "sample") ? NULL : given ? given : default_samples;
}

static bool note_output(struct task *r, struct file_uses *u, const char *path, const char *who, const char *input) {
    if (!path)
        return true;
    r->to_stdout |= outfile_is_stdout(path);
    return file_uses_write(u, path, who, input);
}

static bool note_files(struct task *r, struct file_uses *u) {
    const struct cli *c = r->c;
    const char *config = cli_value(c, "config");
    const char *triton = cli_value(c, "triton");
    bool ok = (!triton || file_uses_read(u, triton, "--triton")) &&
              (strcmp(r->file, "-") == 0 || file_uses_read(u, r->file, "this command")) &&
              (!config || file_uses_read(u, config, "--config")) && note_output(r, u, r->json, "--json", NULL) &&
              note_output(r, u, cli_value(c, "trace"), "--trace", NULL) &&
              note_output(r, u, samples_file(c), "--samples", NULL);
    const struct request *l = &r->launch;
    for (int i = 0; ok && i < l->n_all; i++) {
        const struct arg *a = &l->args[i];
        char who[48];
        request_reader(l, i, who, sizeof who);
        ok = (!a->in_file || file_uses_read(u, a->in_file, who)) && note_output(r, u, a->out_file, who, a->in_file);
    }
    const char *path;
    for (int i = 0; ok && r->program && (path = script_input(r->program, i)); i++)
        ok = file_uses_read(u, path, "the program");
    for (int i = 0; ok && r->program && (path = script_output(r->program, i)); i++)
        ok = note_output(r, u, path, "a buffer of the program", NULL);
    return ok;
}

/* Checks before the run that all its output files can be written. */
static bool check_files(struct task *r) {
    char err[1024] = "the host is out of memory";
    struct file_uses uses = {0};
    bool fine = note_files(r, &uses) && file_uses_check(&uses, err, sizeof err);
    file_uses_free(&uses);
    if (!fine)
        cli_error(r->c, "%s", err);
    return fine;
}

/* Checks that the program declares every value that -v sets. */
static bool values_known(const struct cli *c, const struct script *p, const struct axes *values) {
    enum { MAX = 64 };
    const char *names[MAX];
    int n = 0;
    while (n < MAX && (names[n] = script_value(p, n)))
        n++;
    for (int i = 0; i < values->n; i++) {
        bool has = false;
        for (int k = 0; !has && k < n; k++)
            has = axis_is(&values->axis[i], names[k]);
        if (!has)
            return cli_unknown_value(c, values->axis[i].values[0], names, n);
    }
    return true;
}

static bool open_program(struct task *r, const struct axes *values) {
    char err[2048];
    const char **given = calloc((size_t)values->n + 1, sizeof *given);
    if (!given) {
        cli_fail(r->c, "the host is out of memory");
        return false;
    }
    axes_combination(values, 0, given);
    if (!(r->program = script_open(r->file, given, err, sizeof err)))
        fputs(err, stderr);
    free(given);
    return r->program && values_known(r->c, r->program, values);
}

static bool parse_program(struct task *r) {
    struct axes values;
    int size;
    const char *other = request_option(r->c);
    if (other) {
        cli_error(r->c, "--%s is for a kernel of a PTX file: %s says itself what it launches", other, r->file);
        return false;
    }
    if (!cli_size(r->c, &size))
        return false;
    r->size = (enum bench_size)size;
    bool fine =
        axes_read(&values, r->c, "set-value") && axes_single(&values, r->c, "set-value") && open_program(r, &values);
    axes_free(&values);
    return fine;
}

/* Without FILE, the PTX is the file beside the metadata of Triton. */
static bool find_ptx(struct task *r, const char *triton) {
    if (!(r->ptx = triton_ptx(triton))) {
        cli_error(r->c, "--triton %s: the name does not end in .json, so FILE with the PTX is needed, too", triton);
        return false;
    }
    if (access(r->ptx, F_OK) != 0) {
        cli_error(r->c, "%s: %s; the PTX is expected beside %s, or as FILE", r->ptx, strerror(errno), triton);
        return false;
    }
    r->file = r->ptx;
    return true;
}

static bool parse(struct task *r) {
    const struct cli *c = r->c;
    const char *triton = cli_value(c, "triton");
    if (c->n_words != 1 && !(triton && !c->n_words)) {
        cli_error(c, c->n_words ? "one file at a time, and '%s' is the second" : "which file?%s",
                  c->n_words ? c->words[1] : "");
        return false;
    }
    if (c->n_words)
        r->file = c->words[0];
    else if (!find_ptx(r, triton))
        return false;
    r->json = cli_value(c, "json");
    if (triton && own_is_program(r->file)) {
        cli_error(c, "--triton is for a kernel of a PTX file: %s says itself what it launches", r->file);
        return false;
    }
    if (own_is_program(r->file))
        return parse_program(r) && check_files(r);
    if (cli_has(c, "size") || cli_has(c, "set-value")) {
        cli_error(c, "--%s is for programs (X.heddle)", cli_has(c, "size") ? "size" : "set-value");
        return false;
    }
    return request_parse(&r->launch, c, r->file) && check_files(r);
}

/* Prints the library's message. */
static enum heddle_status complain(const struct heddle *h) {
    fputs(heddle_error(h), stderr);
    return heddle_status(h);
}

/* Writes the content of output file number `i`: the buffer of argument `i`, or the JSON if `i` is the number of
 * arguments. */
static bool fill_file(const struct task *r, struct heddle *h, int check, int i, struct outfile *f, char *err,
                      size_t size) {
    if (i == r->launch.n_all) {
        if (heddle_write_json(h, f->stream, r->c->argc, r->c->argv, check) == HEDDLE_OK)
            return true;
        snprintf(err, size, "%s: %.*s", f->path, (int)strcspn(heddle_error(h), "\n"), heddle_error(h));
        return false;
    }
    struct arg *a = &r->launch.args[i];
    if (!a->data && !(a->data = malloc(a->bytes))) {
        snprintf(err, size, "the host is out of memory");
        return false;
    }
    uint64_t address;
    memcpy(&address, a->value, sizeof address);
    if (heddle_read(h, address, a->data, a->bytes) != HEDDLE_OK) {
        snprintf(err, size, "%s: %.*s", f->path, (int)strcspn(heddle_error(h), "\n"), heddle_error(h));
        return false;
    }
    if (fwrite(a->data, 1, a->bytes, f->stream) == a->bytes)
        return true;
    snprintf(err, size, "%s: %s", f->path, strerror(errno));
    return false;
}

/* Writes every output file and the JSON. All these files are complete before the first of them gets its final name. If
 * the run did not end, buffers are not written. */
static enum heddle_status write_files(const struct task *r, struct heddle *h, int check) {
    char err[512] = "";
    int n = r->launch.n_all + 1;
    struct outfile *files = calloc((size_t)n, sizeof *files);
    bool fine = files != NULL;
    for (int i = 0; fine && i < n; i++) {
        const char *path = i == r->launch.n_all       ? r->json
                           : heddle_incomplete(h, -1) ? NULL
                                                      : r->launch.args[i].out_file;
        if (path)
            fine = outfile_open(&files[i], path, err, sizeof err) &&
                   fill_file(r, h, check, i, &files[i], err, sizeof err) && outfile_flush(&files[i], err, sizeof err);
    }
    for (int i = 0; fine && i < n; i++)
        fine = outfile_commit(&files[i], err, sizeof err);
    for (int i = 0; fine && i < r->n_saved; i++)
        fine = outfile_commit(&r->saved[i], err, sizeof err);
    for (int i = 0; files && i < n; i++)
        outfile_discard(&files[i]);
    free(files);
    return fine ? HEDDLE_OK : cli_fail(r->c, "%s", *err ? err : "the host is out of memory");
}

/* Writes a buffer that the program saves. The file gets its final name at the same time as the other output files. */
static bool save(void *ctx, const char *file, const void *data, uint64_t bytes, char *why, size_t why_size) {
    struct task *r = ctx;
    struct outfile *f = &r->saved[r->n_saved];
    if (!outfile_open(f, file, why, why_size))
        return false;
    r->n_saved++;
    if (fwrite(data, 1, bytes, f->stream) == bytes)
        return outfile_flush(f, why, why_size);
    snprintf(why, why_size, "%s: %s", file, strerror(errno));
    return false;
}

static enum heddle_status run_program(struct task *r, struct heddle *h, const struct heddle_options *o) {
    enum { WHY = 1 << 16 };
    int n = 1;
    while (script_output(r->program, n - 1))
        n++;
    r->saved = calloc((size_t)n, sizeof *r->saved);
    char *why = malloc(WHY);
    if (!why || !r->saved) {
        free(why);
        return cli_fail(r->c, "the host is out of memory");
    }
    const struct script_host host = {.options = o, .watch = interrupt_guard, .save = save, .ctx = r};
    interrupt_guard(h);
    enum heddle_status status = script_run(r->program, h, &host, r->size, why, WHY);
    interrupt_unguard();
    if (*heddle_notes(h))
        fprintf(stderr, "heddle run: note: %s", heddle_notes(h));
    if (status != HEDDLE_OK)
        fprintf(stderr, "%s%s", why, *why && why[strlen(why) - 1] != '\n' ? "\n" : "");
    free(why);
    return status;
}

static enum heddle_status run_task(struct task *r, struct heddle *h, const struct heddle_options *o) {
    if (r->program)
        return run_program(r, h, o);
    enum heddle_status status = request_guarded(&r->launch, h);
    if (status == HEDDLE_OK && o->check) {
        const char *notes = heddle_error(h);
        fputs(*notes ? notes : "heddle run: check: no mistake was found\n", stderr);
    }
    return status;
}

/* Returns true if a kernel faulted or deadlocked: its statistics then go to files only, not to stdout. */
static bool failed(const struct heddle *h) {
    const char *why = heddle_incomplete(h, -1);
    return why && (strcmp(why, "fault") == 0 || strcmp(why, "deadlock") == 0);
}

/* Reports a task that ended with `status`. If the results of a program are wrong, its statistics are still printed, but
 * no buffer is saved. */
static enum heddle_status report(struct task *r, struct heddle *h, enum heddle_status status) {
    enum heddle_status written;
    bool checked = r->program && script_checks(r->program) && (status == HEDDLE_OK || status == HEDDLE_WRONG);
    if (status != HEDDLE_OK && status != HEDDLE_WRONG && !heddle_incomplete(h, -1))
        return status;
    if ((written = write_files(r, h, checked ? status == HEDDLE_OK : -1)) != HEDDLE_OK)
        return written;
    if (!r->to_stdout && !failed(h))
        heddle_print_stats(h, stdout);
    if (!r->to_stdout && checked)
        printf("  %-20s %16s\n", "check", status == HEDDLE_OK ? "pass" : "WRONG");
    return status;
}

/* Files that a timing model writes while it runs. They get their final names only after a successful run. */
struct records {
    struct outfile trace, samples;
    FILE *packed; /* compresses the trace if its name ends in .gz; else NULL */
};

/* Completes a compressed trace. Write errors stay in the stream of the file. */
static void end_packed(struct records *files) {
    if (files->packed)
        fclose(files->packed);
    files->packed = NULL;
}

/* Reports an option that has no effect without another one. */
static bool needs(const struct cli *c, const char *option, const char *other) {
    if (!cli_has(c, option) || cli_has(c, other))
        return true;
    cli_error(c, "--%s does nothing without --%s", option, other);
    return false;
}

static bool open_records(const struct cli *c, struct records *files, struct heddle_options *o) {
    char err[512];
    const char *trace = cli_value(c, "trace"), *cycles = cli_value(c, "trace-cycles"), *samples = samples_file(c);
    unsigned long long from = 0, to = 0;
    uint64_t sms = 0, waits = 0;
    char rest;
    if (!cli_number(c, "sample", 1, UINT64_MAX, &o->sample_interval) || !needs(c, "samples", "sample") ||
        !needs(c, "trace-cycles", "trace") || !needs(c, "trace-sms", "trace") || !needs(c, "trace-waits", "trace") ||
        !cli_number(c, "trace-sms", 1, UINT32_MAX, &sms) || !cli_number(c, "trace-waits", 1, UINT32_MAX, &waits))
        return false;
    if (cycles && (sscanf(cycles, "%llu:%llu%c", &from, &to, &rest) != 2 || to <= from)) {
        cli_error(c, "--trace-cycles takes A:B with A below B, not '%s'", cycles);
        return false;
    }
    if ((trace && !outfile_open(&files->trace, trace, err, sizeof err)) ||
        (samples && !outfile_open(&files->samples, samples, err, sizeof err))) {
        cli_error(c, "%s", err);
        return false;
    }
    size_t len = trace ? strlen(trace) : 0;
    if (len > 3 && strcmp(trace + len - 3, ".gz") == 0 && !(files->packed = gzip_stream(files->trace.stream))) {
        cli_fail(c, "the host is out of memory");
        return false;
    }
    o->trace = files->packed ? files->packed : files->trace.stream;
    o->trace_from = from;
    o->trace_to = to;
    o->trace_sms = (uint32_t)sms;
    o->trace_waits = (uint32_t)waits;
    o->samples = files->samples.stream;
    o->profile = cli_has(c, "profile");
    return true;
}

static enum heddle_status commit(const struct cli *c, struct outfile *f) {
    char err[512];
    if (f->stream && (!outfile_flush(f, err, sizeof err) || !outfile_commit(f, err, sizeof err)))
        return cli_error(c, "%s", err);
    return HEDDLE_OK;
}

static enum heddle_status run_open(struct task *r, const struct sim *sim, struct records *files) {
    char err[1024];
    struct heddle *h = heddle_open(&sim->o, err, sizeof err);
    if (!h)
        return cli_error(r->c, "%s", err);
    enum heddle_status status = report(r, h, run_task(r, h, &sim->o)), written = HEDDLE_OK;
    bool figures = status == HEDDLE_OK || status == HEDDLE_WRONG || heddle_incomplete(h, -1);
    if (figures && sim->o.profile)
        written = heddle_print_profile(h, r->to_stdout ? stderr : stdout);
    if (written != HEDDLE_OK)
        complain(h);
    if (heddle_trace_lost(h))
        cli_fail(r->c, "%llu events are missing in %s: the host was out of memory for them",
                 (unsigned long long)heddle_trace_lost(h), cli_value(r->c, "trace"));
    status = cli_checkpoint_end(r->c, h, status);
    heddle_close(h); /* completes the trace */
    end_packed(files);
    if (figures && written == HEDDLE_OK)
        written = commit(r->c, &files->trace);
    if (figures && written == HEDDLE_OK)
        written = commit(r->c, &files->samples);
    return written == HEDDLE_OK ? status : written;
}

/* Discards the buffers that the latest run saved, because a further run of the sampled simulation saves them again. */
static void discard_saved(struct task *r) {
    for (int i = 0; i < r->n_saved; i++)
        outfile_discard(&r->saved[i]);
    free(r->saved);
    r->saved = NULL;
    r->n_saved = 0;
}

/* Runs the task once, in a context with the plan of a sampled simulation. Sets *more if the plan needs another run;
 * otherwise reports. */
static enum heddle_status run_sampled_once(struct task *r, const struct heddle_options *o, bool *more) {
    char err[1024];
    *more = false;
    discard_saved(r);
    struct heddle *h = heddle_open(o, err, sizeof err);
    if (!h)
        return cli_error(r->c, "%s", err);
    /* contexts that the program opens for its checks have no plan */
    struct heddle_options plain = *o;
    plain.plan = NULL;
    enum heddle_status status = run_task(r, h, &plain);
    const bool ended = status == HEDDLE_OK || status == HEDDLE_WRONG;
    if (ended && heddle_plan_settle(h, more) != HEDDLE_OK)
        status = complain(h);
    else if (!*more)
        status = report(r, h, status);
    if (ended && !*more && *heddle_notes(h))
        fprintf(stderr, "heddle run: note: %s", heddle_notes(h));
    heddle_close(h);
    return status;
}

/* Runs the task as a sampled simulation: one run, and further runs if they are needed. */
static enum heddle_status run_sampled(struct task *r, const struct sim *sim, double error) {
    struct heddle_options o = sim->o;
    FILE *nowhere = fopen("/dev/null", "w");
    enum heddle_status status = HEDDLE_USAGE;
    bool more = nowhere && (o.plan = heddle_plan_new(error));
    if (!more)
        cli_fail(r->c, "the host is out of memory");
    for (int n = 0; more; n++) {
        o.device_stdout = n == 0 ? sim->o.device_stdout : nowhere; /* kernels print once */
        status = run_sampled_once(r, &o, &more);
    }
    heddle_plan_free(o.plan);
    if (nowhere)
        fclose(nowhere);
    return status;
}

static enum heddle_status run_with(struct task *r) {
    struct sim sim;
    struct records files = {0};
    struct live *live = NULL;
    uint64_t threads = 1;
    bool sampled = false;
    double error = 0;
    enum heddle_status status = HEDDLE_USAGE;
    if (sim_options(r->c, &sim) && cli_sampled(r->c, sim.o.model, &sampled, &error) && cli_bounds(r->c, &sim) &&
        sim_effective(r->c, model_meant(sim.o.model, cli_has(r->c, "check")), &sim) &&
        cli_number(r->c, "threads", 1, 1024, &threads) && cli_program_options(r->c, &sim.o) &&
        open_records(r->c, &files, &sim.o)) {
        sim.o.threads = (uint32_t)threads;
        sim.o.check = cli_has(r->c, "check");
        sim.o.device_stdout = r->to_stdout ? stderr : NULL;
        if (cli_live(r->c, &sim.o, &live)) {
            live_program(live, r->file);
            status = sampled ? run_sampled(r, &sim, error) : run_open(r, &sim, &files);
        }
    }
    cli_live_end(live);
    end_packed(&files);
    outfile_discard(&files.trace);
    outfile_discard(&files.samples);
    sim_free(&sim);
    return status;
}

static enum heddle_status run(const struct cli *c) {
    struct task r = {.c = c};
    enum heddle_status status = parse(&r) ? run_with(&r) : HEDDLE_USAGE;
    for (int i = 0; i < r.n_saved; i++)
        outfile_discard(&r.saved[i]);
    free(r.saved);
    script_free(r.program);
    request_free(&r.launch);
    free(r.ptx);
    return status;
}

const struct command cmd_run = {
    "run",
    "FILE.heddle | FILE -g X[,Y[,Z]] -b X[,Y[,Z]] [-a SPEC]... | --triton FILE.json -g X[,Y[,Z]] [-a SPEC]... "
    "[OPTION...]",
    "run a program, or a kernel of a PTX file or of a compiled program",
    help_run,
    options,
    run,
    false,
};
