#ifndef PTX_SPELLING_H
#define PTX_SPELLING_H
/* "Did you mean": the candidate nearest to a word that is not known. */
#include <stddef.h>

enum { SPELLING_LONGEST = 64 }; /* bytes; longer words are near nothing */

/* A search: begin with the word, try candidates, read `best`. */
struct spelling {
    const char *word;
    size_t len;
    int cap;          /* only what is nearer than this is of interest */
    const char *best; /* NULL: none is near enough to be meant */
};

/* One mistake is allowed in a word of less than six letters, one in three letters of a longer one. A mistake is a
 * letter too many, too few or wrong, or two neighbours swapped; upper and lower case are the same. The word need not
 * end in 0. */
void spelling_begin(struct spelling *s, const char *word, size_t len);
/* Equally near ones: the first stays. */
void spelling_try(struct spelling *s, const char *candidate);
#endif
