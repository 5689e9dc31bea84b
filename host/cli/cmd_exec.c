/* heddle exec: runs an unmodified CUDA program with Heddle's runtime library in place of NVIDIA's. */
#include "cmd.h"
#include "exec_sampled.h"
#include "help.h"
#include "host/live/live.h"
#include "host/load/elf_load.h"
#include "host/load/follow.h"
#include "host/models.h"
#include "host/report/outfile.h"
#include "host/results/results_db.h"
#include "timing/config/config.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct option_def options[] = {
    SIM_OPTIONS,
    {'j', "threads", "N", "host threads, as for 'heddle run'"},
    {0, "json", "FILE", "write the result as JSON when the program ends, not the table"},
    {0, "json-launches", NULL, "JSON of each launch, not of the sum of each kernel (10 KB a launch)"},
    {0, "results", "FILE", "add the run to a database of results when the program ends ('heddle results')"},
    BOUNDS_OPTION,
    SAMPLED_OPTIONS,
    {0, "check", NULL, "find mistakes of the kernels, in the functional model (docs/checking.md)"},
    {0, "no-redirect", NULL, "do not redirect a CUDA runtime inside the program; such a program then fails"},
    LIVE_OPTION,
    PROGRAM_OPTIONS,
    {'q', "quiet", NULL, "no table of kernels on stderr when the program ends"},
    {0, NULL, NULL, NULL},
};

static bool is_regular(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Finds the program's file by PATH, as the shell does. Also finds a file of the current folder that cannot be executed,
 * so that check_program() names the reason. */
static bool find_program(const char *word, char *out, size_t size) {
    if (strchr(word, '/') || (is_regular(word) && access(word, X_OK) != 0))
        return snprintf(out, size, "%s", word) < (int)size;
    const char *path = getenv("PATH");
    for (const char *at = path ? path : ""; *at; at += strcspn(at, ":"), at += *at == ':') {
        int n = snprintf(out, size, "%.*s/%s", (int)strcspn(at, ":"), at, word);
        if (n > 0 && (size_t)n < size && is_regular(out) && access(out, X_OK) == 0)
            return true;
    }
    return false;
}

/* Reports that no folder of PATH has the program. */
static enum heddle_status not_found(const struct cli *c, const char *word) {
    struct stat st;
    if (is_regular(word))
        return cli_fail(c, "%s: no folder of PATH has this program; for the file in this folder, write './%s'", word,
                        word);
    if (stat(word, &st) == 0 && S_ISDIR(st.st_mode))
        return cli_fail(c, "%s: it is a folder, not a program", word);
    return cli_fail(c, "%s: neither this folder nor a folder of PATH has this program", word);
}

/* Reports why the file cannot be executed. `error` is the errno of its access; 0: it is no regular file. */
static enum heddle_status not_executable(const struct cli *c, const char *path, int error) {
    const size_t len = strlen(path);
    if (!error)
        return cli_fail(c, "%s: it is no file to execute", path);
    if (error != EACCES || access(path, R_OK) != 0)
        return cli_fail(c, "%s: %s", path, strerror(error));
    if (len > 4 && strcmp(path + len - 4, ".ptx") == 0)
        return cli_fail(c, "%s: it is PTX, not a program: 'heddle run' runs a kernel of PTX", path);
    if (len > 3 && strcmp(path + len - 3, ".cu") == 0)
        return cli_fail(c, "%s: it is source code, not a program: compile it with 'nvcc'", path);
    return cli_fail(c, "%s: the file is not executable; if it is a program, 'chmod +x' makes it executable", path);
}

/* Returns why Heddle cannot replace a CUDA runtime that is linked into the program; NULL: it can. */
static const char *cannot_redirect(const struct cli *c, enum elf_runtime runtime, bool kernels) {
    if (runtime == ELF_RUNTIME_STRIPPED)
        return "its table of symbols, by which Heddle would find the runtime, is stripped: do not strip it";
    if (runtime == ELF_RUNTIME_STATIC && kernels && cli_has(c, "no-redirect"))
        return "--no-redirect leaves it there: leave out the option";
    return NULL;
}

/* Inspects the program's file: reports a reason why the program cannot run, and sets *newest to the architecture of its
 * newest PTX (75 for compute_75; 0 if it has no PTX). Treats a file that is not ELF as a script. */
static enum heddle_status check_content(const struct cli *c, const char *path, const void *data, size_t len,
                                        uint32_t *newest) {
    enum elf_runtime runtime = elf_is_device_file(data, len) ? elf_runtime(data, len) : ELF_RUNTIME_NONE;
    if (runtime != ELF_RUNTIME_NONE && elf_is_object(data, len))
        return cli_fail(c, "%s: it is an object file, not a program: link it with 'nvcc'", path);
    if (runtime != ELF_RUNTIME_NONE && elf_is_static(data, len))
        return cli_fail(c,
                        "%s: it is linked statically, without the dynamic linker, so that Heddle's libraries cannot be "
                        "loaded: link it without '-static'",
                        path);
    struct device_code code = {0};
    bool kernels = runtime != ELF_RUNTIME_NONE && elf_device_code(data, len, UINT32_MAX, &code);
    enum heddle_status status = HEDDLE_OK;
    const char *why = cannot_redirect(c, runtime, kernels);
    if (why)
        status = cli_fail(
            c, "%s: CUDA's runtime is linked into it, and %s, or link it again with 'nvcc -cudart shared'", path, why);
    else if (!kernels && code.machine)
        status = cli_fail(c, "%s: %s", path, code.error ? code.error : "the host is out of memory");
    *newest = device_code_newest(&code);
    device_code_free(&code);
    return status;
}

static enum heddle_status check_program(const struct cli *c, const char *path, uint32_t *newest) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        not_executable(c, path, fd >= 0 && !S_ISREG(st.st_mode) ? 0 : errno);
        if (fd >= 0)
            close(fd);
        return HEDDLE_USAGE;
    }
    enum heddle_status status = HEDDLE_OK;
    void *data = st.st_size ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (data != MAP_FAILED) {
        status = check_content(c, path, data, (size_t)st.st_size, newest);
        munmap(data, (size_t)st.st_size);
    }
    return status == HEDDLE_OK && access(path, X_OK) != 0 ? not_executable(c, path, errno) : status;
}

