#ifndef HOST_RESULTS_DB_H
#define HOST_RESULTS_DB_H
/* Results of many runs in one SQLite file (docs/results.md has the schema). A run is written in one transaction when it
 * ends, so a process may be killed at any moment and leaves whole runs only; several processes may write one file. */
#include "host/heddle.h"
#include <cjson/cJSON.h>

enum { RESULTS_VERSION = 1, RESULTS_HASH = 33 };

/* What the options of a context come to: the part of a run's identity that the machine is. */
struct run_machine {
    char *model, *preset;
    char *config;                   /* every option, as JSON */
    char config_hash[RESULTS_HASH]; /* of that */
    struct run_setting *settings;   /* options that differ from the preset's and the model's own */
    int n_settings;
};
struct run_setting {
    char *option, *value;
};
/* False, with the reason in `err`, when there is no such model, preset or option. Free in any case. */
bool run_machine_find(struct run_machine *m, const struct heddle_options *o, char *err, size_t err_size);
void run_machine_free(struct run_machine *m);

/* A run before it is run. Pointers are the caller's. */
struct run_what {
    const char *program, *size;
    char program_hash[RESULTS_HASH]; /* of the PTX and of input files */
    char binary[RESULTS_HASH];       /* of the executable: it makes the inputs, too */
    const struct run_machine *machine;
    uint64_t cycle_limit;
    const char *values; /* of the program, when they were given: "values.n=4096", a line each; NULL: none */
};
/* What is one and the same run has the same key. Returns `out`. */
const char *run_key(const struct run_what *w, char out[RESULTS_HASH]);
/* Fingerprint of the program that runs; false with a reason. */
bool run_binary(char out[RESULTS_HASH], char *err, size_t err_size);

/* How it ended. */
struct run_end {
    enum heddle_status status;
    const char *verdict, *message; /* message: NULL or why the status is not HEDDLE_OK */
    const cJSON *result;           /* as heddle_write_json() gives it; NULL: it has no figures */
};

struct results_db;
/* `write`: makes the file when it is not there. NULL with a sentence in `err`: no file, no database, one of another
 * program or version, damaged. */
struct results_db *results_open(const char *path, bool write, char *err, size_t err_size);
void results_close(struct results_db *db);
/* 1: a run with this key is there; 0: not; -1: the file cannot be read, `err` says why. */
int results_has(struct results_db *db, const char *key, char *err, size_t err_size);
/* Claims a run before it is begun, so that no other process begins it, too. A claim ends when the run is added or given
 * back; that of a process that is no more counts for nothing: on this machine one of its number and start is looked
 * for, elsewhere a claim that was not renewed for three minutes is void. CLAIM_FAILED: `err` says why. */
enum results_claim { CLAIM_FAILED, CLAIM_OURS, CLAIM_DONE /* the run is there */, CLAIM_THEIRS };
enum results_claim results_claim(struct results_db *db, const char *key, char *err, size_t err_size);
/* Gives back a claim of this process, or with NULL all of them. */
bool results_unclaim(struct results_db *db, const char *key, char *err, size_t err_size);
/* To be called now and then while runs are under way: says that this process is at them. A failure is passed over:
 * adding a run will say it. */
void results_renew(struct results_db *db);
/* Adds a run, whole or not at all, and ends the claim on it, whoever has it. One that is there already is left as it
 * is, but for a profile that it has not. */
bool results_add(struct results_db *db, const struct run_what *w, const struct run_end *e, const char *command,
                 char *err, size_t err_size);

/* Adds what the file at `path` has and this one has not: runs by their key, with their launches, and profiles. All or
 * nothing; the other file stays as it is. False with a reason, as of results_open() for the other file. */
struct results_merge {
    int added, there; /* runs: new, and of those that were in both */
};
bool results_merge(struct results_db *db, const char *path, struct results_merge *out, char *err, size_t err_size);

/* results_profile.c */
/* As results_has(), of a run that was profiled. */
int results_has_profile(struct results_db *db, const char *key, char *err, size_t err_size);
/* The profile of a run (result_row.run), as the array that heddle_write_json() gives; *out is NULL when it has none.
 * False with a reason. Delete it. */
bool results_profile(struct results_db *db, long long run, cJSON **out, char *err, size_t err_size);

/* What is in a database, in memory. A row is a run, or with `launches` one launch of a run; in the order they ended. */
struct result_row {
    long long run; /* its number in the file */
    char *key, *program, *size, *model, *preset, *verdict, *message, *version, *binary, *ended;
    char *hash;     /* of the program's file and of all that its results follow from */
    int status;     /* enum heddle_status */
    char *kernel;   /* of a launch, else NULL */
    int launch;     /* from 0; -1 for a run */
    char **options; /* by index of result_set.options: the value it ran with; "" when its heddle had no such option */
    double *values; /* by index of result_set.names; NAN: it has none */
};
struct result_set {
    struct result_row *rows;
    char **names, **units; /* of statistics */
    char **options;        /* of the machine: those that a run set to another value than its preset's */
    int n, n_names, n_options;
};
bool results_load(struct results_db *db, bool launches, struct result_set *out, char *err, size_t err_size);
void result_set_free(struct result_set *s);
/* Index of a statistic, -1 when no run has it. */
int result_stat(const struct result_set *s, const char *name);
/* Index of an option of the machine, which is read from the file when no run set it. -1: no run has an option of this
 * name; -2: the file cannot be read, `err` says why. */
int results_option(struct results_db *db, struct result_set *s, const char *name, char *err, size_t err_size);
const struct result_row *result_find(const struct result_set *s, const char *key);
#endif
