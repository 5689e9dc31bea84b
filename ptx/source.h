#ifndef PTX_SOURCE_H
#define PTX_SOURCE_H
/* Lines of source texts, for messages and profiles. */
#include <stdint.h>

/* Returns line `n` (from 1) of `text` without its indentation, and sets *len to its length in bytes. The line is empty
 * if the text has no such line. */
const char *source_line(const char *text, uint32_t n, int *len);
/* Returns the text of the source file `name` of a .loc directive. Searches the name itself, then the folder of the file
 * `ptx`. Returns NULL if there is no such regular file below 64 MiB, or if out of memory. The caller frees the text. */
char *source_file_text(const char *name, const char *ptx);
#endif
