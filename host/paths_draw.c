/* Draws a path_log as text and as SVG. */
#include "look.h"
#include "paths.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_COLUMNS = 4, CELL = 38, SVG_CELL = 270, SVG_STEP = 12, SVG_LANE = 5 };
/* Colours of the palette for paths that diverge, and for joined paths. */
enum { SPLITS = 2, JOINS = 4 };

void path_log_free(struct path_log *log) {
    free(log->list);
    *log = (struct path_log){0};
}

static int by_begin(const void *a, const void *b) {
    const struct path_segment *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    int lx = (int)lanes_first(x->lanes), ly = (int)lanes_first(y->lanes);
    return lx - ly;
}

/* Returns a column that is free when the segment begins, if possible the column of the previous segment that contains
 * this segment's lowest lane. */
static int free_column(const struct path_log *log, uint32_t i) {
    const struct path_segment *s = &log->list[i];
    uint64_t taken = 0;
    int favourite = 0;
    for (uint32_t k = 0; k < i; k++) {
        const struct path_segment *o = &log->list[k];
        if (o->end > s->begin && o->column < MAX_WARP_LANES)
            taken |= 1ull << o->column;
        if (o->lanes >> lanes_first(s->lanes) & 1)
            favourite = o->column;
    }
    if (favourite < MAX_WARP_LANES && !(taken >> favourite & 1))
        return favourite;
    int c = 0;
    while (c < MAX_WARP_LANES && taken >> c & 1)
        c++;
    return c;
}

void path_log_arrange(struct path_log *log, const struct program *p) {
    int last[MAX_WARP_LANES];
    memset(last, -1, sizeof last);
    qsort(log->list, log->n, sizeof *log->list, by_begin);
    for (uint32_t i = 0; i < log->n; i++) {
        struct path_segment *s = &log->list[i];
        s->step = s->begin;
        s->rounds = 1;
        s->first_line = p->info[s->first_pc].line;
        s->last_line = p->info[s->last_pc].line;
        s->column = free_column(log, i);
        log->columns = s->column >= log->columns ? s->column + 1 : log->columns;
        int before = last[lanes_first(s->lanes)];
        for (lanemask_t m = s->lanes; m; m &= m - 1) {
            int l = (int)lanes_first(m);
            s->joins |= last[l] != before;
            if (last[l] >= 0 && log->list[last[l]].lanes & ~s->lanes)
                log->list[last[l]].splits = true;
            last[l] = (int)i;
        }
    }
}

void path_log_fold(struct path_log *log) {
    int last[MAX_WARP_LANES]; /* column -> index of its latest segment in the folded list; -1: none */
    uint32_t n = 0;
    memset(last, -1, sizeof last);
    for (uint32_t i = 0; i < log->n; i++) {
        const struct path_segment *s = &log->list[i];
        struct path_segment *before =
            s->column < MAX_WARP_LANES && last[s->column] >= 0 ? &log->list[last[s->column]] : NULL;
        if (before && before->end == s->begin && before->first_pc == s->first_pc && before->last_pc == s->last_pc &&
            before->lanes == s->lanes && before->splits == s->splits && !s->joins) {
            before->end = s->end;
            before->rounds += s->rounds;
            continue;
        }
        if (s->column < MAX_WARP_LANES)
            last[s->column] = (int)n;
        log->list[n++] = *s;
    }
    log->n = n;
}

static void describe(const struct path_segment *s, char *out, size_t size) {
    char rounds[32] = "";
    if (s->rounds > 1)
        snprintf(rounds, sizeof rounds, ", %u times", s->rounds);
    if (s->first_pc == s->last_pc)
        snprintf(out, size, "pc %u, line %u%s", s->first_pc, s->first_line, rounds);
    else
        snprintf(out, size, "pc %u-%u, lines %u-%u%s", s->first_pc, s->last_pc, s->first_line, s->last_line, rounds);
}

/* Prints one cell. Blanks at the end of a cell are counted in *owed and printed only before the next cell, so that no
 * line ends with blanks. */
static void cell(const char *text, int *owed, FILE *out) {
    int room = CELL - 3, len = (int)strlen(text);
    fprintf(out, "%*s|", *owed, "");
    *owed = CELL - 1;
    if (len > room)
        fprintf(out, " %.*s...", room - 3, text);
    else if (len)
        fprintf(out, " %s", text);
    *owed -= len > room ? room + 1 : len ? len + 1 : 0;
}

/* Writes line `line` of a segment's cell: its code lines, its lanes, and how it ends. */
static void cell_line(const struct path_segment *s, int line, char *out, size_t size) {
    char where[112];
    describe(s, where, sizeof where);
    if (line == 0)
        snprintf(out, size, "%s%s", s->joins ? "> joins at " : "", where);
    else if (line == 1)
        snprintf(out, size, "  %08" PRIx64 "  %u lane%s", s->lanes, lanes_count(s->lanes),
                 lanes_count(s->lanes) == 1 ? "" : "s");
    else
        snprintf(out, size, "%s", s->splits ? "  < diverges" : "");
}

