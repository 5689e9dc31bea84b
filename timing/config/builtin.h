#ifndef TIMING_BUILTIN_H
#define TIMING_BUILTIN_H
/* Copies of the presets of configs/ within the library, for programs installed without these files. */
#include <stddef.h>

struct builtin_preset {
    const char *file, *text; /* name, like "fermi.cfg"; contents */
};

/* All presets, sorted by name; an entry whose `file` is NULL follows the last preset. */
extern const struct builtin_preset builtin_presets[];
#endif
