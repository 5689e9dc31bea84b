/* heddle inspect: shows kernels as the simulator sees them: parameters, resources, programs, paths. */
#include "cmd.h"
#include "help.h"
#include "host/models.h"
#include "host/report/outfile.h"
#include "module_arg.h"
#include <stdlib.h>
#include <string.h>

static const struct option_def options[] = {
    LAUNCH_OPTIONS,
    {0, "pass", "NAME", "the program after this pass ('heddle list passes'), not the final one"},
    {'m', "model", "MODEL", "the model that the program is for (default functional; with --paths: spe)"},
    {'c', "config", "CONFIG", "the machine: a preset or a file (default fermi; 'heddle list configs')"},
    {'s', "set", "KEY=VALUE", "one option of the machine; may be repeated ('heddle list options')"},
    {0, "cycle-limit", "N", "--paths: give up after N warp instructions"},
    {0, "paths", NULL, "run the kernel (-g -b -a as for 'heddle run') and draw the paths of one warp"},
    {0, "warp", "N", "the warp to draw, in the order of their start (default 0)"},
    {0, "svg", "FILE", "also draw as SVG into FILE"},
    {0, NULL, NULL, NULL},
};

static enum heddle_status complain(const struct heddle *h) {
    fflush(stdout);
    fputs(heddle_error(h), stderr);
    return heddle_status(h);
}

static void print_dim(const char *what, struct heddle_dim d) {
    if (d.x)
        printf("  %-14s %ux%ux%u threads\n", what, d.x, d.y, d.z);
}

static enum heddle_status print_params(struct heddle *h, struct heddle_module *m, const char *kernel) {
    enum { MAX = 64 };
    struct heddle_param p[MAX];
    int n = heddle_params(h, m, kernel, p, MAX);
    if (n < 0)
        return complain(h);
    for (int i = 0; i < n && i < MAX; i++)
        printf("  %-14s %s %s, %u bytes at %u\n", i ? "" : "parameters", p[i].type, p[i].name, p[i].bytes, p[i].offset);
    if (n > MAX)
        printf("  %-14s and %d more\n", "", n - MAX);
    return HEDDLE_OK;
}

static enum heddle_status print_kernel(struct heddle *h, struct heddle_module *m, const char *kernel, const char *pass,
                                       bool is_function) {
    struct heddle_kernel_info info;
    if (heddle_kernel_info(h, m, kernel, &info) != HEDDLE_OK)
        return complain(h);
    char written[512];
    heddle_demangle(kernel, written, sizeof written);
    printf("%s\n", kernel);
    if (strcmp(written, kernel) != 0)
        printf("  %-14s %s\n", "in C++", written);
    enum heddle_status status = is_function ? HEDDLE_OK : print_params(h, m, kernel);
    if (status != HEDDLE_OK)
        return status;
    printf("  %-14s %u of 32 bits a thread\n", "registers", info.registers);
    printf("  %-14s %u bytes a block\n", "shared", info.shared_bytes);
    printf("  %-14s %u bytes a thread\n", "local", info.local_bytes);
    print_dim("block must be", info.required_block);
    print_dim("block at most", info.largest_block);
    printf("  %-14s %u instructions in %u blocks", "program", info.instructions, info.blocks);
    if (info.functions > 1)
        printf(", %u functions", info.functions);
    printf("%s%s\n\n", pass ? "; after the pass " : "", pass ? pass : "");
    return HEDDLE_OK;
}

/* Prints what is known about one kernel or function, and its listing. The listing is made first, so that on failure
 * only the error message is printed. */
static enum heddle_status inspect(struct heddle *h, struct heddle_module *m, const char *kernel, const char *pass,
                                  bool is_function) {
    char *listing = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&listing, &size);
    enum heddle_status status = HEDDLE_USAGE;
    if (!to)
        fputs("the host is out of memory\n", stderr);
    else if (heddle_listing(h, m, kernel, pass, to) != HEDDLE_OK)
        status = complain(h);
    else
        status = HEDDLE_OK;
    /* when memory runs out, some C libraries report no error but leave the buffer NULL */
    if (to && (fclose(to) != 0 || !listing) && status == HEDDLE_OK) {
        fputs("the host is out of memory\n", stderr);
        status = HEDDLE_USAGE;
    }
    if (status == HEDDLE_OK)
        status = print_kernel(h, m, kernel, pass, is_function);
    if (status == HEDDLE_OK)
        printf("%s\n", listing);
    free(listing);
    return status;
}

static bool is_function(const struct heddle_module *m, const char *name) {
    const char *known;
    for (int i = 0; (known = heddle_function(m, i)); i++)
        if (strcmp(known, name) == 0)
            return true;
    return false;
}

