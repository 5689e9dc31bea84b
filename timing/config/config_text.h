#ifndef TIMING_CONFIG_TEXT_H
#define TIMING_CONFIG_TEXT_H
/* What config.c (options by key), config_read.c (files) and config_check.c (consistency) share. */
#include "config.h"

/* The option called the `len` bytes at `key`, NULL when there is none. */
const struct opt *config_find(const char *key, size_t len);
/* Finds it under its name of the last version, too, and tells `notes`, which may be NULL. */
const struct opt *config_find_noting(const char *key, size_t len, const struct config_notes *notes);
/* Says in `err` that there is no such option, and which is the nearest. */
void config_unknown(const char *key, size_t len, char *err, size_t err_size);
/* Sets `o` from text: numbers may end in K, M or G (powers of 1024) where they are whole. */
bool config_store(struct config *c, const struct opt *o, const char *text, char *err, size_t err_size);
#endif
