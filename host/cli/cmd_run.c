/* heddle run: one kernel of a PTX file, with arguments from the command line. */
#include "args.h"
#include "cmd.h"
#include "host/models.h"
#include "interrupt.h"
#include "isa/types.h"
#include "module_arg.h"
#include "outfile.h"
#include "texture_arg.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct option_def options[] = {
    {'k', "kernel", "KERNEL", "which kernel; not needed when the file has one"},
    {'g', "grid", "X[,Y[,Z]]", "blocks of the grid"},
    {'b', "block", "X[,Y[,Z]]", "threads of a block"},
    {0, "shared", "BYTES", "dynamic shared memory of a block (K, M: powers of 1024)"},
    {'a', "arg", "SPEC", "the next argument of the kernel, see below"},
    {0, "texture", "NAME=SPEC", "what the .texref or .surfref NAME of the module is, see below"},
    {0, "sampler", "NAME=SPEC", "likewise for a .samplerref, in place of what the module says"},
    SIM_OPTIONS,
    {'j', "threads", "N", "threads of the host (results do not depend on it; functional, with races: see below)"},
    {0, "json", "FILE", "write the result as JSON; - is stdout, and then nothing else is"},
    {0, "profile", NULL, "print what each line of PTX cost: issues, lanes, misses, what warps waited for"},
    {0, "sample", "N", "write the statistics of every N cycles as CSV (see --samples)"},
    {0, "samples", "FILE", "where --sample writes (default samples.csv)"},
    {0, "trace", "FILE", "write what happened when, for chrome://tracing or ui.perfetto.dev"},
    {0, "trace-cycles", "A:B", "only the cycles from A to before B"},
    {0, "check", NULL, "look for mistakes of the kernel while it runs, in the functional model; see below"},
    {0, NULL, NULL, NULL},
};

static const char text[] =
    "FILE is PTX text, or what nvcc made with PTX in it: an executable, an object, a shared object, a .fatbin.\n"
    "KERNEL may be mangled, as in PTX, or as it was written: -k saxpy, -k 'fill<int>'.\n"
    "\n"
    "Arguments are given in the order of the kernel's parameters:\n"
    "  u8: s8: u16: s16: u32: s32: u64: s64: f32: f64:    a VALUE: -a u32:4096 -a f32:1.5 -a s32:-7 -a f32:0f3F800000\n"
    "  in:FILE            a device buffer filled from FILE\n"
    "  out:FILE:BYTES     a zeroed buffer, written to FILE after the run\n"
    "  inout:FILE:OUT     a buffer filled from FILE, written to OUT after the run\n"
    "  zero:BYTES         a zeroed buffer\n"
    "  bytes:FILE         a parameter passed by value (a struct), filled from FILE\n"
    "  tex:TEXTURE        a texture object; surf:TEXTURE a surface object, sampler:PROPERTIES a sampler\n"
    "BYTES takes K, M and G. Files are raw and little-endian. Output files appear only when the run ended well. A run\n"
    "that met --cycle-limit, SIGINT, SIGTERM or SIGHUP writes no buffers, but what it measured until then, marked as\n"
    "incomplete. When a file is -, what the kernel prints and the profile go to stderr.\n"
    "In the functional model, CTAs that race by plain loads and stores may end differently with several threads;\n"
    "-s gpu.order=strict makes them end as with one, in the time of one. Timing models need no such option.\n"
    "\n"
    "A TEXTURE is a buffer and its properties: in:FILE,size=640x480,format=u8x4,read=normalized. The properties:\n"
    "  size=W[xH[xD]]     texels; layers=N of an array; shape=cube; levels=N of a mipmap; pitch=BYTES from row to row\n"
    "  format=f32         or u8 s8 u16 s16 u32 s32 f16, with x2 or x4 channels; read=normalized or element\n"
    "  coords=texels      or normalized; filter=nearest or linear; level-filter=nearest or linear\n"
    "  address=clamp      or wrap mirror border, or one for each dimension: address=wrap/clamp\n"
    "A sampler has those of the last two lines. Layers, faces and levels follow one another without gaps.\n"
    "\n"
    "--check reports reads of memory that was never written (an out: buffer is such memory, a zero: buffer is not),\n"
    "races in shared and global memory, misuse of barriers, of member masks and of malloc() blocks. The kernel runs "
    "to\n"
    "its end; when there are mistakes, the exit status is 3 and no output file is written. See docs/checking.md.\n"
    "\n"
    "Examples:\n"
    "    heddle run vecadd.ptx -g 16 -b 256 -a in:a.bin -a in:b.bin -a out:c.bin:16K -a u32:4096\n"
    "    heddle run lud.ptx -k lud_internal -g 3,3 -b 16,16 -a inout:m.bin:m2.bin -a u32:64 -a u32:0 -m dpe\n"
    "    heddle run kernel.ptx -g 1 -b 32 -m functional -s reconv=dws --cycle-limit 1000000\n"
    "    heddle run blur.ptx -g 40,30 -b 16,16 --texture image=in:i.bin,size=640x480,filter=linear -a out:o.bin:1200K\n"
    "    heddle run kernel.ptx -g 4 -b 128 -a in:a.bin -a out:b.bin:4K --check\n";

