#ifndef HOST_GZIP_H
#define HOST_GZIP_H
/* Compresses a stream to the gzip format, which viewers of traces read. */
#include <stdio.h>

/* Returns a stream whose content is written to `to`, compressed. fclose() of the stream completes the content, and does
 * not close `to`. A write error of `to` is an error of the stream. Returns NULL if out of memory. */
FILE *gzip_stream(FILE *to);
#endif
