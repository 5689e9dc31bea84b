/* HEDDLE_RESULTS: adds the run of the program to a results database (host/results/results_db.h), as 'heddle sweep'
 * does. A run is identified by the program's file, its arguments, the files that the arguments name, the machine,
 * and this library. */
#include "core_report.h"
#include "host/results/digest.h"
#include "host/results/results_db.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char no_memory[] = "the host is out of memory";

/* Joins words with blanks. */
static char *join(int argc, char *const *argv) {
    size_t size = 1;
    for (int i = 0; i < argc; i++)
        size += strlen(argv[i]) + 1;
    char *text = calloc(1, size), *at = text;
    for (int i = 0; text && i < argc; i++)
        at += sprintf(at, "%s%s", i ? " " : "", argv[i]);
    return text;
}

/* Returns a digest of the program's file, its arguments, and the contents of the files that the arguments name. */
static bool digest_program(int argc, char *const *argv, char out[RESULTS_HASH], char *err, size_t err_size) {
    char text[DIGEST_TEXT];
    struct digest d;
    digest_start(&d);
    if (!digest_file("/proc/self/exe", text)) {
        snprintf(err, err_size, "the program itself cannot be read (/proc/self/exe): %s", strerror(errno));
        return false;
    }
    digest_text(&d, text);
    for (int i = 1; i < argc; i++) {
        struct stat s;
        digest_text(&d, argv[i]);
        if (stat(argv[i], &s) == 0 && S_ISREG(s.st_mode) && digest_file(argv[i], text))
            digest_text(&d, text);
    }
    digest_end(&d, out);
    return true;
}

/* Returns the digest of the simulator, which is the library that contains this function. */
static bool digest_library(char out[RESULTS_HASH], char *err, size_t err_size) {
    Dl_info here;
    if (dladdr((void *)(uintptr_t)cuda_report_results, &here) && digest_file(here.dli_fname, out))
        return true;
    snprintf(err, err_size, "Heddle's library itself cannot be read: %s", strerror(errno));
    return false;
}

/* Returns the result in the format of 'heddle run --json'; NULL if the host is out of memory. */
static cJSON *result_of(struct heddle *h, int argc, char *const *argv) {
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    bool ok = f && heddle_write_json(h, f, argc, argv, -1) == HEDDLE_OK;
    ok = f && fclose(f) == 0 && ok;
    cJSON *o = ok ? cJSON_Parse(text) : NULL;
    free(text);
    return o;
}

/* Describes how the run ended. The failure of a kernel takes precedence over the exit status of the program. */
static struct run_end end_of(const struct cuda_core *r, int status, char *message, size_t size) {
    struct run_end e = {r->worst, "ran", NULL, NULL};
    if (e.status == HEDDLE_OK && status) {
        snprintf(message, size, "the program ended with status %d", status);
        return (struct run_end){HEDDLE_WRONG, "WRONG", message, NULL};
    }
    if (e.status == HEDDLE_OK)
        return e;
    const char *why = heddle_incomplete(r->h, -1);
    bool limited = why && strcmp(why, "cycle-limit") == 0;
    e.message = r->why;
    e.verdict = e.status == HEDDLE_FAULT      ? "fault"
                : e.status != HEDDLE_DEADLOCK ? "refused"
                : limited                     ? "limit"
                                              : "deadlock";
    return e;
}

static bool add(const char *path, const struct run_what *w, const struct run_end *e, const char *command, char *err,
                size_t err_size) {
    char key[RESULTS_HASH];
    struct results_db *db = results_open(path, true, err, err_size);
    int there = db ? results_has(db, run_key(w, key), err, err_size) : -1;
    bool fine = there == 1 || (there == 0 && results_add(db, w, e, command, err, err_size));
    results_close(db);
    if (there == 1)
        fprintf(stderr, "heddle: %s has this run of the program already, and keeps it\n", path);
    return fine;
}

bool cuda_report_results(const char *path, int status, int argc, char *const *argv) {
    const struct cuda_core *r = &cuda_core;
    char err[1024] = "", message[80], *command = join(argc, argv), *arguments = join(argc - 1, argv + 1);
    struct run_machine machine;
    struct run_end end = end_of(r, status, message, sizeof message);
    struct run_what what = {.program = program_invocation_short_name,
                            .size = arguments,
                            .machine = &machine,
                            .cycle_limit = r->options.cycle_limit};
    cJSON *result = result_of(r->h, argc, argv);
    end.result = result;
    bool found = run_machine_find(&machine, &r->options, err, sizeof err),
         fine = found && command && arguments && result;
    if (found && !fine)
        snprintf(err, sizeof err, "%s", no_memory);
    fine = fine && digest_program(argc, argv, what.program_hash, err, sizeof err) &&
           digest_library(what.binary, err, sizeof err) && add(path, &what, &end, command, err, sizeof err);
    if (!fine)
        fprintf(stderr, "heddle: HEDDLE_RESULTS=%s: the run is not written: %s\n", path, err);
    run_machine_free(&machine);
    cJSON_Delete(result);
    free(command);
    free(arguments);
    return fine;
}