/* A launch as the command line says it. */
struct request {
    const struct cli *c;
    const char *file, *json;
    struct heddle_dim grid, block;
    uint32_t shared;
    struct arg *args; /* n_args of the kernel, then those that the module's textures and samplers are bound to */
    int n_args, n_all;
    char **names;   /* n_all: of the module's variable, NULL for the kernel's arguments */
    bool to_stdout; /* an output file is stdout: it has nothing else in it */
};

static bool parse_dim(const struct cli *c, const char *option, const uint32_t max[3], struct heddle_dim *out) {
    const char *value = cli_value(c, option);
    uint32_t v[3] = {1, 1, 1};
    if (!value) {
        cli_error(
            c, "--%s is missing: a kernel needs a grid of blocks (-g X[,Y[,Z]]) and a block of threads (-b X[,Y[,Z]])",
            option);
        return false;
    }
    const char *at = value;
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        errno = 0;
        unsigned long long n = *at >= '0' && *at <= '9' ? strtoull(at, &end, 10) : 0;
        if (!end || errno || (*end && (*end != ',' || i == 2))) {
            cli_error(c, "--%s %s: not of the form X[,Y[,Z]]", option, value);
            return false;
        }
        if (n < 1 || n > max[i]) {
            cli_error(c, "--%s %s: %c is %llu, and must be from 1 to %u", option, value, "XYZ"[i], n, max[i]);
            return false;
        }
        v[i] = (uint32_t)n;
        if (!*end)
            break;
        at = end + 1;
    }
    *out = (struct heddle_dim){v[0], v[1], v[2]};
    return true;
}

static bool parse_shape(struct request *r) {
    static const uint32_t max_grid[3] = {INT32_MAX, MAX_GRID_Y, MAX_GRID_Z};
    static const uint32_t max_block[3] = {MAX_BLOCK_X, MAX_BLOCK_Y, MAX_BLOCK_Z};
    if (!parse_dim(r->c, "grid", max_grid, &r->grid) || !parse_dim(r->c, "block", max_block, &r->block))
        return false;
    uint64_t threads = (uint64_t)r->block.x * r->block.y * r->block.z, shared = 0;
    if (threads > MAX_CTA_THREADS) {
        cli_error(r->c, "--block %s: %llu threads, and a block has at most %d", cli_value(r->c, "block"),
                  (unsigned long long)threads, MAX_CTA_THREADS);
        return false;
    }
    const char *bytes = cli_value(r->c, "shared");
    if (bytes && (!parse_bytes(bytes, &shared) || shared > MAX_SHARED_BYTES)) {
        cli_error(r->c, "--shared takes 0 to %d bytes, not '%s'", MAX_SHARED_BYTES, bytes);
        return false;
    }
    r->shared = (uint32_t)shared;
    return true;
}

/* --texture NAME=SPEC, --sampler NAME=SPEC. */
static bool parse_bound(struct request *r, const struct cli_option *o, char *err, size_t size) {
    bool is_sampler = strcmp(o->def->name, "sampler") == 0;
    const char *equals = strchr(o->value, '=');
    if (!equals || equals == o->value) {
        snprintf(err, size, "--%s %s: not of the form NAME=SPEC", o->def->name, o->value);
        return false;
    }
    struct arg *a = &r->args[r->n_all];
    r->names[r->n_all++] = strndup(o->value, (size_t)(equals - o->value));
    if (!r->names[r->n_all - 1]) {
        snprintf(err, size, "the host is out of memory");
        return false;
    }
    return texture_arg_parse(equals + 1, is_sampler ? ARG_SAMPLER : ARG_TEXTURE, a, err, size);
}

