#include "table.h"
#include "html.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cell {
    char *text, *plain; /* text: for people, or NULL if the row is a horizontal rule; plain: for CSV */
};

struct table {
    char **titles;
    int columns;
    struct cell *cells;
    size_t n, cap;
    bool lost; /* true if a cell was lost because memory ran out */
};

struct table *table_new(const char *const *titles) {
    struct table *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    int n = 0;
    while (titles[n])
        n++;
    assert(n <= TABLE_COLUMNS);
    t->titles = calloc((size_t)n + 1, sizeof *t->titles);
    for (; t->titles && t->columns < n; t->columns++)
        if (!(t->titles[t->columns] = strdup(titles[t->columns])))
            break;
    if (t->columns == n && t->titles)
        return t;
    table_free(t);
    return NULL;
}

void table_free(struct table *t) {
    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++) {
        free(t->cells[i].text);
        free(t->cells[i].plain);
    }
    for (int c = 0; c < t->columns; c++)
        free(t->titles[c]);
    free(t->titles);
    free(t->cells);
    free(t);
}

/* Appends a cell and takes ownership of both strings. The cell stays empty if memory runs out. */
static void put(struct table *t, char *text, char *plain) {
    if (t && t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 64;
        struct cell *more = realloc(t->cells, cap * sizeof *more);
        if (more) {
            t->cells = more;
            t->cap = cap;
        }
    }
    if (t && t->n < t->cap) {
        t->cells[t->n++] = (struct cell){text, plain};
    } else {
        free(text);
        free(plain);
        if (t)
            t->lost = true;
    }
}

bool table_whole(const struct table *t) { return t && !t->lost; }

void table_text(struct table *t, const char *text) {
    char *a = strdup(text), *b = strdup(text);
    if (!a || !b) {
        free(a);
        free(b);
        a = b = NULL;
        if (t)
            t->lost = true;
    }
    put(t, a, b);
}