/* Inspects all kernels of a module, or its functions if it has no kernels. */
static enum heddle_status inspect_module(const struct cli *c, struct heddle *h, struct heddle_module *m) {
    const char *pass = cli_value(c, "pass"), *name;
    enum heddle_status first = HEDDLE_OK;
    int n = 0;
    for (; (name = heddle_kernel(m, n)); n++) {
        enum heddle_status status = inspect(h, m, name, pass, false);
        if (first == HEDDLE_OK)
            first = status;
    }
    for (int i = 0; n == 0 && (name = heddle_function(m, i)); i++) {
        if (i == 0)
            printf("%s has no kernel (.entry); its functions:\n\n", c->words[0]);
        enum heddle_status status = inspect(h, m, name, pass, true);
        if (first == HEDDLE_OK)
            first = status;
    }
    if (n == 0 && !heddle_function(m, 0))
        printf("%s has neither kernels nor functions with a body\n", c->words[0]);
    return first;
}

static enum heddle_status inspect_all(const struct cli *c, struct heddle *h) {
    const char *kernel;
    struct heddle_module *m;
    if (cli_value(c, "kernel")) {
        m = cli_module(c, h, c->words[0], &kernel, stderr);
        return m ? inspect(h, m, kernel, cli_value(c, "pass"), is_function(m, kernel)) : HEDDLE_USAGE;
    }
    enum heddle_status first = HEDDLE_OK;
    for (int n = 0; (m = cli_module_part(c, h, c->words[0], n)); n++) {
        enum heddle_status status = inspect_module(c, h, m);
        if (first == HEDDLE_OK)
            first = status;
    }
    return first == HEDDLE_OK && heddle_status(h) != HEDDLE_OK ? complain(h) : first;
}

static enum heddle_status draw(const struct cli *c, struct heddle *h) {
    uint64_t warp = 0;
    char err[512];
    const char *path = cli_value(c, "svg");
    struct outfile svg = {0};
    if (!cli_number(c, "warp", 0, HEDDLE_NO_WARP - 1, &warp))
        return HEDDLE_USAGE;
    struct file_uses uses = {0};
    snprintf(err, sizeof err, "the host is out of memory");
    bool fine = (strcmp(c->words[0], "-") == 0 || file_uses_read(&uses, c->words[0], "this command")) &&
                (!path || file_uses_write(&uses, path, "--svg", NULL)) && file_uses_check(&uses, err, sizeof err);
    file_uses_free(&uses);
    if (!fine)
        return cli_error(c, "%s", err);
    enum heddle_status status = heddle_record_paths(h, (uint32_t)warp);
    if (status != HEDDLE_OK)
        return complain(h);
    if ((status = cli_launch(c, h)) != HEDDLE_OK)
        return status;
    if (path && !outfile_open(&svg, path, err, sizeof err))
        return cli_error(c, "%s", err);
    if (heddle_print_paths(h, outfile_is_stdout(path) ? NULL : stdout, path ? svg.stream : NULL) != HEDDLE_OK)
        status = complain(h);
    else if (path && (!outfile_flush(&svg, err, sizeof err) || !outfile_commit(&svg, err, sizeof err)))
        status = cli_error(c, "%s", err);
    if (path)
        outfile_discard(&svg);
    return status;
}

/* Handles --paths, which runs the functional model. The model that the user chose becomes the first assignment
 * reconv=MODEL, so that an assignment by the user can replace it. */
static enum heddle_status run_paths(const struct cli *c, struct sim *sim) {
    char err[1024], *reconv = NULL;
    const char *model = sim->o.model && strcmp(sim->o.model, "functional") != 0 ? sim->o.model : MODEL_DEFAULT;
    const char **set = calloc((size_t)c->n_options + 2, sizeof *set);
    if (!set || asprintf(&reconv, "reconv=%s", model) < 0) {
        free(set);
        return cli_fail(c, "the host is out of memory");
    }
    set[0] = reconv;
    for (int i = 0; sim->set[i]; i++)
        set[1 + i] = sim->set[i];
    sim->o.model = "functional";
    sim->o.set = set;
    struct heddle *h = heddle_open(&sim->o, err, sizeof err);
    enum heddle_status status = h ? draw(c, h) : cli_fail(c, "%s", err);
    heddle_close(h);
    free(reconv);
    free(set);
    return status;
}

static enum heddle_status run_listing(const struct cli *c, struct sim *sim) {
    char err[1024];
    if (!sim->o.model)
        sim->o.model = "functional";
    struct heddle *h = heddle_open(&sim->o, err, sizeof err);
    enum heddle_status status = h ? inspect_all(c, h) : cli_fail(c, "%s", err);
    heddle_close(h);
    return status;
}

static enum heddle_status run(const struct cli *c) {
    struct sim sim;
    if (c->n_words != 1)
        return cli_error(c, c->n_words ? "one file at a time" : "which file?");
    enum heddle_status status = HEDDLE_USAGE;
    if (sim_options(c, &sim))
        status = cli_has(c, "paths") ? run_paths(c, &sim) : run_listing(c, &sim);
    sim_free(&sim);
    return status;
}

const struct command cmd_inspect = {
    "inspect",
    "FILE [-k KERNEL] [--pass NAME]",
    "show a PTX file or compiled program as the simulator sees it: registers, blocks, program",
    help_inspect,
    options,
    run,
    false,
};