static bool parse_args(struct request *r) {
    char err[512];
    size_t n = (size_t)r->c->n_options + 1;
    r->args = calloc(n, sizeof *r->args);
    r->names = calloc(n, sizeof *r->names);
    if (!r->args || !r->names) {
        cli_fail(r->c, "the host is out of memory");
        return false;
    }
    for (int i = 0; i < r->c->n_options; i++) {
        if (r->c->options[i].def->letter != 'a')
            continue;
        struct arg *a = &r->args[r->n_args];
        r->n_all = ++r->n_args;
        if (!arg_parse(r->c->options[i].value, a, err, sizeof err)) {
            cli_error(r->c, "%s", err);
            return false;
        }
    }
    for (int i = 0; i < r->c->n_options; i++) {
        const char *name = r->c->options[i].def->name;
        if ((strcmp(name, "texture") == 0 || strcmp(name, "sampler") == 0) &&
            !parse_bound(r, &r->c->options[i], err, sizeof err)) {
            cli_error(r->c, "%s", err);
            return false;
        }
    }
    return true;
}

static const char default_samples[] = "samples.csv";

/* The files that an option names, NULL for none. */
static const char *samples_file(const struct cli *c) {
    const char *given = cli_value(c, "samples");
    return !cli_value(c, "sample") ? NULL : given ? given : default_samples;
}

static bool note_output(struct request *r, struct file_uses *u, const char *path, const char *who, const char *input) {
    if (!path)
        return true;
    r->to_stdout |= outfile_is_stdout(path);
    return file_uses_write(u, path, who, input);
}

static bool note_files(struct request *r, struct file_uses *u) {
    const struct cli *c = r->c;
    const char *config = cli_value(c, "config");
    bool ok = file_uses_read(u, r->file, "this command") && (!config || file_uses_read(u, config, "--config")) &&
              note_output(r, u, r->json, "--json", NULL) && note_output(r, u, cli_value(c, "trace"), "--trace", NULL) &&
              note_output(r, u, samples_file(c), "--samples", NULL);
    for (int i = 0; ok && i < r->n_all; i++) {
        const struct arg *a = &r->args[i];
        char who[48];
        snprintf(who, sizeof who, i < r->n_args ? "argument %d" : "texture %d",
                 i < r->n_args ? i + 1 : i - r->n_args + 1);
        ok = (!a->in_file || file_uses_read(u, a->in_file, who)) && note_output(r, u, a->out_file, who, a->in_file);
    }
    return ok;
}

/* All files that the run will write, before it begins. */
static bool check_files(struct request *r) {
    char err[1024] = "the host is out of memory";
    struct file_uses uses = {0};
    bool fine = note_files(r, &uses) && file_uses_check(&uses, err, sizeof err);
    file_uses_free(&uses);
    if (!fine)
        cli_error(r->c, "%s", err);
    return fine;
}

static bool parse(struct request *r) {
    const struct cli *c = r->c;
    if (c->n_words != 1) {
        cli_error(c, c->n_words ? "one file at a time, and '%s' is the second" : "which file?%s",
                  c->n_words ? c->words[1] : "");
        return false;
    }
    r->file = c->words[0];
    r->json = cli_value(c, "json");
    return parse_shape(r) && parse_args(r) && check_files(r);
}

/* A message of the library. */
static enum heddle_status complain(const struct heddle *h) {
    fputs(heddle_error(h), stderr);
    return heddle_status(h);
}

static enum heddle_status check_params(const struct request *r, struct heddle *h, struct heddle_module *m,
                                       const char *kernel) {
    enum { MAX = 4096 };
    struct heddle_param *params = calloc(MAX, sizeof *params);
    if (!params)
        return cli_fail(r->c, "the host is out of memory");
    int n = heddle_params(h, m, kernel, params, MAX);
    enum heddle_status status = HEDDLE_OK;
    if (n < 0)
        status = complain(h);
    else if (n > MAX)
        status = cli_error(r->c, "kernel '%s' has more than %d parameters", kernel, MAX);
    else if (!args_match(r->args, r->n_args, params, n, kernel, heddle_address_size(m), stderr))
        status = HEDDLE_USAGE;
    for (int i = 0; status == HEDDLE_OK && i < r->n_all; i++) {
        char err[512];
        if (!arg_load(&r->args[i], err, sizeof err))
            status = cli_fail(r->c, "%s", err);
        else if (i < n && r->args[i].kind == ARG_BYTES && r->args[i].bytes != params[i].bytes)
            status = cli_error(r->c, "argument '%s': the file has %llu bytes, and parameter '%s' %u", r->args[i].spec,
                               (unsigned long long)r->args[i].bytes, params[i].name, params[i].bytes);
    }
    free(params);
    return status;
}

