/* Reads and performs the launch that a command line describes. */
#include "request.h"
#include "benchmarks/bench.h"
#include "host/program/texture_arg.h"
#include "host/report/interrupt.h"
#include "input.h"
#include "isa/types.h"
#include "module_arg.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Reads --triton. The metadata replace the options of the launch that they contain. */
static bool parse_triton(struct request *r) {
    static const char *const given[] = {"kernel", "block", "shared", "cluster"};
    const char *path = cli_value(r->c, "triton");
    char err[512];
    for (size_t i = 0; path && i < sizeof given / sizeof *given; i++)
        if (cli_has(r->c, given[i])) {
            cli_error(r->c,
                      "--%s and --triton exclude each other: the metadata name the kernel, and have the number of "
                      "threads, the shared memory and the cluster",
                      given[i]);
            return false;
        }
    if (!path || triton_read(path, &r->triton, err, sizeof err))
        return true;
    cli_error(r->c, "%s", err);
    return false;
}

/* Sets the shape from the metadata of Triton and from --grid, which counts programs of Triton. */
static bool triton_shape(struct request *r, const uint32_t max_grid[3]) {
    const struct triton *t = &r->triton;
    if (!parse_dim(r->c, "grid", max_grid, &r->grid))
        return false;
    const uint64_t grid[3] = {(uint64_t)r->grid.x * t->ctas.x, (uint64_t)r->grid.y * t->ctas.y,
                              (uint64_t)r->grid.z * t->ctas.z};
    for (int i = 0; i < 3; i++)
        if (grid[i] > max_grid[i]) {
            cli_error(r->c,
                      "--grid %s: with %u CTAs for each program, the grid has %llu CTAs in %c, and at most %u are "
                      "possible",
                      cli_value(r->c, "grid"),
                      i == 0   ? t->ctas.x
                      : i == 1 ? t->ctas.y
                               : t->ctas.z,
                      (unsigned long long)grid[i], "XYZ"[i], max_grid[i]);
            return false;
        }
    r->grid = (struct heddle_dim){(uint32_t)grid[0], (uint32_t)grid[1], (uint32_t)grid[2]};
    r->block = (struct heddle_dim){t->threads, 1, 1};
    r->shared = t->shared;
    r->cluster = t->cluster;
    return true;
}

