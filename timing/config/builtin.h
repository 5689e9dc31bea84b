#ifndef TIMING_BUILTIN_H
#define TIMING_BUILTIN_H
/* Copies of configs/ inside of the library, for a program that is alone. */
#include <stddef.h>

struct builtin_preset {
    const char *file, *text; /* "fermi.cfg" */
};

/* In the order of their names; the last has a file NULL. */
extern const struct builtin_preset builtin_presets[];
#endif