/* Gives a buffer its device memory. */
static enum heddle_status place_buffer(const struct request *r, struct heddle *h, struct arg *a, int address_size) {
    uint64_t address = heddle_alloc(h, a->bytes);
    if (address && a->kind == ARG_ZERO && heddle_clear(h, address, a->bytes) != HEDDLE_OK)
        return complain(h);
    if (!address || (a->data && heddle_write(h, address, a->data, a->bytes) != HEDDLE_OK))
        return complain(h);
    if (address_size == 32 && !a->object && (address + a->bytes) >> 32)
        return cli_fail(r->c, "argument '%s': the buffers take more than a 32-bit module can address", a->spec);
    memcpy(a->value, &address, sizeof address);
    if (a->texture)
        a->texture->data = address;
    return HEDDLE_OK;
}

/* Makes an object, or binds it to a variable of the module. */
static enum heddle_status place_object(struct heddle *h, struct heddle_module *m, struct arg *a, const char *name) {
    if (name)
        return a->object == ARG_SAMPLER ? heddle_bind_sampler(h, m, name, &a->texture->sampler)
                                        : heddle_bind_texture(h, m, name, a->texture);
    a->handle = a->object == ARG_SAMPLER   ? heddle_sampler_object(h, &a->texture->sampler)
                : a->object == ARG_SURFACE ? heddle_surface_object(h, a->texture)
                                           : heddle_texture_object(h, a->texture);
    return a->handle ? HEDDLE_OK : heddle_status(h);
}

/* Buffers get their device memory, and every argument its bytes. */
static enum heddle_status place(const struct request *r, struct heddle *h, struct heddle_module *m,
                                struct heddle_arg *out) {
    int address_size = heddle_address_size(m);
    for (int i = 0; i < r->n_all; i++) {
        struct arg *a = &r->args[i];
        enum heddle_status status = a->kind < ARG_IN ? HEDDLE_OK : place_buffer(r, h, a, address_size);
        if (status != HEDDLE_OK)
            return status;
        if (a->object && place_object(h, m, a, r->names[i]) != HEDDLE_OK)
            return complain(h);
        if (a->object)
            out[i] = (struct heddle_arg){&a->handle, sizeof a->handle};
        else if (a->kind < ARG_IN)
            out[i] = (struct heddle_arg){a->kind == ARG_BYTES ? a->data : a->value, a->bytes};
        else
            out[i] = (struct heddle_arg){a->value, (size_t)address_size / 8};
    }
    return HEDDLE_OK;
}