/* Checks the options once here, so that the program's CUDA calls do not each fail on a mistake. */
static enum heddle_status check_options(const struct cli *c, const struct sim *sim, uint32_t newest) {
    char err[1024];
    struct follow follow;
    struct heddle_options o = sim->o;
    follow_ptx(&follow, newest);
    if (!o.config)
        o.config = getenv("HEDDLE_CONFIG") ? getenv("HEDDLE_CONFIG") : follow.preset;
    struct heddle *h = heddle_open(&o, err, sizeof err);
    heddle_close(h);
    if (!h)
        return cli_error(c, "%s", err);
    const char *where = cli_value(c, "live");
    struct live *live = where ? live_open(where, "", err, sizeof err) : NULL;
    live_close(live);
    if (where && !live)
        return cli_fail(c, "--live: %s", err);
    const char *json = cli_value(c, "json"), *file = cli_value(c, "results");
    if ((json && !outfile_possible(json, err, sizeof err)) ||
        (o.checkpoint && !outfile_possible(o.checkpoint, err, sizeof err)))
        return cli_fail(c, "%s", err);
    struct results_db *db = file ? results_open(file, true, err, sizeof err) : NULL;
    results_close(db);
    return db || !file ? HEDDLE_OK : cli_fail(c, "%s", err);
}

/* Finds the folder of Heddle's libcudart.so: beside the heddle binary in a build, or in the installation folder. */
static bool library_folder(char *out, size_t size) {
    static const char *const beside[] = {"cuda", "../lib/heddle"};
    char exe[PATH_MAX], path[2 * PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[len > 0 ? len : 0] = '\0';
    const char *folder = dirname(exe);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s/libcudart.so.13", folder, beside[i]);
        if (access(path, R_OK) == 0)
            return snprintf(out, size, "%s/%s", folder, beside[i]) < (int)size;
    }
    return false;
}

/* Passes the folder of presets to the program in the environment, because Heddle's library in the program would search
 * beside the program's file. */
static void pass_presets(void) {
    char path[PATH_MAX], full[PATH_MAX];
    if (config_find_preset("fermi", path, sizeof path) && realpath(path, full))
        setenv("HEDDLE_CONFIGS", dirname(full), 1);
}

static bool pass(const char *name, const char *value) { return !value || setenv(name, value, 1) == 0; }

/* Sets an environment variable to an absolute path, which stays valid if the program changes its folder. */
static bool pass_path(const char *name, const char *path) {
    char full[2 * PATH_MAX], folder[PATH_MAX];
    if (!path || path[0] == '/')
        return pass(name, path);
    return getcwd(folder, sizeof folder) && snprintf(full, sizeof full, "%s/%s", folder, path) > 0 && pass(name, full);
}

