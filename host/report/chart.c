#include "chart.h"
#include "chart_axis.h"
#include "gnuplot.h"
#include "host/look.h"
#include "outfile.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Writes text in single quotes, where gnuplot evaluates nothing but a quote. Names may come from files. */
static void quoted(FILE *out, const char *text) {
    fputc('\'', out);
    for (; text && *text; text++) {
        if (*text == '\'')
            fputc('\'', out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
    fputc('\'', out);
}

/* Writes a name in double quotes, as an item of gnuplot's data. */
static void name_cell(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text; text++)
        fputc((unsigned char)*text < ' ' ? ' ' : *text == '"' || *text == '\\' ? '\'' : *text, out);
    fputc('"', out);
}

static void number(FILE *out, double v) {
    if (isfinite(v))
        fprintf(out, " %.9g", v);
    else
        fputs(" ?", out);
}

static bool series_any(const struct chart *c, int s) {
    for (int i = 0; i < c->n; i++)
        if (isfinite(c->y[i * c->n_series + s]))
            return true;
    return false;
}

static bool data(const struct chart *c, char *const *names, FILE *out) {
    int *order = chart_order(c);
    fputs("$data << END\n", out);
    for (int i = 0; order && i < c->n; i++) {
        int place = order[i];
        if (c->x)
            number(out, c->x[place]);
        else
            name_cell(out, names[place]);
        for (int s = 0; s < c->n_series; s++)
            number(out, c->y[place * c->n_series + s]);
        fputc('\n', out);
    }
    fputs("END\n", out);
    free(order);
    return order != NULL;
}

/* Returns the height that the slanted names along x need. */
static int names_height(const struct chart *c, char *const *names) {
    size_t longest = 0;
    for (int i = 0; !c->x && i < c->n; i++)
        if (chart_characters(names[i]) > longest)
            longest = chart_characters(names[i]);
    return 4 * (int)longest;
}

/* Sets logarithmic axes that include all points and the bends of all roofs, with a margin. gnuplot's automatic range
 * would cut off roofs, and would collapse if all points have the same x. */
static void roof_axes(const struct chart *c, FILE *out) {
    const double margin = 4;
    double least = INFINITY, most = 0;
    for (int i = 0; i < c->n + c->n_roofs; i++) {
        double x = i < c->n ? c->x[i] : c->roofs[i - c->n].height / c->roofs[i - c->n].slope;
        if (!isfinite(x) || x <= 0)
            continue;
        least = fmin(least, x);
        most = fmax(most, x);
    }
    fputs("set logscale xy\nset grid xtics ytics lc rgb '#dddddd'\nset format '%g'\n", out);
    if (most > 0)
        fprintf(out, "set xrange [%.9g:%.9g]\n", least / margin, most * margin);
}

/* Sets the range and the ticks of an axis as the SVG has them, with SI prefixes. `name` is x or y. */
static void linear_axis(const char *name, const struct axis *a, const char *unit, FILE *out) {
    char text[32];
    fprintf(out, "set %srange [%.9g:%.9g]\n%sset %stics (", name, a->low, a->high,
            a->logarithmic ? "set logscale x\n" : "", name);
    for (int i = 0; i < a->n; i++) {
        fputs(i ? ", " : "", out);
        quoted(out, axis_number(a->tick[i], unit, text));
        number(out, a->tick[i]);
    }
    fputs(")\n", out);
}

static void axes(const struct chart *c, FILE *out) {
    struct axis values, places;
    axis_of_values(&values, c);
    linear_axis("y", &values, c->y_label, out);
    if (!c->x)
        return;
    axis_of_places(&places, c);
    linear_axis("x", &places, c->x_label, out);
}

static void looks(const struct chart *c, char *const *names, const char *shared, FILE *out) {
    enum { LEAST = 640, MOST = 2400, KEY = 160, HEIGHT = 360 };
    int each = c->kind == CHART_STACK ? 26 : 14 * (c->n_series + 1);
    int width = c->x ? LEAST : c->n * (each < 46 ? 46 : each);
    if (c->kind == CHART_STACK)
        width = c->n * each;
    gnuplot_terminal("png",
                     (width < LEAST  ? LEAST
                      : width > MOST ? MOST
                                     : width) +
                         KEY,
                     HEIGHT + names_height(c, names), out);
    fputs("set datafile missing '?'\nset grid ytics lc rgb '#dddddd'\nset style fill solid noborder\n"
          "set key outside right top\nset title ",
          out);
    quoted(out, c->title);
    fputs("\nset xlabel ", out);
    quoted(out, c->x_label ? c->x_label : shared);
    fputs("\nset ylabel ", out);
    quoted(out, c->y_label);
    fputc('\n', out);
    if (!c->x)
        fprintf(out, "set style data histograms\nset style histogram %s\nset xtics rotate by -45 font ',9'\n%s",
                c->kind == CHART_STACK ? "rowstacked" : "clustered gap 1",
                c->kind == CHART_STACK ? "set boxwidth 0.75\n" : "");
    if (c->n_roofs)
        roof_axes(c, out);
    else if (c->kind != CHART_HEAT)
        axes(c, out);
    if (c->level && c->kind != CHART_HEAT)
        fputs("set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb '#888888'\n", out);
}

static void plot(const struct chart *c, FILE *out) {
    bool any = false;
    for (int s = 0; s < c->n_series; s++) {
        if (!series_any(c, s))
            continue;
        fprintf(out, "%s$data using ", any ? ", " : "plot ");
        if (c->x)
            fprintf(out, "1:%d with %s pt %d ps 0.8 lw 2", s + 2, c->kind == CHART_LINES ? "linespoints" : "points",
                    5 + 2 * (s % 5));
        else
            fprintf(out, "%d%s", s + 2, any ? "" : ":xticlabels(1)");
        fprintf(out, " lc rgb '%s' title ", look_light(look_series(c->series[s], s)));
        quoted(out, c->series[s]);
        any = true;
    }
    for (int i = 0; any && i < c->n_roofs; i++) {
        fprintf(out, ", %.9g*x < %.9g ? %.9g*x : %.9g with lines dt %d lc rgb '%s' title ", c->roofs[i].slope,
                c->roofs[i].height, c->roofs[i].slope, c->roofs[i].height, i + 1, look_light(i));
        quoted(out, c->roofs[i].name);
    }
    fputc('\n', out);
}

/* Writes a matrix and its drawing: a coloured cell for each place and series. */
static void heat(const struct chart *c, char *const *names, FILE *out) {
    fputs("set xtics rotate by -60\nset yrange [*:*] reverse\nunset key\n$map << END\n\"\"", out);
    for (int s = 0; s < c->n_series; s++) {
        fputc(' ', out);
        name_cell(out, c->series[s]);
    }
    fputc('\n', out);
    for (int i = 0; i < c->n; i++) {
        name_cell(out, names[i]);
        for (int s = 0; s < c->n_series; s++)
            number(out, c->y[i * c->n_series + s]);
        fputc('\n', out);
    }
    fprintf(out, "END\nset palette defined (%s)\n",
            c->level ? "0 '#e67814', 1 '#ffffff', 2 '#2878c8'" : "0 '#ffffff', 1 '#2878c8'");
    if (c->level)
        fprintf(out, "set cbrange [%.9g:%.9g]\n", 2 - chart_strongest(c), chart_strongest(c));
    /* Boxes, because gnuplot draws no image of a single row or column. */
    fputs("plot $map matrix rowheaders columnheaders using 1:2:(0.5):(0.5):3 with boxxyerror fc palette\n", out);
}

bool chart_script(const struct chart *c, FILE *out) {
    char *shared = NULL, **names = c->x ? NULL : chart_names(c->places, c->n, &shared);
    bool fine = c->x || names;
    if (fine)
        looks(c, names, shared, out);
    if (fine && c->kind == CHART_HEAT)
        heat(c, names, out);
    else if (fine && (fine = data(c, names, out)))
        plot(c, out);
    chart_names_free(names);
    free(shared);
    return fine;
}

static int png_file(const struct chart *c, const char *path, char *err, size_t err_size) {
    char *script = NULL;
    size_t len;
    FILE *f = open_memstream(&script, &len);
    bool fine = f && chart_script(c, f);
    int done = -1;
    if ((!f || fclose(f) == 0) && fine)
        done = gnuplot_file(script, path, err, err_size);
    else
        snprintf(err, err_size, "the host is out of memory");
    free(script);
    return done;
}

int chart_file(const struct chart *c, const char *ending, const char *path, char *err, size_t err_size) {
    struct outfile f = {0};
    if (strcmp(ending, "png") == 0)
        return png_file(c, path, err, err_size);
    bool fine = outfile_open(&f, path, err, err_size);
    if (fine && !(fine = chart_svg(c, false, f.stream)))
        snprintf(err, err_size, "the host is out of memory");
    fine = fine && outfile_flush(&f, err, err_size) && outfile_commit(&f, err, err_size);
    outfile_discard(&f);
    return fine ? 1 : -1;
}