/* One result file's content. */
static bool fill_file(const struct request *r, struct heddle *h, int i, struct outfile *f, char *err, size_t size) {
    if (i == r->n_all) {
        if (heddle_write_json(h, f->stream, r->c->argc, r->c->argv, -1) == HEDDLE_OK)
            return true;
        snprintf(err, size, "%s: %.*s", f->path, (int)strcspn(heddle_error(h), "\n"), heddle_error(h));
        return false;
    }
    struct arg *a = &r->args[i];
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

/* Every output file and the JSON: all are written before the first gets its name. Buffers of a run that did not end are
 * not written. */
static enum heddle_status write_files(const struct request *r, struct heddle *h) {
    char err[512] = "";
    int n = r->n_all + 1;
    struct outfile *files = calloc((size_t)n, sizeof *files);
    bool fine = files != NULL;
    for (int i = 0; fine && i < n; i++) {
        const char *path = i == r->n_all ? r->json : heddle_incomplete(h, -1) ? NULL : r->args[i].out_file;
        if (path)
            fine = outfile_open(&files[i], path, err, sizeof err) && fill_file(r, h, i, &files[i], err, sizeof err) &&
                   outfile_flush(&files[i], err, sizeof err);
    }
    for (int i = 0; fine && i < n; i++)
        fine = outfile_commit(&files[i], err, sizeof err);
    for (int i = 0; files && i < n; i++)
        outfile_discard(&files[i]);
    free(files);
    return fine ? HEDDLE_OK : cli_fail(r->c, "%s", *err ? err : "the host is out of memory");
}

static enum heddle_status launch(const struct request *r, struct heddle *h) {
    const char *kernel;
    struct heddle_module *m = cli_module(r->c, h, r->file, &kernel);
    if (!m)
        return HEDDLE_USAGE;
    enum heddle_status status = check_params(r, h, m, kernel);
    struct heddle_arg *args = calloc((size_t)r->n_all + 1, sizeof *args);
    if (!args)
        return cli_fail(r->c, "the host is out of memory");
    if (status == HEDDLE_OK)
        status = place(r, h, m, args);
    if (status == HEDDLE_OK) {
        interrupt_guard(h);
        status = heddle_launch(h, m, kernel, r->grid, r->block, r->shared, args, r->n_args);
        interrupt_unguard();
        if (*heddle_notes(h))
            fprintf(stderr, "heddle run: note: %s", heddle_notes(h));
        if (status != HEDDLE_OK)
            complain(h);
        else if (cli_has(r->c, "check"))
            fputs(heddle_error(h), stderr); /* notes */
    }
    free(args);
    return status;
}

static enum heddle_status launch_and_report(const struct request *r, struct heddle *h) {
    enum heddle_status status = launch(r, h), written;
    if (status != HEDDLE_OK && !heddle_incomplete(h, -1))
        return status;
    if ((written = write_files(r, h)) != HEDDLE_OK)
        return written;
    if (!r->to_stdout)
        heddle_print_stats(h, stdout);
    return status;
}

static void request_free(struct request *r) {
    for (int i = 0; i < r->n_all; i++) {
        arg_free(&r->args[i]);
        free(r->names[i]);
    }
    free(r->args);
    free(r->names);
}

enum heddle_status cli_launch(const struct cli *c, struct heddle *h) {
    struct request r = {.c = c};
    enum heddle_status status = parse(&r) ? launch(&r, h) : HEDDLE_USAGE;
    request_free(&r);
    return status;
}

/* The files that a timing model writes while it runs: they get their names only when the run has ended well. */
struct records {
    struct outfile trace, samples;
};

/* An option that says how another does what it does. */
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
    char rest;
    if (!cli_number(c, "sample", 1, UINT64_MAX, &o->sample_interval) || !needs(c, "samples", "sample") ||
        !needs(c, "trace-cycles", "trace"))
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
    o->trace = files->trace.stream;
    o->trace_from = from;
    o->trace_to = to;
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

static enum heddle_status run_open(const struct request *r, const struct sim *sim, struct records *files) {
    char err[1024];
    struct heddle *h = heddle_open(&sim->o, err, sizeof err);
    if (!h)
        return cli_error(r->c, "%s", err);
    enum heddle_status status = launch_and_report(r, h), written = HEDDLE_OK;
    bool figures =
        status == HEDDLE_OK || status == HEDDLE_STOPPED || (status == HEDDLE_DEADLOCK && heddle_incomplete(h, -1));
    if (figures && sim->o.profile)
        written = heddle_print_profile(h, r->to_stdout ? stderr : stdout);
    if (written != HEDDLE_OK)
        complain(h);
    if (heddle_trace_lost(h))
        cli_fail(r->c, "%llu events are missing in %s: the host was out of memory for them",
                 (unsigned long long)heddle_trace_lost(h), cli_value(r->c, "trace"));
    heddle_close(h); /* completes the trace */
    if (figures && written == HEDDLE_OK)
        written = commit(r->c, &files->trace);
    if (figures && written == HEDDLE_OK)
        written = commit(r->c, &files->samples);
    return written == HEDDLE_OK ? status : written;
}

static enum heddle_status run_request(const struct request *r) {
    struct sim sim;
    struct records files = {0};
    uint64_t threads = 1;
    enum heddle_status status = HEDDLE_USAGE;
    if (sim_options(r->c, &sim) && sim_effective(r->c, model_meant(sim.o.model, cli_has(r->c, "check")), sim.set) &&
        cli_number(r->c, "threads", 1, 1024, &threads) && open_records(r->c, &files, &sim.o)) {
        sim.o.threads = (uint32_t)threads;
        sim.o.check = cli_has(r->c, "check");
        sim.o.device_stdout = r->to_stdout ? stderr : NULL;
        status = run_open(r, &sim, &files);
    }
    outfile_discard(&files.trace);
    outfile_discard(&files.samples);
    sim_free(&sim);
    return status;
}

static enum heddle_status run(const struct cli *c) {
    struct request r = {.c = c};
    enum heddle_status status = parse(&r) ? run_request(&r) : HEDDLE_USAGE;
    request_free(&r);
    return status;
}

const struct command cmd_run = {
    "run",
    "FILE -g X[,Y[,Z]] -b X[,Y[,Z]] [-a SPEC]... [OPTION...]",
    "run a kernel of a PTX file or of a compiled program",
    text,
    options,
    run,
};
