#ifndef HOST_CLI_RUNS_PAGE_H
#define HOST_CLI_RUNS_PAGE_H
/* The web page of many runs: a queue, or a sweep with --live. It has a line, a bar, and tables. The script of the page
 * fetches /state.json each second. */
#include <cjson/cJSON.h>

/* A table of the page. `id` is the member of the state with the rows, an array of objects. `keys` are the members of a
 * row, one for each column, separated by spaces, and `heads` the titles of the columns, separated by '|'. */
struct runs_table {
    const char *id, *title, *keys, *heads;
};

/* Returns the page with this state, which the caller frees; NULL: out of memory. The state has "line", the numbers
 * "done" and "total", and the rows of each table; `tables` ends with an id of NULL. */
char *runs_page(const char *title, const struct runs_table *tables, const cJSON *state);
#endif
