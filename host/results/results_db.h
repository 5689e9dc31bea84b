#ifndef HOST_RESULTS_DB_H
#define HOST_RESULTS_DB_H
/* Results of many runs in one SQLite file (docs/results.md has the schema). Each run is written in one transaction when
 * it ends, so that a killed process leaves only complete runs. Several processes may write one file. */
#include "host/heddle.h"
#include <cjson/cJSON.h>

enum { RESULTS_VERSION = 2, RESULTS_HASH = 33 };

/* The machine of a run: model, preset and configuration, which the options of a context determine. */
struct run_base;
struct run_machine {
    const char *model, *preset;     /* the run_base `of` owns these texts and `base` */
    const char *base;               /* every option of the preset and model, as JSON */
    char config_hash[RESULTS_HASH]; /* digest of `base` and `settings` */
    struct run_setting *settings;   /* the options whose values differ from those of `base`, in their declared order */
    int n_settings;
    struct run_base *of;
};
struct run_setting {
    char *option, *value;
};
/* Determines the machine and checks its options, without building it. Returns false with the reason in `err` if the
 * model, the preset or an option is unknown or refused. Call run_machine_free() in either case. */
bool run_machine_find(struct run_machine *m, const struct heddle_options *o, char *err, size_t err_size);
/* Works like run_machine_find(), for many machines: reads each preset only once. *known is NULL at first; free it with
 * run_bases_free(). The machines may outlive it. */
bool run_machine_plan(struct run_machine *m, const struct heddle_options *o, struct run_base **known, char *err,
                      size_t err_size);
void run_bases_free(struct run_base **known);
/* Works like heddle_open() with the options that `m` was planned for, but reads no file: `m` has the values of the
 * preset. The context does not note options of the preset's file that have been renamed. */
struct heddle *run_machine_open(const struct run_machine *m, const struct heddle_options *o, char *err,
                                size_t err_size);
void run_machine_free(struct run_machine *m);

/* The description of a run, which may not be in the database yet. The caller owns the texts. */
struct run_what {
    const char *program, *size;
    char program_hash[RESULTS_HASH]; /* digest of the PTX and the input files */
    char binary[RESULTS_HASH];       /* digest of the heddle executable, which also generates the benchmarks' inputs */
    const struct run_machine *machine;
    uint64_t cycle_limit;
    /* values that the user sets for the program, such as "values.n=4096", one per line; NULL: none */
    const char *values;
};
/* Makes the key of a run; equal runs have equal keys. Returns `out`. */
const char *run_key(const struct run_what *w, char out[RESULTS_HASH]);
/* Computes the digest of the running executable. Returns false with a reason on failure. */
bool run_binary(char out[RESULTS_HASH], char *err, size_t err_size);

/* The outcome of a run. */
struct run_end {
    enum heddle_status status;
    const char *verdict, *message; /* message: the reason why the status is not HEDDLE_OK, or NULL */
    const cJSON *result;           /* the JSON that heddle_write_json() writes; NULL: no statistics */
};

struct results_db;
/* Opens a database; with `write`, creates a missing file. Returns NULL with a message in `err` if the file does not
 * exist, is not a database, belongs to another program or version, or is damaged. */
struct results_db *results_open(const char *path, bool write, char *err, size_t err_size);
void results_close(struct results_db *db);
/* Returns 1 if the database has a run with this key, 0 if not, -1 with the reason in `err` if it cannot be read. */
int results_has(struct results_db *db, const char *key, char *err, size_t err_size);
/* Claims a run, so that no other process begins it. The claim ends when the run is added or unclaimed. A claim of a
 * dead process is void: on this machine the process is looked up by number and start time; elsewhere a claim expires
 * three minutes after its last renewal. CLAIM_FAILED: the reason is in `err`. */
enum results_claim { CLAIM_FAILED, CLAIM_OURS, CLAIM_DONE /* the database has the run */, CLAIM_THEIRS };
enum results_claim results_claim(struct results_db *db, const char *key, char *err, size_t err_size);
/* Ends the claim of this process on a run, or all its claims if `key` is NULL. */
bool results_unclaim(struct results_db *db, const char *key, char *err, size_t err_size);
/* Renews this process's claims if they are due; call it regularly while runs execute. Failures are ignored, since
 * results_add() will report them. */