const char *group_digits(double v, char *out, size_t size) {
    char digits[64];
    int n = snprintf(digits, sizeof digits, "%.0f", v);
    size_t at = 0;
    for (int i = 0; i < n && at + 2 < size; i++) {
        if (i && (n - i) % 3 == 0 && digits[i - 1] != '-')
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

void table_number(struct table *t, double v, enum number_format f) {
    char text[96], plain[48];
    snprintf(plain, sizeof plain, "%.15g", f == NUM_MEGA ? v * 1e-6 : v);
    switch (f) {
    case NUM_COUNT:
        group_digits(v, text, sizeof text);
        break;
    case NUM_FIXED2:
        snprintf(text, sizeof text, "%.2f", v);
        break;
    case NUM_FIXED3:
        snprintf(text, sizeof text, "%.3f", v);
        break;
    case NUM_PERCENT:
        snprintf(text, sizeof text, "%.1f %%", 100 * v);
        break;
    case NUM_MEGA:
        snprintf(text, sizeof text, "%.2f", v * 1e-6);
        break;
    case NUM_SHORT:
        snprintf(text, sizeof text, "%.4g", v);
        break;
    }
    if (isnan(v)) {
        strcpy(text, "-");
        plain[0] = '\0';
    }
    char *a = strdup(text), *b = strdup(plain);
    if (!a || !b) {
        free(a);
        free(b);
        a = b = NULL;
        if (t)
            t->lost = true;
    }
    put(t, a, b);
}

void table_rule(struct table *t) {
    for (int i = 0; t && i < t->columns; i++)
        put(t, NULL, NULL);
}

static bool is_right(const struct table *t, int column) { return t->titles[column][0] == '>'; }

static const char *title(const struct table *t, int column) { return t->titles[column] + is_right(t, column); }

static void widths(const struct table *t, int w[TABLE_COLUMNS]) {
    for (int c = 0; c < t->columns; c++)
        w[c] = (int)strlen(title(t, c));
    for (size_t i = 0; i < t->n; i++) {
        int c = (int)(i % (size_t)t->columns), len = t->cells[i].text ? (int)strlen(t->cells[i].text) : 0;
        if (len > w[c])
            w[c] = len;
    }
}

/* Prints one cell, padded to `width`. The last cell of a line gets no trailing blanks. */
static void print_cell(const struct table *t, FILE *out, int column, const char *text, int width) {
    fputs(column ? "  " : "", out);
    if (is_right(t, column))
        fprintf(out, "%*s", width, text);
    else if (column == t->columns - 1)
        fputs(text, out);
    else
        fprintf(out, "%-*s", width, text);
}

static void print_rule(const struct table *t, FILE *out, const int *w) {
    for (int c = 0; c < t->columns; c++) {
        fputs(c ? "  " : "", out);
        for (int i = 0; i < w[c]; i++)
            fputc('-', out);
    }
    fputc('\n', out);
}

void table_print(const struct table *t, FILE *out) {
    int w[TABLE_COLUMNS];
    if (!t)
        return;
    widths(t, w);
    bool bold = color_wanted(out);
    fputs(bold ? "\x1b[1m" : "", out);
    for (int c = 0; c < t->columns; c++)
        print_cell(t, out, c, title(t, c), w[c]);
    fputs(bold ? "\x1b[0m\n" : "\n", out);
    if (!bold)
        print_rule(t, out, w);
    for (size_t row = 0; row + (size_t)t->columns <= t->n; row += (size_t)t->columns) {
        if (!t->cells[row].text) {
            print_rule(t, out, w);
            continue;
        }
        for (int c = 0; c < t->columns; c++) {
            const char *text = t->cells[row + (size_t)c].text;
            print_cell(t, out, c, text ? text : "", w[c]);
        }
        fputc('\n', out);
    }
}

/* Returns true if a spreadsheet would take the cell for a formula. Signed numbers and a sign alone are not formulas. */
static bool is_formula(const char *text) {
    if (!*text || !strchr("=+-@\t\r", *text))
        return false;
    char *end;
    strtod(text, &end);
    bool number = *end == '\0' && end > text && !strpbrk(text, "xX(");
    return !number && strcmp(text, "-") != 0;
}

void csv_cell(FILE *out, const char *text) {
    if (is_formula(text)) { /* an apostrophe marks the cell as text */
        fputs("\"'", out);
        for (; *text; text++)
            fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
        fputc('"', out);
        return;
    }
    if (!text[strcspn(text, ",\"\n\r")]) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void table_csv(const struct table *t, FILE *out) {
    if (!t)
        return;
    for (int c = 0; c < t->columns; c++) {
        fputs(c ? "," : "", out);
        csv_cell(out, title(t, c));
    }
    fputc('\n', out);
    for (size_t row = 0; row + (size_t)t->columns <= t->n; row += (size_t)t->columns) {
        if (!t->cells[row].text)
            continue;
        for (int c = 0; c < t->columns; c++) {
            const char *text = t->cells[row + (size_t)c].plain;
            fputs(c ? "," : "", out);
            csv_cell(out, text ? text : "");
        }
        fputc('\n', out);
    }
}

static void markdown_cell(FILE *out, const char *text) {
    fputs(" ", out);
    for (; *text; text++) {
        if (*text == '|')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputs(" |", out);
}

void table_markdown(const struct table *t, FILE *out) {
    if (!t)
        return;
    fputc('|', out);
    for (int c = 0; c < t->columns; c++)
        markdown_cell(out, title(t, c));
    fputs("\n|", out);
    for (int c = 0; c < t->columns; c++)
        fputs(is_right(t, c) ? " ---: |" : " --- |", out);
    fputc('\n', out);
    for (size_t row = 0; row + (size_t)t->columns <= t->n; row += (size_t)t->columns) {
        if (!t->cells[row].text)
            continue;
        fputc('|', out);
        for (int c = 0; c < t->columns; c++) {
            const char *text = t->cells[row + (size_t)c].text;
            markdown_cell(out, text ? text : "");
        }
        fputc('\n', out);
    }
}

void table_html(const struct table *t, FILE *out) {
    if (!t)
        return;
    fputs("<table><thead><tr>", out);
    for (int c = 0; c < t->columns; c++)
        html_head(out, title(t, c));
    fputs("</tr></thead><tbody>\n", out);
    bool foot = false;
    for (size_t row = 0; row + (size_t)t->columns <= t->n; row += (size_t)t->columns) {
        if (!t->cells[row].text) {
            fputs(foot ? "" : "</tbody><tfoot>", out);
            foot = true;
            continue;
        }
        fputs("<tr>", out);
        for (int c = 0; c < t->columns; c++) {
            const struct cell *own = &t->cells[row + (size_t)c];
            char *end = NULL;
            double v = own->plain && *own->plain ? strtod(own->plain, &end) : NAN;
            if (is_right(t, c) &&
                (!end ||
                 !*end)) /* a cell without a value counts as a number here, so that its column is sorted by number */
                html_number(out, v, own->text);
            else
                html_cell(out, own->text ? own->text : "");
        }
        fputs("</tr>\n", out);
    }
    fputs(foot ? "</tfoot></table>\n" : "</tbody></table>\n", out);
}

bool color_wanted(FILE *out) {
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(out)) && !(none && *none) && !(term && strcmp(term, "dumb") == 0);
}

void bar_print(FILE *out, const char *label, int label_width, double value, double mark, double max) {
    enum { WIDTH = 40 };
    int len = max > 0 && value > 0 ? (int)(value / max * WIDTH + 0.5) : 0;
    if (len > WIDTH)
        len = WIDTH;
    bool color = color_wanted(out);
    const char *tint = value > mark * 1.005 ? "\x1b[32m" : value < mark * 0.995 ? "\x1b[31m" : "";
    fprintf(out, "  %-*s  %s", label_width, label, color ? tint : "");
    for (int i = 0; i < len; i++)
        fputc('#', out);
    fprintf(out, "%s%*s %.3f\n", color && *tint ? "\x1b[0m" : "", WIDTH - len, "", value);
}
