#ifndef TIMING_CAUSES_H
#define TIMING_CAUSES_H
/* The words and colours for the uses of issue slots (causes.def). */
#include "states.h"

/* Returns the words for a use of an issue slot: "waiting for a load". `slot` is below N_SLOTS. */
const char *slot_words(int slot);
/* Returns the index of the slot's colour in the palette of pages and plots. */
int slot_color(int slot);
/* Returns the slot whose name in statistics ("scoreboard_load") or words `name` is. Returns -1 if there is none. */
int slot_find(const char *name);
#endif