void results_renew(struct results_db *db);
/* Makes the following calls one transaction, up to results_end(): with `fine`, all of their changes are kept, otherwise
 * none. Pairs of calls may be nested; only the outermost pair is a transaction. Both return false with the reason in
 * `err` on failure. If results_begin() fails, do not call results_end(). */
bool results_begin(struct results_db *db, char *err, size_t err_size);
bool results_end(struct results_db *db, bool fine, char *err, size_t err_size);
/* Adds a run completely or not at all, and ends any claim on it. An existing run is kept; only a missing profile is
 * added. */
bool results_add(struct results_db *db, const struct run_what *w, const struct run_end *e, const char *command,
                 char *err, size_t err_size);

/* Adds all runs (identified by key, with their launches) and profiles that the files at `paths` have and this database
 * lacks. Several files share a transaction, and each of them is added whole or not at all. The other files are not
 * changed. In a queue, the runs leave the list. Returns false with a reason on failure, like results_open(); then the
 * files of earlier transactions are added. */
struct results_merge {
    int added, there; /* added: number of new runs; there: number of runs that both files had */
};
bool results_merge(struct results_db *db, const char *const *paths, int n, struct results_merge *out, char *err,
                   size_t err_size);

/* results_profile.c */
/* Like results_has(), but the run must have a profile. */
int results_has_profile(struct results_db *db, const char *key, char *err, size_t err_size);
/* Reads the profile of a run (result_row.run) in the format of heddle_write_json(); *out is NULL if the run has no
 * profile. The caller deletes *out. Returns false with a reason on failure. */
bool results_profile(struct results_db *db, long long run, cJSON **out, char *err, size_t err_size);

/* results_sampled.c: reads the member "sampled" of a run's JSON (result_row.run); *out is NULL if the run was not
 * sampled. The caller deletes *out. Returns false with a reason on failure. */
bool results_sampled(struct results_db *db, long long run, cJSON **out, char *err, size_t err_size);

/* A row of a result_set. It describes a run or, if results_load() was called with `launches`, one launch of a run. */
struct result_row {
    long long run; /* the run's id in the file */
    char *key, *program, *size, *model, *preset, *verdict, *message, *version, *binary, *ended;
    char *hash;   /* digest of the program's file and its input files */
    int status;   /* enum heddle_status */
    char *kernel; /* row of a launch: its kernel; row of a run: NULL */
    int launch;   /* row of a launch: number of the launch, from 0; row of a run: -1 */
    /* values by index of result_set.options; "": the build of heddle that made the run lacked the option */
    char **options;
    double *values; /* values by index of result_set.names; NAN: no value */
};
/* The contents of a database in memory. The rows are in the order in which the runs were added to the file. */
struct result_set {
    struct result_row *rows;
    char **names, **units; /* names and units of the statistics; `values` of a row has the same order */
    char **options;        /* machine options that at least one run set to a value other than its preset's */
    int n, n_names, n_options;
    int *by_key, slots; /* hash table: index of the first row with a key, plus 1; 0: free */
};
/* A condition on a field of runs. holds() returns true if it holds for a value, which is "" if a run has none. */
struct results_condition {
    const char *field;
    bool (*holds)(const void *ctx, const char *value);
    const void *ctx;
};
enum { RESULTS_CONDITIONS = 32 };
/* Limits results_load() and results_option() to the runs that fulfil the first RESULTS_CONDITIONS of `n` conditions; 0:
 * all runs. Conditions on launches and statistics are ignored, so the caller tests the rows again. */
bool results_pick(struct results_db *db, const struct results_condition *c, int n, char *err, size_t err_size);
/* Limits results_load() and results_option() to one run, and to one run that sets each option of the conditions. */
bool results_pick_examples(struct results_db *db, const struct results_condition *c, int n, char *err, size_t err_size);
bool results_load(struct results_db *db, bool launches, struct result_set *out, char *err, size_t err_size);
void result_set_free(struct result_set *s);
/* Returns the index of a statistic, or -1 if no run has it. */
int result_stat(const struct result_set *s, const char *name);
/* Returns the index of a machine option in s->options. If the set lacks the option, reads its values from the file and
 * adds it. Returns -1 if no run has the option, or -2 with the reason in `err` if the file cannot be read. */
int results_option(struct results_db *db, struct result_set *s, const char *name, char *err, size_t err_size);
const struct result_row *result_find(const struct result_set *s, const char *key);
#endif
