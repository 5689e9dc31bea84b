/* Prints source lines in a listing: the location from .loc with the text of its file if the file is readable,
 * otherwise the line of the PTX. */
#include "dump.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE_BYTES = 16 << 20, MAX_LINE_BYTES = 200 };

struct text {
    const char *at;
    size_t len;
    const char **line; /* start of each line */
    uint32_t n, cap;
    bool tried;
};

struct dump_source {
    const struct ir *ir;
    struct text ptx, *files; /* text of the PTX, and of each .file; files[i] belongs to ir->files[i] */
    uint32_t file, line;     /* location printed last; file number 0 means the PTX */
};

static void find_lines(struct ir *ir, struct text *t) {
    const char *end = t->at + t->len, *p = t->at;
    while (p && p < end) {
        t->line = IR_ROOM(ir, t->line, t->n, t->cap);
        t->line[t->n++] = p;
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
}

/* Reads a regular file of at most MAX_FILE_BYTES. Returns false if it cannot be read. */
static bool read_text(struct ir *ir, const char *path, struct text *t) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool fine = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MAX_FILE_BYTES;
    char *to = fine ? arena_array(ir->tmp, (size_t)st.st_size + 1, 1) : NULL;
    ssize_t got = 1;
    for (t->len = 0; fine && got > 0 && t->len<(size_t)st.st_size; t->len += got> 0 ? (size_t)got : 0)
        got = read(fd, to + t->len, (size_t)st.st_size - t->len);
    close(fd);
    t->at = to;
    return fine && got >= 0;
}

/* Reads the file `name` of a .file directive: first with the path as the directive spells it, then the file of that
 * name in the folder of the PTX file. */
static void open_file(struct ir *ir, const char *name, struct text *t) {
    const char *ptx = ir->module->diags->file ? ir->module->diags->file : "", *slash = strrchr(ptx, '/'),
               *base = strrchr(name, '/');
    char beside[4096];
    t->tried = true;
    snprintf(beside, sizeof beside, "%.*s%s", slash ? (int)(slash + 1 - ptx) : 0, ptx, base ? base + 1 : name);
    if (read_text(ir, name, t) || read_text(ir, beside, t))
        find_lines(ir, t);
}

/* Prints text with control characters replaced by '?', so that it cannot send commands to the terminal. */
static void print_text(const char *p, const char *end, FILE *out) {
    for (int n = 0; p < end && n < MAX_LINE_BYTES; p++, n++)
        fputc(*p == '\t' ? ' ' : (unsigned char)*p < ' ' || *p == 127 ? '?' : *p, out);
}

/* Prints line `line` without leading and trailing white space. */
static void print_line(const struct text *t, uint32_t line, FILE *out) {
    if (!line || line > t->n)
        return;
    const char *p = t->line[line - 1], *end = line < t->n ? t->line[line] : t->at + t->len;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (end > p && (unsigned char)end[-1] <= ' ')
        end--;
    fputs(p < end ? ": " : "", out);
    print_text(p, end, out);
}

struct dump_source *dump_source_begin(const struct ir *ir) {
    struct dump_source *s = arena_alloc(ir->tmp, sizeof *s);
    const struct diags *d = ir->module->diags;
    *s = (struct dump_source){.ir = ir, .file = UINT32_MAX};
    s->ptx.at = d->text;
    s->ptx.len = d->text ? d->len : 0;
    find_lines((struct ir *)ir, &s->ptx);
    s->files = arena_array(ir->tmp, (size_t)ir->n_files + 1, sizeof *s->files);
    return s;
}

void dump_source_at(struct dump_source *s, uint32_t inst, FILE *out) {
    struct ir *ir = (struct ir *)s->ir; /* only its arena changes */
    const struct inst_info *info = &ir->info[inst];
    bool has_loc = info->src_line != 0;
    uint32_t file = has_loc ? info->src_file : 0, line = has_loc ? info->src_line : info->line, k = 0;
    if (file == s->file && line == s->line)
        return;
    s->file = file;
    s->line = line;
    while (k < ir->n_files && ir->files[k]->file.index != file)
        k++;
    if (!has_loc) {
        fprintf(out, "; line %u", line);
        print_line(&s->ptx, line, out);
    } else if (k == ir->n_files) {
        fprintf(out, "; source file %u, line %u", file, line);
    } else {
        if (!s->files[k].tried)
            open_file(ir, ir->files[k]->file.name, &s->files[k]);
        const char *name = ir->files[k]->file.name;
        fputs("; ", out);
        print_text(name, name + strlen(name), out);
        fprintf(out, ":%u", line);
        print_line(&s->files[k], line, out);
    }
    fputc('\n', out);
}
