#ifndef TIMING_CONFIG_H
#define TIMING_CONFIG_H
/* The parameters of the simulated machine: the structs of its units, and a table of all options (key, default,
 * range, unit, meaning). Files use libconfig syntax with @include; --set key=value overrides them. */
#include "isa/paths/reconv.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum opt_kind { OPT_KIND_U32, OPT_KIND_BOOL, OPT_KIND_DOUBLE, OPT_KIND_ENUM, OPT_KIND_STRING };

struct opt {
    const char *key; /* "l1.latency" */
    enum opt_kind kind;
    size_t offset; /* in struct config */
    double def, min, max;
    const char *unit, *help;
    const char *choices; /* OPT_KIND_ENUM: the choices, such as "lrr gto two_level"; the field stores an index */
};

struct config; /* defined in config_struct.h, included below */
#include "config_struct.h"

/* Returns every option; the last row has a NULL key. */
const struct opt *config_options(void);
void config_default(struct config *c);
/* Finds the file of a preset. Returns false if there is no such preset. */
bool config_find_preset(const char *name, char *out, size_t size);
/* Reads a preset by name or a file by path. Presets are searched in HEDDLE_CONFIGS, in configs/, in the places of
 * data_place(), and finally in the library itself, which has paths like "built-in:fermi.cfg". On failure returns
 * false with a message in `err`: the file, the line, the error and a suggestion. */
bool config_load(struct config *c, const char *name_or_path, char *err, size_t err_size);
/* A callback that is called for each option that is set by its old name (renamed.def). */
struct config_notes {
    void (*renamed)(void *ctx, const char *old, const char *key);
    void *ctx;
};
/* Do what config_load() and config_set() do, and also report renamed options to `notes`. */
bool config_load_noting(struct config *c, const char *name_or_path, const struct config_notes *notes, char *err,
                        size_t err_size);
bool config_set_noting(struct config *c, const char *assignment, const struct config_notes *notes, char *err,
                       size_t err_size);
/* Returns the present key of an option that had the key `old` in the last version, or NULL if no option had it. */
const char *config_renamed(const char *old);
/* Sets an option from a text "key=value". Returns false with a message in `err` for an unknown key (the message
 * suggests the nearest key), a wrong type, or a value out of range. */
bool config_set(struct config *c, const char *assignment, char *err, size_t err_size);
/* Checks that values fit each other. For example, the number of ways of a cache must divide its size. */
bool config_check(const struct config *c, char *err, size_t err_size);
/* Prints the value of option `o` as text that config_set() reads back. */
void config_value(const struct config *c, const struct opt *o, char *out, size_t size);
/* Returns true if option `o` has the same value in both. */
bool config_same(const struct config *a, const struct config *b, const struct opt *o);
/* Returns the value of option `key` as a number: for true 1, and for a choice its index. Returns false if there is
 * no such option or its value is a text. */
bool config_number(const struct config *c, const char *key, double *value);
/* Prints the whole configuration in the syntax of the files; reading it back gives an equal configuration. */
void config_dump(const struct config *c, FILE *out);
/* Returns the names of the presets found, NULL-terminated; the list is one block, which the caller frees with
 * free(). Returns NULL when memory runs out. */
char **config_presets(void);
#endif
