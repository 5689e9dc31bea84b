#ifndef TIMING_CONFIG_H
#define TIMING_CONFIG_H
/* The machine's parameters: structs of the units, and beside each a table of its options (key, default, range, unit,
 * meaning). Files are libconfig syntax with @include; --set key=value overrides. */
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
    const char *choices; /* OPT_KIND_ENUM: "lrr gto two_level", stored as the index in a uint32_t */
};

struct config; /* defined in config_struct.h, included below */
#include "config_struct.h"

/* Every option, from the tables of all units; NULL key ends. */
const struct opt *config_options(void);
void config_default(struct config *c);
/* The file of the preset of this name; false when there is none. */
bool config_find_preset(const char *name, char *out, size_t size);
/* Reads a preset by name ("fermi": looked for in HEDDLE_CONFIGS, in configs/, in the places of data_place(), at last
 * inside of the library, whose copies have paths like "built-in:fermi.cfg") or a file by path. On failure false and
 * `err` says file, line, what, and what to do. */
bool config_load(struct config *c, const char *name_or_path, char *err, size_t err_size);
/* Hears of options that are named as in the last version (renamed.def). */
struct config_notes {
    void (*renamed)(void *ctx, const char *old, const char *key);
    void *ctx;
};
/* As config_load() and config_set(), which tell nobody. */
bool config_load_noting(struct config *c, const char *name_or_path, const struct config_notes *notes, char *err,
                        size_t err_size);
bool config_set_noting(struct config *c, const char *assignment, const struct config_notes *notes, char *err,
                       size_t err_size);
/* The key of an option that had the name `old` in the last version; NULL: none had. */
const char *config_renamed(const char *old);
/* "key=value". False with `err` for an unknown key (with the nearest one), a wrong type, or a value out of range. */
bool config_set(struct config *c, const char *assignment, char *err, size_t err_size);
/* Checks what no single range can: e.g. a cache whose size its ways do not divide. */
bool config_check(const struct config *c, char *err, size_t err_size);
/* The value of option `o` as text that config_set() reads back. */
void config_value(const struct config *c, const struct opt *o, char *out, size_t size);
/* The value of the option called `key` as a number: true is 1, a choice its place among the choices. False: no option
 * is called so, or its value is a text. */
bool config_number(const struct config *c, const char *key, double *value);
/* The whole configuration in the syntax of the files; reading it back gives an equal configuration. */
void config_dump(const struct config *c, FILE *out);
/* Names of the presets found, NULL-terminated; free() it (one block). NULL when memory is out. */
char **config_presets(void);
#endif
