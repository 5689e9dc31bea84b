/* Writes the hot lines of PTX and of its source, from the runs' profiles. */
#include "host/html.h"
#include "report.h"
#include "timing/report/causes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 6, KERNELS = 3 }; /* SHOWN: number of lines shown per kernel; KERNELS: number of kernels shown per run */

double report_number(const cJSON *o, const char *name) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, name);
    return cJSON_IsNumber(v) ? v->valuedouble : 0;
}

const char *report_text(const cJSON *o, const char *name) {
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, name));
    return s ? s : "";
}

/* Returns the number of issue slots of a line: slots in which the line issued, and slots that were lost because a warp
 * waited to issue it. Sets *cause to the main cause of the lost slots. */
static double slots(const cJSON *line, const char **cause) {
    double sum = report_number(line, "issued"), most = 0;
    const cJSON *s;
    *cause = "";
    cJSON_ArrayForEach(s, cJSON_GetObjectItemCaseSensitive(line, "stalls")) {
        sum += s->valuedouble;
        if (s->valuedouble > most) {
            most = s->valuedouble;
            *cause = s->string;
        }
    }
    return sum;
}

static double all_slots(const cJSON *kernel) {
    const cJSON *line;
    const char *cause;
    double sum = 0;
    cJSON_ArrayForEach(line, cJSON_GetObjectItemCaseSensitive(kernel, "lines")) sum += slots(line, &cause);
    return sum;
}

/* Writes the `n` items with the largest weights to `out`, the largest first; items of equal weight keep their order.
 * Returns the number of items written. */
static int largest(const cJSON *list, double (*weight)(const cJSON *), const cJSON **out, int n) {
    const cJSON *item;
    int found = 0;
    cJSON_ArrayForEach(item, list) {
        int at = found < n ? found++ : n;
        for (; at > 0 && weight(out[at - 1]) < weight(item); at--)
            if (at < n)
                out[at] = out[at - 1];
        if (at < n)
            out[at] = item;
    }
    return found;
}

static double line_weight(const cJSON *line) {
    const char *cause;
    return slots(line, &cause);
}

static void line_row(FILE *out, const cJSON *line, double all) {
    const char *cause, *file = report_text(line, "file");
    double own = slots(line, &cause), issued = report_number(line, "issued");
    char shown[48];
    fputs("<tr>", out);
    snprintf(shown, sizeof shown, "%.1f %%", all > 0 ? 100 * own / all : 0);
    html_number(out, own, shown);
    html_number(out, issued, group_digits(issued, shown, sizeof shown));
    snprintf(shown, sizeof shown, "%.1f", issued > 0 ? report_number(line, "lanes") / issued : 0);
    html_number(out, issued > 0 ? report_number(line, "lanes") / issued : 0, shown);
    html_number(out, report_number(line, "l1_misses"),
                group_digits(report_number(line, "l1_misses"), shown, sizeof shown));
    html_cell(out, slot_find(cause) >= 0 ? slot_words(slot_find(cause)) : cause);
    snprintf(shown, sizeof shown, "%.0f", report_number(line, "line"));
    fputs("<td>", out);
    html_text(out, file);
    fprintf(out, "%s%s</td><td><code>", *file ? ":" : "", shown);
    html_text(out, report_text(line, "text"));
    fputs("</code></td></tr>\n", out);
}

static void lines_table(FILE *out, const cJSON *list, double all, const char *what) {
    const cJSON *hot[SHOWN];
    int n = largest(list, line_weight, hot, SHOWN);
    if (!n)
        return;
    fprintf(out,
            "<table><thead><tr><th>of its slots</th><th>issued</th><th>lanes</th><th>L1 misses</th><th>mostly"
            "</th><th>line</th><th>%s</th></tr></thead><tbody>\n",
            what);
    for (int i = 0; i < n; i++)
        line_row(out, hot[i], all);
    fputs("</tbody></table>\n", out);
}

static void kernel_section(FILE *out, const cJSON *k) {
    double all = all_slots(k), launches = report_number(k, "launches");
    fputs("<h3>", out);
    html_text(out, report_text(k, "kernel"));
    fprintf(out, ", %.0f launch%s, ", launches, launches == 1 ? "" : "es");
    html_text(out, report_text(k, "file"));
    fputs("</h3>\n", out);
    lines_table(out, cJSON_GetObjectItemCaseSensitive(k, "sources"), all, "source");
    lines_table(out, cJSON_GetObjectItemCaseSensitive(k, "lines"), all, "PTX");
}

static bool run_section(struct report *r, const struct result_row *row, const cJSON *profile) {
    const cJSON *kernels[KERNELS];
    char *name = report_name(r, row);
    if (!name) {
        snprintf(r->err, sizeof r->err, "the host is out of memory");
        return false;
    }
    int all = cJSON_GetArraySize(profile), n = largest(profile, all_slots, kernels, KERNELS);
    fputs("<details><summary>", r->out);
    html_text(r->out, name);
    fputs("</summary>\n", r->out);
    for (int i = 0; i < n; i++)
        kernel_section(r->out, kernels[i]);
    if (all > n)
        fprintf(r->out, "<p>And %d more kernel%s, which took less.</p>\n", all - n, all - n == 1 ? "" : "s");
    fputs("</details>\n", r->out);
    free(name);
    return true;
}

bool report_lines(struct report *r) {
    bool any = false, fine = true;
    fputs("<h2 id=lines>Hot lines</h2>\n<p>Of each kernel the lines that most issue slots went to: slots in which they "
          "were issued, or in which a warp waited to issue them and nobody else issued.</p>\n",
          r->out);
    for (int i = 0; fine && i < r->n; i++) {
        cJSON *profile;
        fine = results_profile(r->db, r->rows[i]->run, &profile, r->err, sizeof r->err) &&
               (!profile || run_section(r, r->rows[i], profile));
        any = any || profile;
        cJSON_Delete(profile);
    }
    if (!any)
        fputs("<p>None of the runs has a profile: <code>heddle sweep ... --profile</code> adds them to runs that are "
              "there.</p>\n",
              r->out);
    return fine;
}
