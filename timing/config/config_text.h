#ifndef TIMING_CONFIG_TEXT_H
#define TIMING_CONFIG_TEXT_H
/* Functions shared by config.c (options by key), config_read.c (files) and config_check.c (consistency). */
#include "config.h"

/* Returns the option with the key of `len` bytes at `key`, or NULL if there is none. Also accepts keys of the last
 * version, and reports them to `notes`, which may be NULL. */
const struct opt *config_find_noting(const char *key, size_t len, const struct config_notes *notes);
/* Writes a message to `err` that says that the option does not exist and suggests the nearest key. */
void config_unknown(const char *key, size_t len, char *err, size_t err_size);
/* Sets the option `o` of `c` to the value in `text`. Whole numbers may end in K, M or G (powers of 1024). */
bool config_store(struct config *c, const struct opt *o, const char *text, char *err, size_t err_size);
#endif