static bool pass_bytes(const char *name, uint64_t bytes) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)bytes);
    return pass(name, bytes ? text : NULL);
}

/* Puts a library of Heddle at the beginning of an environment variable with a list for the dynamic linker. A path with
 * blanks cannot be in LD_PRELOAD; then LD_PRELOAD gets only the file name, and the linker searches LD_LIBRARY_PATH, to
 * which pass_options() adds the folder. */
static bool pass_before(const char *name, const char *folder, const char *library) {
    char list[4 * PATH_MAX];
    const char *old = getenv(name);
    bool by_name = strchr(folder, ' ') != NULL;
    int n = snprintf(list, sizeof list, "%s%s%s%s%s", by_name ? "" : folder, by_name ? "" : "/", library,
                     old && *old ? ":" : "", old ? old : "");
    return n > 0 && n < (int)sizeof list && setenv(name, list, 1) == 0;
}

static bool pass_set(const struct sim *sim) {
    char *all = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&all, &len);
    for (const char *const *s = sim->o.set; f && *s; s++)
        fprintf(f, "%s\n", *s);
    bool ok = f && fclose(f) == 0 && (!len || pass("HEDDLE_SET", all));
    free(all);
    return ok;
}

/* Returns true if a folder of the colon-separated list contains the library. */
static bool in_folders(const char *folders, const char *name) {
    char path[PATH_MAX];
    for (size_t len; folders && *folders; folders += len + (folders[len] == ':')) {
        len = strcspn(folders, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", (int)len, folders, name) < (int)sizeof path &&
            access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* Returns true if the linker's cache lists an existing file of this name. The search takes the cache file as a sequence
 * of zero-terminated texts. */
static bool in_cache(const char *cache, size_t size, const char *name) {
    size_t len = strlen(name) + 1;
    for (const char *p = cache, *end = cache + size; (p = memmem(p, (size_t)(end - p), name, len)); p += len) {
        const char *first = p;
        while (first > cache && first[-1])
            first--;
        if (*first == '/' && first < p && p[-1] == '/' && access(first, R_OK) == 0)
            return true;
    }
    return false;
}

/* Returns true if the system has the toolkit's libnvrtc. The test does not load the library, since loading takes longer
 * than a small program runs. */
static bool has_nvrtc(void) {
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
    struct stat s;
    int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    char *cache = fd >= 0 && fstat(fd, &s) == 0 && s.st_size > 0
                      ? mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                      : MAP_FAILED;
    bool found = false;
    for (size_t i = 0; !found && i < sizeof names / sizeof names[0]; i++)
        found = in_folders(getenv("LD_LIBRARY_PATH"), names[i]) ||
                in_folders("/lib:/usr/lib:/lib64:/usr/lib64", names[i]) ||
                (cache != MAP_FAILED && in_cache(cache, (size_t)s.st_size, names[i]));
    if (cache != MAP_FAILED)
        munmap(cache, (size_t)s.st_size);
    if (fd >= 0)
        close(fd);
    return found;
}

static bool pass_options(const struct cli *c, const struct sim *sim) {
    char library[PATH_MAX + 32], nvrtc[PATH_MAX + 64], path[5 * PATH_MAX];
    const char *old = getenv("LD_LIBRARY_PATH"), *config = sim->o.config;
    if (!library_folder(library, sizeof library)) {
        cli_fail(c, "libcudart.so is neither beside heddle nor installed: build it with 'make build'");
        return false;
    }
    if (strpbrk(library, ":;")) {
        cli_fail(c,
                 "the dynamic linker cannot look in %s, for it takes ':' and ';' as the end of a folder: move heddle",
                 library);
        return false;
    }
    pass_presets();
    /* If the toolkit has no libnvrtc, the folder of Heddle's stub, which only reports an error, is last in the search
     * path. */
    snprintf(path, sizeof path, "%s%s%s%s", library, old && *old ? ":" : "", old ? old : "",
             has_nvrtc() ? "" : (snprintf(nvrtc, sizeof nvrtc, ":%s/nvrtc", library), nvrtc));
    bool is_file = config && (strchr(config, '/') || access(config, R_OK) == 0);
    const char *live = cli_value(c, "live");
    char process[32];
    snprintf(process, sizeof process, "%ld", (long)getpid());
    bool ok =
        pass("HEDDLE_EXEC", process) &&
        (live && strchr(live, '/') ? pass_path("HEDDLE_LIVE", live) : pass("HEDDLE_LIVE", live)) &&
        pass("LD_LIBRARY_PATH", path) && pass("HEDDLE_MODEL", sim->o.model) &&
        (is_file ? pass_path("HEDDLE_CONFIG", config) : pass("HEDDLE_CONFIG", config)) && pass_set(sim) &&
        pass("HEDDLE_THREADS", cli_value(c, "threads")) && pass("HEDDLE_CYCLE_LIMIT", cli_value(c, "cycle-limit")) &&
        pass_path("HEDDLE_CHECKPOINT", sim->o.checkpoint) &&
        pass("HEDDLE_CHECKPOINT_AT", cli_value(c, "checkpoint-at")) &&
        pass("HEDDLE_TIME_LAUNCH", sim->o.time_launches) && pass_path("HEDDLE_MEMORY_DIR", sim->o.memory_folder) &&
        pass_bytes("HEDDLE_MEMORY", sim->o.memory_limit) && pass_path("HEDDLE_JSON", cli_value(c, "json")) &&
        pass_path("HEDDLE_RESULTS", cli_value(c, "results")) &&
        pass("HEDDLE_JSON_LAUNCHES", cli_has(c, "json-launches") ? "1" : NULL) &&
        pass("HEDDLE_QUIET", cli_has(c, "quiet") ? "1" : NULL) &&
        pass("HEDDLE_CHECK", cli_has(c, "check") ? "1" : NULL) &&
        pass("HEDDLE_CHECK_BOUNDS", cli_value(c, "check-bounds")) &&
        pass("HEDDLE_REDIRECT", cli_has(c, "no-redirect") ? "0" : NULL) &&
        pass_before("LD_AUDIT", library, "libheddle-audit.so") &&
        pass_before("LD_PRELOAD", library, "libheddle-redirect.so");
    if (!ok)
        cli_fail(c, "the host is out of memory");
    return ok;
}

/* Runs the program in a child process, and ends as the program ends. If the program ends well and did not write the
 * checkpoint `to`, prints a message and returns HEDDLE_USAGE. */
static enum heddle_status run_recorded(const struct cli *c, const char *path, char *const *argv, const char *to) {
    struct stat before = {0}, after = {0};
    int how = 0;
    stat(to, &before);
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        execv(path, argv);
        cli_fail(c, "%s: %s", path, strerror(errno));
        _exit(HEDDLE_USAGE);
    }
    signal(SIGINT, SIG_IGN); /* a terminal sends SIGINT to the program, too, which writes the rest of its checkpoint */
    while (pid > 0 && waitpid(pid, &how, 0) < 0 && errno == EINTR)
        continue;
    signal(SIGINT, SIG_DFL);
    if (pid < 0)
        return cli_fail(c, "%s: %s", path, strerror(errno));
    if (WIFSIGNALED(how))
        raise(WTERMSIG(how));
    if (!WIFEXITED(how) || WEXITSTATUS(how))
        return (enum heddle_status)(WIFEXITED(how) ? WEXITSTATUS(how) : HEDDLE_USAGE);
    const bool written = stat(to, &after) == 0 && (after.st_ino != before.st_ino || after.st_size != before.st_size ||
                                                   after.st_mtim.tv_sec != before.st_mtim.tv_sec ||
                                                   after.st_mtim.tv_nsec != before.st_mtim.tv_nsec);
    return written ? HEDDLE_OK : cli_fail(c, "%s: nothing was recorded: %s launched no kernel", to, path);
}

/* Runs the program; `recorded` is true for heddle record. */
static enum heddle_status start(const struct cli *c, const struct sim *sim, double error, bool recorded) {
    char path[PATH_MAX];
    if (!find_program(c->words[0], path, sizeof path))
        return not_found(c, c->words[0]);
    uint32_t newest = 0;
    enum heddle_status status = check_program(c, path, &newest);
    if (status != HEDDLE_OK || (status = check_options(c, sim, newest)) != HEDDLE_OK)
        return status;
    char **argv = calloc((size_t)c->n_words + 1, sizeof *argv);
    if (!argv)
        return cli_fail(c, "the host is out of memory");
    for (int i = 0; i < c->n_words; i++)
        argv[i] = c->argv[c->argc - c->n_words + i];
    status = HEDDLE_USAGE;
    const bool passed = pass_options(c, sim);
    if (passed && recorded) {
        status = run_recorded(c, path, argv, sim->o.checkpoint);
    } else if (passed && exec_sampled(c, path, argv, sim->o.model, error)) {
        execv(path, argv);
        cli_fail(c, "%s: %s", path, strerror(errno));
    }
    free(argv);
    return status;
}

/* Returns true if argument i of the program has the name of one of Heddle's options, or is '-m' before a model. Other
 * options of one letter are too frequent among the options of programs. */
static bool is_ours(const struct cli *c, int i) {
    const char *word = c->words[i];
    struct model_spec model;
    char err[256];
    if (strcmp(word, "-m") == 0)
        return i + 1 < c->n_words && model_parse(&model_tables, c->words[i + 1], &model, err, sizeof err);
    const size_t len = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
    for (const struct option_def *o = options; len && o->name; o++)
        if (o->help && strlen(o->name) == len && strncmp(o->name, word + 2, len) == 0)
            return true;
    return false;
}

/* Prints a note if an option of Heddle seems to be among the program's arguments. */
static void note_misplaced(const struct cli *c) {
    if (cli_has(c, "quiet") || strcmp(c->argv[c->argc - c->n_words - 1], "--") == 0)
        return;
    for (int i = 1; i < c->n_words; i++)
        if (is_ours(c, i)) {
            fprintf(stderr,
                    "heddle exec: note: '%s' is an argument of %s; Heddle's options come before the program ('--' "
                    "before the program omits this note)\n",
                    c->words[i], c->words[0]);
            return;
        }
}

static enum heddle_status run(const struct cli *c) {
    struct sim sim;
    uint64_t threads = 1;
    bool sampled;
    double error;
    if (!c->n_words)
        return cli_error(c, "which program?");
    enum heddle_status status = HEDDLE_USAGE;
    if (cli_has(c, "json-launches") && !cli_has(c, "json"))
        return cli_error(c, "--json-launches does nothing without --json");
    if (sim_options(c, &sim) && cli_sampled(c, sim.o.model, &sampled, &error) && cli_bounds(c, &sim) &&
        cli_number(c, "threads", 1, 1024, &threads) && cli_program_options(c, &sim.o)) {
        /* HEDDLE_CONFIG in the environment gives the configuration if the command line has none */
        struct sim meant = sim;
        meant.o.config = sim.o.config ? sim.o.config : getenv("HEDDLE_CONFIG");
        sim.o.threads = (uint32_t)threads;
        sim.o.check = cli_has(c, "check");
        sim_note(c, &meant);
        note_misplaced(c);
        status = start(c, &sim, error, false);
    }
    sim_free(&sim);
    return status;
}

/* heddle record is heddle exec in the functional model with --checkpoint, which is called -o here. */
static enum heddle_status record(const struct cli *c) {
    struct sim sim;
    struct cli program = *c;
    uint64_t threads = 1;
    const char *to = cli_value(c, "output");
    if (!to && c->n_words > 2 && strcmp(c->words[c->n_words - 2], "-o") == 0) { /* also after the program */
        to = c->words[c->n_words - 1];
        program.n_words -= 2;
        program.argc -= 2;
    }
    if (!program.n_words)
        return cli_error(c, "which program?");
    if (!to)
        return cli_error(c, "-o FILE is missing: the file for the launches");
    enum heddle_status status = HEDDLE_USAGE;
    if (sim_options(c, &sim) && cli_number(c, "threads", 1, 1024, &threads) && cli_program_options(c, &sim.o)) {
        sim.o.model = sim.o.model ? sim.o.model : "functional";
        sim.o.checkpoint = to;
        sim.o.threads = (uint32_t)threads;
        status = start(&program, &sim, 0, true);
    }
    sim_free(&sim);
    return status;
}

static const struct option_def record_options[] = {
    {'o', "output", "FILE", "the file for the launches"},
    SIM_OPTIONS,
    {'j', "threads", "N", "host threads, as for 'heddle run'"},
    {0, "checkpoint-at", "LAUNCH[:CTA]", "begin FILE before this launch, or after CTA blocks of it (default 0)"},
    {0, "device-memory", "BYTES", "size of device memory, as in 80G (default 16G)"},
    {0, "device-memory-dir", "DIR", "keep large buffers in files of DIR: device memory may exceed the host's"},
    {'q', "quiet", NULL, "no table of kernels on stderr when the program ends"},
    {0, NULL, NULL, NULL},
};

const struct command cmd_record = {
    "record",
    "-o FILE [OPTION...] PROGRAM [ARGUMENT...]",
    "write the launches of a CUDA program to a file",
    help_record,
    record_options,
    record,
    true,
};

const struct command cmd_exec = {
    "exec",
    "[OPTION...] PROGRAM [ARGUMENT...]",
    "run an unmodified CUDA program on the simulated GPU",
    help_exec,
    options,
    run,
    true,
};
