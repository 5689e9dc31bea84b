#ifndef HOST_LOOK_H
#define HOST_LOOK_H
/* The colours of plots, reports and the live page. One palette serves all of them. Any two of its colours differ by at
 * least 15 in CIE Lab for readers with deuteranopia or protanopia, and each has a contrast of at least 3:1 with the
 * page; test/host/look.c measures both. */
#include <stdbool.h>
#include <stdio.h>

enum { LOOK_COLORS = 12 };
/* The pages behind the colours. */
#define LOOK_LIGHT_PAGE "#ffffff"
#define LOOK_DARK_PAGE  "#15181c"

/* Return colour `i` modulo LOOK_COLORS, as "#rrggbb": for a light page, and for a dark page. */
const char *look_light(int i);
const char *look_dark(int i);
/* Returns the colour of a series. A use of issue slots (timing/report/causes.def), by name or words, has its own
 * colour; any other series has the colour of its number `i`. */
int look_series(const char *name, int i);
/* Writes the style sheet's variables --c0, --c1, ... and the classes .c0, .c1, ... that fill and stroke with them. If
 * `dark` is true, the variables change in dark mode. */
void look_css(FILE *out, bool dark);
/* Writes the classes without variables, which viewers of SVG files need not know. */
void look_css_plain(FILE *out);
#endif
