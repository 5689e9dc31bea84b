#ifndef REPRODUCE_CARDS_H
#define REPRODUCE_CARDS_H
/* Published figures of real GPUs as data. Others measured them on cards, or NVIDIA documents them; none is a figure of
 * Heddle. */

struct card {
    const char *name; /* also the name of the preset that describes the card */
    const char *title;
};

struct card_source {
    const char *name; /* short name, for tables */
    const char *text; /* authors, title, place, and the card that was measured */
};

/* A published value of a quantity of host/report/micro.h, in the unit of that quantity. */
struct card_figure {
    const char *card, *quantity;
    double value;
    const char *source; /* name of a struct card_source */
};

/* Lists that end with a NULL name or card. */
extern const struct card cards[];
extern const struct card_source card_sources[];
extern const struct card_figure card_figures[];
const struct card *card_find(const char *name);
const struct card_source *card_source_find(const char *name);
#endif