/* Writes line `line` of the cell of `column` in the row of the segments [from, to), which begin in the same cycle. The
 * cell describes the segment of its column. It has a colon if an earlier segment of the column still runs, and else is
 * empty. */
static void column_line(const struct path_log *log, uint32_t from, uint32_t to, int column, int line, char *out,
                        size_t size) {
    *out = '\0';
    for (uint32_t i = 0; i < to; i++) {
        const struct path_segment *s = &log->list[i];
        if (s->column != column || s->end <= log->list[from].begin)
            continue;
        if (i >= from)
            cell_line(s, line, out, size);
        else
            snprintf(out, size, "  :");
    }
}

static void text_row(const struct path_log *log, uint32_t from, uint32_t to, FILE *out) {
    int shown = log->columns < TEXT_COLUMNS ? log->columns : TEXT_COLUMNS, lines = 2, hidden = 0;
    for (uint32_t i = from; i < to; i++)
        lines = log->list[i].splits ? 3 : lines;
    for (int line = 0; line < lines; line++) {
        int owed = line ? 7 : 1;
        if (!line)
            fprintf(out, "%6u", log->list[from].step);
        for (int c = 0; c < shown; c++) {
            char text[160];
            column_line(log, from, to, c, line, text, sizeof text);
            cell(text, &owed, out);
        }
        fputc('\n', out);
    }
    for (uint32_t i = from; i < to; i++)
        hidden += log->list[i].column >= shown;
    if (hidden)
        fprintf(out, "       (and %d more path%s)\n", hidden, hidden == 1 ? "" : "s");
}

void path_log_text(const struct path_log *log, FILE *out) {
    fprintf(out, "  step   one column a path; a row where a path begins, diverges or joins\n");
    for (uint32_t i = 0; i < log->n;) {
        uint32_t end = i;
        while (end < log->n && log->list[end].begin == log->list[i].begin)
            end++;
        text_row(log, i, end, out);
        i = end;
    }
    if (log->truncated)
        fprintf(out, "       ... and so on: only the first %u segments are kept\n", log->n);
}

/* Draws a grey box for all lanes, and a box on it for each run of active lanes. */
static void svg_lanes(lanemask_t lanes, int x, uint32_t y, FILE *out) {
    fprintf(out, "<rect x='%d' y='%u' width='%d' height='5' fill='#dddddd'/>", x, y, MAX_WARP_LANES * SVG_LANE);
    fprintf(out, "<path fill='%s' d='", look_light(0));
    for (int l = 0; l < MAX_WARP_LANES;) {
        int n = 0;
        while (l + n < MAX_WARP_LANES && lanes >> (l + n) & 1)
            n++;
        if (n)
            fprintf(out, "M%d %uh%dv5h-%dz", x + l * SVG_LANE, y, n * SVG_LANE - 1, n * SVG_LANE - 1);
        l += n ? n : 1;
    }
    fputs("'/>\n", out);
}

void path_log_svg(const struct path_log *log, const char *title, FILE *out) {
    uint32_t last = 1;
    for (uint32_t i = 0; i < log->n; i++)
        last = log->list[i].end > last ? log->list[i].end : last;
    /* step -> y coordinate. A step in which a segment begins is taller than other steps, so that even a segment of one
     * step is tall enough for its label. */
    uint32_t *y = calloc((size_t)last + 2, sizeof *y);
    if (!y)
        return;
    for (uint32_t i = 0; i < log->n; i++)
        y[log->list[i].begin] = 24;
    for (uint32_t t = 1, at = 40; t <= last; t++) {
        uint32_t gap = y[t] ? y[t] : SVG_STEP;
        y[t] = at;
        at += gap;
        y[last + 1] = at;
    }
    fprintf(out,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%u' font-family='sans-serif' font-size='11' "
            "role='img' aria-label='paths of a warp'>\n",
            60 + log->columns * SVG_CELL, y[last + 1] + 20);
    fprintf(out, "<rect width='100%%' height='100%%' fill='white'/><text x='10' y='20' font-size='14'>%s</text>\n",
            title);
    for (uint32_t i = 0; i < log->n; i++) {
        const struct path_segment *s = &log->list[i];
        int x = 50 + s->column * SVG_CELL;
        uint32_t top = y[s->begin], height = (s->end <= last ? y[s->end] : y[last + 1]) - top;
        char where[112];
        describe(s, where, sizeof where);
        fprintf(out, "<text x='8' y='%u' fill='#595959'>%u</text>", top + 10, s->step);
        fprintf(out, "<rect x='%d' y='%u' width='%d' height='%u' fill='#eef4f8' stroke='%s'/>", x, top, SVG_CELL - 20,
                height > 3 ? height - 2 : height,
                look_light(s->splits  ? SPLITS
                           : s->joins ? JOINS
                                      : 0));
        fprintf(out, "<text x='%d' y='%u'>%s%s%s</text>", x + 4, top + 11, s->joins ? "joined: " : "", where,
                s->splits ? ", diverges" : "");
        svg_lanes(s->lanes, x + 4, top + 15, out);
    }
    fprintf(out, "</svg>\n");
    free(y);
}
