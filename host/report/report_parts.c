/* Parts that all sections of a report use: tables, charts, and names of runs. */
#include "breakdown.h"
#include "report.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 16 };

bool report_table(struct report *r, struct table *t) {
    bool fine = table_whole(t);
    table_html(t, r->out);
    table_free(t);
    if (!fine)
        snprintf(r->err, sizeof r->err, "the host is out of memory");
    return fine;
}

bool report_chart(struct report *r, const struct chart *c) {
    if (!chart_any(c))
        return true;
    fputs("<figure>", r->out);
    bool fine = chart_svg(c, true, r->out);
    fputs("</figure>\n", r->out);
    if (!fine)
        snprintf(r->err, sizeof r->err, "the host is out of memory");
    return fine;
}

char *report_name(const struct report *r, const struct result_row *row) {
    struct field f[MAX_FIELDS];
    char *out = NULL;
    size_t len;
    FILE *text = open_memstream(&out, &len);
    int n = fields_that_differ(r->set, r->rows, r->n, f, MAX_FIELDS);
    bool named = false; /* the name contains the kernel */
    for (int i = 0; text && i < n; i++) {
        char number[48];
        fprintf(text, "%s%s%s%s", i ? " " : "", f[i].kind == FIELD_OPTION ? f[i].name : "",
                f[i].kind == FIELD_OPTION ? "=" : "", field_label(r->set, row, &f[i], number));
        named |= strcmp(f[i].name, "kernel") == 0;
    }
    if (text && row->kernel && !named)
        fprintf(text, " %s", row->kernel);
    if (text && fclose(text) == 0)
        return out;
    free(out);
    return NULL;
}
