#ifndef HOST_CLI_PAGES_H
#define HOST_CLI_PAGES_H
/* The pages of docs/, for `heddle help PAGE`. `make install` copies them beside the kernels and presets. */
#include <stdbool.h>
#include <stdio.h>

/* Prints a list of the pages with their titles. Returns false if the folder of the pages is not found. */
bool pages_list(FILE *out);
/* Prints the page NAME.md as it is. Returns false if there is no such page. */
bool page_print(const char *name, FILE *out);
/* Lists the pages that have the word: how many of their lines, and the section of the first. Upper and lower case are
 * the same. Returns false, and prints nothing, if no page has it. */
bool pages_about(const char *word, FILE *out);
/* Returns the page with a name close to `name`, which stays valid until the next call; NULL: there is none. */
const char *page_near(const char *name);
#endif
