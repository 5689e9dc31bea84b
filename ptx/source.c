/* Reads source files and finds their lines. */
#include "source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *source_line(const char *text, uint32_t n, int *len) {
    for (; n > 1 && *text; n--) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    *len = (int)strcspn(text, "\r\n");
    while (*len && (*text == ' ' || *text == '\t'))
        text++, --*len;
    return text;
}

static char *read_text(const char *path) {
    struct stat st;
    /* not a FIFO, because fopen() would wait for a writer */
    FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    long size = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    char *text = size >= 0 && size < 1L << 26 ? calloc(1, (size_t)size + 1) : NULL;
    if (text && (fseek(f, 0, SEEK_SET) != 0 || fread(text, 1, (size_t)size, f) != (size_t)size)) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

char *source_file_text(const char *name, const char *ptx) {
    const char *slash = strrchr(ptx, '/'), *own = strrchr(name, '/');
    char *path, *text = read_text(name);
    if (text || asprintf(&path, "%.*s%s", slash ? (int)(slash - ptx + 1) : 0, ptx, own ? own + 1 : name) < 0)
        return text;
    text = read_text(path);
    free(path);
    return text;
}
