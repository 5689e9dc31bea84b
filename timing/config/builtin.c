#include "builtin.h"

const struct builtin_preset builtin_presets[] = {
#include "presets.inc"
    {NULL, NULL}};
