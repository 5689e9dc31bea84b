/* heddle replay, resume and extract: run launches from a file of launches (docs/checkpoints.md). */
#include "cmd.h"
#include "help.h"
#include "host/live/live.h"
#include "host/replay.h"
#include "host/report/interrupt.h"
#include "host/report/outfile.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REPLAY_OPTIONS                                                                                                 \
    SIM_OPTIONS, {'j', "threads", "N", "host threads, as for 'heddle run'"},                                           \
        {0, "partial", NULL, "accept a file that is cut off, and run the launches that it holds"},                     \
        {0, "verify", NULL, "compare device memory with the recorded run after each launch"},                          \
        {0, "json", "FILE", "write the result as JSON; - is stdout"}, LIVE_OPTION, {                                   \
        0, "device-memory-dir", "DIR", "keep large buffers in files of DIR: device memory may exceed the host's"       \
    }

static const struct option_def replay_options[] = {
    {0, "launch", "N|A:B", "run these launches in the model, and earlier ones functionally (default: all)"},
    {0, "list", NULL, "list the launches of the file, and run none"},
    REPLAY_OPTIONS,
    {0, NULL, NULL, NULL},
};
static const struct option_def resume_options[] = {REPLAY_OPTIONS, {0, NULL, NULL, NULL}};
static const struct option_def extract_options[] = {
    {0, "launch", "N", "the launch, by the number that 'heddle replay --list' prints"},
    {'o', "output", "FILE", "the new file"},
    {0, NULL, NULL, NULL},
};

/* Reads the description of the file that is the command's only word. */
static bool open_info(const struct cli *c, struct launch_file_info *info) {
    char err[1024];
    if (c->n_words != 1) {
        cli_error(c, c->n_words ? "one file at a time, and '%s' is the second" : "which file?%s",
                  c->n_words ? c->words[1] : "");
        return false;
    }
    if (launch_file_info(c->words[0], info, err, sizeof err))
        return true;
    cli_fail(c, "%s", err);
    return false;
}

/* Takes options that the command does not give from the recorded run: its model, its machine and, if the machine is the
 * same, its assignments (-s). The command's own assignments come last, so they win. The caller frees o->set. */
static bool like_recorded(const struct launch_file_info *info, struct heddle_options *o) {
    int own = 0, old = 0, n = 0;
    while (o->set && o->set[own])
        own++;
    while (!o->config && info->set[old])
        old++;
    const char **set = calloc((size_t)(own + old) + 1, sizeof *set);
    if (!set)
        return false;
    for (int i = 0; i < old; i++)
        set[n++] = info->set[i];
    for (int i = 0; i < own; i++)
        set[n++] = o->set[i];
    o->set = set;
    o->model = o->model ? o->model : info->model;
    o->config = o->config ? o->config : info->config;
    return true;
}

static bool read_launches(const struct cli *c, struct heddle_replay_options *o) {
    const char *text = cli_value(c, "launch");
    unsigned long long from = 0, to = 0;
    int used = 0;
    o->partial = cli_has(c, "partial");
    o->verify = cli_has(c, "verify");
    o->resume = c->command == &cmd_resume;
    if (!text)
        return true;
    const int n = *text >= '0' && *text <= '9' ? sscanf(text, "%llu%n:%llu%n", &from, &used, &to, &used) : 0;
    if (n < 1 || text[used] || (n == 2 && to <= from)) {
        cli_error(c, "--launch takes N or A:B with A below B, not '%s'", text);
        return false;
    }
    o->from = from;
    o->to = n == 2 ? to : from + 1;
    return true;
}

static enum heddle_status write_json(const struct cli *c, struct heddle *h) {
    char err[512];
    struct outfile f = {0};
    const char *path = cli_value(c, "json");
    if (!path)
        return HEDDLE_OK;
    bool fine = outfile_open(&f, path, err, sizeof err) &&
                heddle_write_json(h, f.stream, c->argc, c->argv, -1) == HEDDLE_OK &&
                outfile_flush(&f, err, sizeof err) && outfile_commit(&f, err, sizeof err);
    outfile_discard(&f);
    return fine ? HEDDLE_OK : cli_fail(c, "%s", err);
}