static bool parse_shape(struct request *r) {
    static const uint32_t max_grid[3] = {INT32_MAX, MAX_GRID_Y, MAX_GRID_Z};
    static const uint32_t max_block[3] = {MAX_BLOCK_X, MAX_BLOCK_Y, MAX_BLOCK_Z};
    static const uint32_t max_cluster[3] = {MAX_CLUSTER_CTAS, MAX_CLUSTER_CTAS, MAX_CLUSTER_CTAS};
    if (r->triton.kernel)
        return triton_shape(r, max_grid);
    if (!parse_dim(r->c, "grid", max_grid, &r->grid) || !parse_dim(r->c, "block", max_block, &r->block))
        return false;
    if (cli_value(r->c, "cluster") && !parse_dim(r->c, "cluster", max_cluster, &r->cluster))
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

/* Parses --texture NAME=SPEC and --sampler NAME=SPEC. */
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

/* Adds the buffers that Triton passes after the kernel's own arguments. */
static bool add_scratch(struct request *r, char *err, size_t size) {
    const struct triton *t = &r->triton;
    for (int i = 0; i < t->n_scratch; i++) {
        const uint64_t ctas = (uint64_t)r->grid.x * r->grid.y * r->grid.z;
        char *spec = r->scratch_spec[i];
        if (t->scratch[i])
            snprintf(spec, sizeof r->scratch_spec[i], "zero:%llu", (unsigned long long)(ctas * t->scratch[i]));
        else
            memcpy(spec, "u64:0", sizeof "u64:0");
        struct arg *a = &r->args[r->n_args];
        r->n_all = ++r->n_args;
        if (!arg_parse(spec, a, err, size))
            return false;
    }
    return true;
}

static bool parse_args(struct request *r) {
    char err[512];
    size_t n = (size_t)r->c->n_options + 1 + TRITON_MAX_SCRATCH;
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
    if (!add_scratch(r, err, sizeof err)) {
        cli_error(r->c, "%s", err);
        return false;
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

/* Checks that the file exists. This is the first check, because with a wrong file name, messages about other options
 * would mislead. */
static bool is_there(const struct cli *c, const char *file) {
    if (strcmp(file, "-") == 0 || access(file, F_OK) == 0)
        return true;
    cli_error(c, "%s: %s%s", file, strerror(errno),
              bench_find(file) ? "; the built-in program of this name is run by 'heddle bench'" : "");
    return false;
}

/* Resolves the path of an argument's input file, which may be a pipe. */
static bool take_input(struct request *r, int i, char *err, size_t size) {
    struct arg *a = &r->args[i];
    char who[48];
    if (!a->in_file)
        return true;
    request_reader(r, i, who, sizeof who);
    const char *path = cli_input(r->c, a->spec, a->in_file, who, err, size);
    char *copy = path ? strdup(path) : NULL;
    if (path && !copy)
        snprintf(err, size, "the host is out of memory");
    if (!copy)
        return false;
    free(a->in_file);
    a->in_file = copy;
    return true;
}

/* Reads inputs that are pipes to their end. This comes after all checks that do not need their content. */
static bool take_inputs(struct request *r) {
    char err[512];
    bool fine = (r->path = cli_input(r->c, r->file, r->file, "this command", err, sizeof err)) != NULL;
    for (int i = 0; fine && i < r->n_all; i++)
        fine = take_input(r, i, err, sizeof err);
    if (!fine)
        cli_error(r->c, "%s", err);
    return fine;
}

void request_reader(const struct request *r, int i, char *out, size_t size) {
    snprintf(out, size, i < r->n_args ? "argument %d" : "texture %d", i < r->n_args ? i + 1 : i - r->n_args + 1);
}

bool request_parse(struct request *r, const struct cli *c, const char *file) {
    *r = (struct request){.c = c, .file = file, .kernel = cli_value(c, "kernel")};
    return is_there(c, file) && parse_triton(r) && parse_shape(r) && parse_args(r) && take_inputs(r);
}

/* Prints the library's message. */
static enum heddle_status complain(const struct heddle *h, FILE *say) {
    fputs(heddle_error(h), say);
    return heddle_status(h);
}

__attribute__((format(printf, 3, 4))) static enum heddle_status told(const struct request *r, FILE *say,
                                                                     const char *fmt, ...) {
    va_list args;
    if (say == stderr)
        fprintf(say, "heddle %s: ", r->c->command->name);
    va_start(args, fmt);
    vfprintf(say, fmt, args);
    va_end(args);
    fputc('\n', say);
    return HEDDLE_USAGE;
}

static enum heddle_status check_params(const struct request *r, struct heddle *h, struct heddle_module *m,
                                       const char *kernel, FILE *say) {
    enum { MAX = 4096 };
    struct heddle_param *params = malloc(MAX * sizeof *params);
    if (!params)
        return told(r, say, "the host is out of memory");
    int n = heddle_params(h, m, kernel, params, MAX);
    enum heddle_status status = HEDDLE_OK;
    if (n < 0)
        status = complain(h, say);
    else if (n > MAX)
        status = told(r, say, "kernel '%s' has more than %d parameters", kernel, MAX);
    else if (!args_match(r->args, r->n_args, params, n, kernel, heddle_address_size(m),
                         r->triton.n_scratch ? "-a, then the buffers that Triton adds, " : "-a, ", say))
        status = HEDDLE_USAGE;
    for (int i = 0; status == HEDDLE_OK && i < r->n_all; i++) {
        char err[512];
        if (!arg_load(&r->args[i], err, sizeof err))
            status = told(r, say, "%s", err);
        else if (i < n && r->args[i].kind == ARG_BYTES && r->args[i].bytes != params[i].bytes)
            status = told(r, say, "argument '%s': the file has %llu bytes, and parameter '%s' %u", r->args[i].spec,
                          (unsigned long long)r->args[i].bytes, params[i].name, params[i].bytes);
    }
    free(params);
    return status;
}

/* Copies the argument's file to its buffer. The host never holds a second copy of a large file. */
static enum heddle_status fill_buffer(const struct request *r, struct heddle *h, const struct arg *a, uint64_t address,
                                      FILE *say) {
    enum { CHUNK = 1 << 20 };
    const size_t most = a->bytes < CHUNK ? (size_t)a->bytes : CHUNK;
    unsigned char *chunk = malloc(most);
    if (!chunk)
        return told(r, say, "the host is out of memory");
    enum heddle_status status = HEDDLE_OK;
    for (uint64_t at = 0; at < a->bytes && status == HEDDLE_OK;) {
        const ssize_t n = pread(fileno(a->in), chunk, a->bytes - at < most ? a->bytes - at : most, (off_t)at);
        if (n <= 0)
            status = told(r, say, "argument '%s': the file cannot be read%s", a->spec, n ? "" : ": it became shorter");
        else if (heddle_write(h, address + at, chunk, (uint64_t)n) != HEDDLE_OK)
            status = complain(h, say);
        else
            at += (uint64_t)n;
    }
    free(chunk);
    return status;
}

/* Allocates and fills an argument's buffer. */
static enum heddle_status place_buffer(const struct request *r, struct heddle *h, struct arg *a, int address_size,
                                       FILE *say) {
    uint64_t address = heddle_alloc(h, a->bytes);
    /* A new buffer contains zeros. To write them again would touch each page, and the buffer may be larger than the
     * host's memory; only the checker needs to be told. */
    const bool tells = a->kind == ARG_ZERO && cli_has(r->c, "check");
    if (address && tells && heddle_clear(h, address, a->bytes) != HEDDLE_OK)
        return complain(h, say);
    if (!address)
        return complain(h, say);
    const enum heddle_status status = a->in ? fill_buffer(r, h, a, address, say) : HEDDLE_OK;
    if (status != HEDDLE_OK)
        return status;
    if (address_size == 32 && !a->object && (address + a->bytes) >> 32)
        return told(r, say, "argument '%s': the buffers take more than a 32-bit module can address", a->spec);
    memcpy(a->value, &address, sizeof address);
    if (a->texture)
        a->texture->data = address;
    return HEDDLE_OK;
}

/* Makes a texture, surface or sampler object for a kernel argument; or, if `name` is not NULL, binds the texture or
 * sampler to this variable of the module. */
static enum heddle_status place_object(struct heddle *h, struct heddle_module *m, struct arg *a, const char *name) {
    if (name)
        return a->object == ARG_SAMPLER ? heddle_bind_sampler(h, m, name, &a->texture->sampler)
                                        : heddle_bind_texture(h, m, name, a->texture);
    a->handle = a->object == ARG_SAMPLER   ? heddle_sampler_object(h, &a->texture->sampler)
                : a->object == ARG_SURFACE ? heddle_surface_object(h, a->texture)
                                           : heddle_texture_object(h, a->texture);
    return a->handle ? HEDDLE_OK : heddle_status(h);
}

/* Allocates all buffers and builds the list of kernel arguments. */
static enum heddle_status place(const struct request *r, struct heddle *h, struct heddle_module *m,
                                struct heddle_arg *out, FILE *say) {
    int address_size = heddle_address_size(m);
    for (int i = 0; i < r->n_all; i++) {
        struct arg *a = &r->args[i];
        enum heddle_status status = a->kind < ARG_IN ? HEDDLE_OK : place_buffer(r, h, a, address_size, say);
        if (status != HEDDLE_OK)
            return status;
        if (a->object && place_object(h, m, a, r->names[i]) != HEDDLE_OK)
            return complain(h, say);
        if (a->object)
            out[i] = (struct heddle_arg){&a->handle, sizeof a->handle};
        else if (a->kind < ARG_IN)
            out[i] = (struct heddle_arg){a->kind == ARG_BYTES ? a->data : a->value, a->bytes};
        else
            out[i] = (struct heddle_arg){a->value, (size_t)address_size / 8};
    }
    return HEDDLE_OK;
}

/* Loads the module, makes the buffers, and launches. Messages go to `say`. */
static enum heddle_status request_launch(const struct request *r, struct heddle *h, FILE *say) {
    const char *kernel;
    struct heddle_module *m = cli_module(r->c, h, r->file, &kernel, say);
    if (!m)
        return HEDDLE_USAGE;
    if (r->triton.kernel && strcmp(r->triton.kernel, kernel) != 0)
        return told(r, say, "%s: \"name\" is '%s', but the kernel of %s is '%s'", cli_value(r->c, "triton"),
                    r->triton.kernel, r->file, kernel);
    enum heddle_status status = check_params(r, h, m, kernel, say);
    struct heddle_arg *args = calloc((size_t)r->n_all + 1, sizeof *args);
    if (!args)
        return told(r, say, "the host is out of memory");
    if (status == HEDDLE_OK)
        status = place(r, h, m, args, say);
    if (status == HEDDLE_OK) {
        heddle_set_clusters(h, r->cluster, true); /* a user who asks for a large cluster allows it */
        status = heddle_launch(h, m, kernel, r->grid, r->block, r->shared, args, r->n_args);
        if (status != HEDDLE_OK)
            complain(h, say);
    }
    free(args);
    return status;
}

void request_free(struct request *r) {
    for (int i = 0; i < r->n_all; i++) {
        arg_free(&r->args[i]);
        free(r->names[i]);
    }
    free(r->args);
    free(r->names);
    triton_free(&r->triton);
}

enum heddle_status request_guarded(const struct request *r, struct heddle *h) {
    interrupt_guard(h);
    enum heddle_status status = request_launch(r, h, stderr);
    interrupt_unguard();
    if (*heddle_notes(h))
        fprintf(stderr, "heddle %s: note: %s", r->c->command->name, heddle_notes(h));
    return status;
}

enum heddle_status cli_launch(const struct cli *c, struct heddle *h) {
    struct request r;
    enum heddle_status status = request_parse(&r, c, c->words[0]) ? request_guarded(&r, h) : HEDDLE_USAGE;
    request_free(&r);
    return status;
}

static bool is_of_launch(const char *option) {
    static const struct option_def defs[] = {LAUNCH_OPTIONS};
    for (size_t i = 0; i < sizeof defs / sizeof *defs; i++)
        if (strcmp(defs[i].name, option) == 0)
            return true;
    return false;
}

const char *request_option(const struct cli *c) {
    for (int i = 0; i < c->n_options; i++)
        if (is_of_launch(c->options[i].def->name))
            return c->options[i].def->name;
    return NULL;
}

/* A launch that serves as a benchmark. `request` was parsed when the benchmark was made; it gives the input files. */
struct launch_own {
    struct own own;
    struct request request;
    char *label, *launch;
};

/* Parses the options again, since each run needs its own buffers. */
static enum heddle_status run_own(const struct own *o, struct heddle *h, const struct script_host *host,
                                  enum bench_size size, char *why, size_t why_size) {
    (void)host, (void)size;
    struct request r;
    FILE *say = fmemopen(why, why_size, "w");
    if (!say)
        return bench_no_memory(why, why_size);
    enum heddle_status status = request_parse(&r, ((const struct launch_own *)o)->request.c, o->bench.name)
                                    ? request_launch(&r, h, say)
                                    : HEDDLE_USAGE;
    fclose(say);
    request_free(&r);
    return status;
}

static const char *file_own(const struct own *o, int n) {
    const struct request *r = &((const struct launch_own *)o)->request;
    if (n == 0)
        return r->path;
    for (int i = 0; i < r->n_all; i++)
        if (r->args[i].in_file && --n == 0)
            return r->args[i].in_file;
    return NULL;
}

static void free_own(struct own *o) {
    struct launch_own *l = (struct launch_own *)o;
    request_free(&l->request);
    free(l->label);
    free(l->launch);
    free(l);
}

/* Writes the options of the launch as text: `label` is a short form for tables, and `launch` has all options. */
static bool describe(struct launch_own *l, const char *file) {
    const struct cli *c = l->request.c;
    size_t len;
    FILE *label = open_memstream(&l->label, &len), *all = open_memstream(&l->launch, &len);
    if (label)
        fputs(file, label);
    for (int i = 0; label && all && i < c->n_options; i++) {
        const struct cli_option *o = &c->options[i];
        if (!is_of_launch(o->def->name))
            continue;
        fprintf(all, "--%s %s\n", o->def->name, o->value);
        if (o->def->letter && o->def->letter != 'a')
            fprintf(label, " -%c %s", o->def->letter, o->value);
    }
    bool fine = label && all;
    fine = (!label || fclose(label) == 0) && fine;
    fine = (!all || fclose(all) == 0) && fine;
    l->own.label = l->label;
    l->own.launch = l->launch;
    return fine;
}

struct own *request_own(const struct cli *c, const char *file) {
    struct launch_own *l = calloc(1, sizeof *l);
    if (!l) {
        cli_fail(c, "the host is out of memory");
        return NULL;
    }
    l->own = (struct own){.run = run_own, .file = file_own, .free = free_own};
    l->own.bench.name = file;
    l->own.bench.help = l->own.bench.sets = "";
    bool fine = request_parse(&l->request, c, file), described = fine && describe(l, file);
    if (described)
        return &l->own;
    if (fine)
        cli_fail(c, "the host is out of memory");
    free_own(&l->own);
    return NULL;
}