static enum heddle_status run_file(const struct cli *c, const struct heddle_options *o,
                                   const struct heddle_replay_options *which, enum launch_file_end end) {
    char err[1024];
    struct heddle *h = heddle_open(o, err, sizeof err);
    if (!h)
        return cli_fail(c, "%s", err);
    interrupt_guard(h);
    enum heddle_status status = heddle_replay(h, c->words[0], which), written = HEDDLE_OK;
    interrupt_unguard();
    if (*heddle_notes(h))
        fprintf(stderr, "heddle %s: note: %s", c->command->name, heddle_notes(h));
    if (status != HEDDLE_OK)
        cli_fail(c, "%.*s", (int)strlen(heddle_error(h)) - 1, heddle_error(h));
    const bool figures = heddle_launches(h) > 0 && (status == HEDDLE_OK || heddle_incomplete(h, -1));
    const char *json = cli_value(c, "json");
    if (figures && (!json || !outfile_is_stdout(json)))
        heddle_print_stats(h, stdout);
    if (figures)
        written = write_json(c, h);
    if (status == HEDDLE_OK && which->verify)
        fprintf(stderr, "heddle %s: device memory equals that of the recorded run\n", c->command->name);
    if (status == HEDDLE_OK && end != FILE_WHOLE)
        fprintf(stderr,
                "heddle %s: note: the recorded run ended here; to run the rest of the program, run it again with "
                "--time-launch\n",
                c->command->name);
    heddle_close(h);
    return status != HEDDLE_OK ? status : written;
}

static enum heddle_status run_replay(const struct cli *c) {
    struct launch_file_info info;
    struct heddle_replay_options which = {0};
    struct sim sim = {0};
    struct live *live = NULL;
    char err[1024];
    uint64_t threads = 1;
    if (!open_info(c, &info))
        return HEDDLE_USAGE;
    enum heddle_status status = HEDDLE_USAGE;
    if (cli_has(c, "list")) {
        if (launch_file_list(c->words[0], stdout, err, sizeof err))
            status = HEDDLE_OK;
        else
            cli_fail(c, "%s", err);
    } else if (read_launches(c, &which) && sim_options(c, &sim) && cli_program_options(c, &sim.o) &&
               cli_number(c, "threads", 1, 1024, &threads)) {
        sim.o.threads = (uint32_t)threads;
        struct heddle_options o = sim.o;
        if (!like_recorded(&info, &o))
            status = cli_fail(c, "the host is out of memory");
        else if (cli_live(c, &o, &live)) {
            live_program(live, c->words[0]);
            status = run_file(c, &o, &which, info.end);
        }
        if (o.set != sim.o.set)
            free((void *)(uintptr_t)o.set);
    }
    cli_live_end(live);
    sim_free(&sim);
    launch_file_info_free(&info);
    return status;
}

/* Replays the extracted file in a new context, and compares device memory with the record. */
static enum heddle_status replay_new(const struct cli *c, const struct heddle_options *o, const char *to) {
    char err[1024];
    struct heddle *h = heddle_open(o, err, sizeof err);
    if (!h)
        return cli_fail(c, "%s", err);
    enum heddle_status s = heddle_replay(h, to, &(struct heddle_replay_options){.verify = true});
    if (s != HEDDLE_OK)
        cli_fail(c, "%s: %.*s", to, (int)strlen(heddle_error(h)) - 1, heddle_error(h));
    heddle_close(h);
    return s;
}

static enum heddle_status run_extract(const struct cli *c) {
    char err[1024];
    struct launch_file_info info;
    const char *to = cli_value(c, "output");
    uint64_t launch = 0;
    if (!cli_has(c, "launch") || !to)
        return cli_error(c, "--launch N and -o FILE are needed");
    if (!cli_number(c, "launch", 0, UINT64_MAX, &launch) || !open_info(c, &info))
        return HEDDLE_USAGE;
    const struct heddle_options o = {.model = "functional", .config = info.config, .set = info.set, .progress = true};
    struct heddle *h = heddle_open(&o, err, sizeof err);
    enum heddle_status status = HEDDLE_USAGE;
    if (!h)
        cli_fail(c, "%s", err);
    else {
        interrupt_guard(h);
        status = heddle_extract(h, c->words[0], launch, to);
        interrupt_unguard();
        if (status != HEDDLE_OK)
            cli_fail(c, "%.*s", (int)strlen(heddle_error(h)) - 1, heddle_error(h));
        heddle_close(h);
        if (status == HEDDLE_OK)
            status = replay_new(c, &o, to);
        if (status == HEDDLE_OK)
            printf("launch %llu is in %s; its results are those of the recorded run\n", (unsigned long long)launch, to);
    }
    launch_file_info_free(&info);
    return status;
}

const struct command cmd_replay = {
    "replay",    "FILE [OPTION...]", "run the launches of a file again, in any model and on any machine",
    help_replay, replay_options,     run_replay,
    false,
};
const struct command cmd_resume = {
    "resume",    "FILE [OPTION...]", "continue from a checkpoint, in any model and on any machine",
    help_resume, resume_options,     run_replay,
    false,
};
const struct command cmd_extract = {
    "extract",    "FILE --launch N -o FILE", "write one launch of a file, with its inputs, to a file of its own",
    help_extract, extract_options,           run_extract,
    false,
};
