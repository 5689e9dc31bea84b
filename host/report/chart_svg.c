/* Draws a chart as SVG, without any other program. In a page, the page's style colours the drawing and its script
 * answers the mouse; a file has a style of its own, and its values appear as tool tips. */
#include "chart.h"
#include "chart_axis.h"
#include "host/look.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sizes in pixels. LETTER: the mean width of a letter. NARROW: the width of a chart that fits a telephone. */
enum { LETTER = 6, LINE = 16, TOP = 26, NARROW = 340, PLOT = 260, GAP = 8, CELL = 44, ROW = 18, WIDEST = 4000 };

/* The chart's frame: the plot area and its axes. */
struct frame {
    const struct chart *c;
    FILE *out;
    char **names, *shared; /* names along x (chart_names()); the words that all names share */
    double left, top, width, height, bottom, full_width, full_height;
    struct axis x, y;
    bool slanted;
};

/* Writes text with the special characters of XML escaped and without control characters. */
static void chart_text(FILE *out, const char *text) {
    for (; text && *text; text++)
        if (strchr("<>&\"'", *text))
            fprintf(out, "&#%d;", *text);
        else
            fputc(iscntrl((unsigned char)*text) ? ' ' : *text, out);
}

/* Writes text at (x, y), rotated by `turn` degrees. `anchor`, the part of the text at (x, y), is start, middle or
 * end. */
static void label(const struct frame *f, double x, double y, const char *anchor, double turn, const char *text) {
    fprintf(f->out, "<text x='%.1f' y='%.1f' text-anchor='%s'", x, y, anchor);
    if (turn != 0)
        fprintf(f->out, " transform='rotate(%g %.1f %.1f)'", turn, x, y);
    fputc('>', f->out);
    chart_text(f->out, text);
    fputs("</text>", f->out);
}

/* Writes the tool tip of a value: "lud, dpe: 1.25". */
static void tip(const struct frame *f, const char *place, const char *series, double v) {
    char number[32];
    fputs("<title>", f->out);
    chart_text(f->out, place);
    fputs(place && *place ? ", " : "", f->out);
    chart_text(f->out, series);
    fprintf(f->out, ": %s%s</title>", axis_number(v, f->c->y_label, number), f->c->percent ? " %" : "");
}

static double place_x(const struct frame *f, double v) { return f->left + f->width * axis_at(&f->x, v); }
static double place_y(const struct frame *f, double v) { return f->top + f->height * (1 - axis_at(&f->y, v)); }

static size_t longest(char *const *names, int n) {
    size_t most = 0;
    for (int i = 0; i < n; i++) {
        size_t own = chart_characters(names[i]);
        most = own > most ? own : most;
    }
    return most;
}

static bool series_any(const struct chart *c, int s) {
    for (int i = 0; i < c->n; i++)
        if (isfinite(c->y[i * c->n_series + s]))
            return true;
    return false;
}

/* Returns the number of bars at a place. */
static int bars_at(const struct chart *c) {
    int n = 0;
    for (int s = 0; s < c->n_series; s++)
        n += series_any(c, s);
    return c->kind == CHART_STACK ? 1 : n;
}

/* ---- key: the series with their colours, in lines above the plot ---- */

/* Writes one entry of the key at (x, y). The page's script shows and hides the series when the entry is clicked. */
static void key_entry(const struct frame *f, double x, double y, int class, int color, const char *name) {
    fprintf(f->out, "<g class='key' data-s='%d'><rect class='c%d m' x='%.1f' y='%.1f' width='11' height='11'/>", class,
            color, x, y - 10);
    label(f, x + 15, y, "start", 0, name);
    fputs("</g>\n", f->out);
}

/* Writes the key if `draw` is true. Returns the height of the key in either case. */
static double key(const struct frame *f, bool draw) {
    double x = f->left, y = TOP + 10;
    const struct chart *c = f->c;
    for (int s = 0; s < c->n_series + c->n_roofs; s++) {
        const char *name = s < c->n_series ? c->series[s] : c->roofs[s - c->n_series].name;
        double own = 15 + LETTER * (double)chart_characters(name) + 14;
        if (s < c->n_series && !series_any(c, s))
            continue;
        if (x > f->left && x + own > f->full_width) {
            x = f->left;
            y += LINE;
        }
        if (draw)
            key_entry(f, x, y, s, s < c->n_series ? look_series(name, s) : (s - c->n_series) % LOOK_COLORS, name);
        x += own;
    }
    return y - TOP + 8;
}

/* ---- layout ---- */

static void measure_heat(struct frame *f) {
    size_t columns = longest(f->c->series, f->c->n_series);
    f->left = LETTER * (double)longest(f->names, f->c->n) + 2 * GAP;
    f->width = CELL * f->c->n_series;
    f->height = ROW * f->c->n;
    f->top = TOP + (columns * LETTER > CELL ? 0.75 * LETTER * (double)columns : 0) + LINE;
    f->slanted = columns * LETTER > CELL;
    f->bottom = f->shared ? LINE + GAP : GAP;
    f->full_width = fmax(NARROW, f->left + f->width + (f->slanted ? 0.75 * LETTER * (double)columns : GAP));
    f->full_height = f->top + f->height + f->bottom;
}

static void measure(struct frame *f) {
    const struct chart *c = f->c;
    double each = c->kind == CHART_STACK ? 24 : 12 * (bars_at(c) + 1), names = 0;
    f->left = 26 + LETTER * (double)axis_width(&f->y, c->y_label);
    f->width = c->x ? 560 : fmin(WIDEST, fmax(each, 30) * c->n);
    if (!c->x) {
        names = LETTER * (double)longest(f->names, c->n);
        f->slanted = names + LETTER > f->width / c->n;
        if (f->slanted)
            f->left = fmax(f->left, 0.75 * names - f->width / c->n / 2 + GAP);
    }
    f->width = fmax(f->width, NARROW - f->left - GAP);
    f->height = PLOT;
    f->full_width = f->left + f->width + 2 * GAP;
    f->top = TOP + key(f, false) + GAP;
    f->bottom = LINE + GAP + (f->slanted ? 0.75 * names : 0) + (c->x_label || f->shared ? LINE : 0);
    f->full_height = f->top + f->height + f->bottom;
}

/* ---- the parts of a drawing ---- */

static void begin(const struct frame *f, bool page) {
    fprintf(f->out,
            "<svg%s class='chart' role='img' width='%.0f' height='%.0f' viewBox='0 0 "
            "%.0f %.0f' aria-label='",
            page ? "" : " xmlns='http://www.w3.org/2000/svg'", f->full_width, f->full_height, f->full_width,
            f->full_height);
    chart_text(f->out, f->c->title);
    fputs("'>\n", f->out);
    if (!page) {
        fputs("<style>text{font:11px "
              "sans-serif;fill:#222}.h{font-weight:bold}.g{stroke:#ddd}.paper{fill:#fff;stroke:#222}",
              f->out);
        look_css_plain(f->out);
        fputs(".m{stroke:none}.l{fill:none;stroke-width:2}</style><rect width='100%' height='100%' fill='#fff'/>\n",
              f->out);
    }
    fprintf(f->out, "<text class='h' x='%.1f' y='16'>", GAP * 1.0);
    chart_text(f->out, f->c->title);
    fputs("</text>\n", f->out);
}

static void axes(const struct frame *f) {
    const struct chart *c = f->c;
    char number[32];
    for (int i = 0; i < f->y.n; i++) {
        double y = place_y(f, f->y.tick[i]);
        fprintf(f->out, "<path class='g' d='M%.1f %.1fh%.1f'/>", f->left, y, f->width);
        label(f, f->left - 5, y + 4, "end", 0, axis_number(f->y.tick[i], c->y_label, number));
    }
    double base = f->top + f->height;
    for (int i = 0; c->x && i < f->x.n; i++) {
        double x = place_x(f, f->x.tick[i]);
        fprintf(f->out, "<path class='g' d='M%.1f %.1fv%.1f'/>", x, f->top, f->height);
        label(f, x, base + LINE, "middle", 0, axis_number(f->x.tick[i], NULL, number));
    }
    double each = f->width / (c->n ? c->n : 1);
    for (int i = 0; !c->x && i < c->n; i++)
        label(f, f->left + each * (i + 0.5), base + (f->slanted ? 10 : LINE), f->slanted ? "end" : "middle",
              f->slanted ? -45 : 0, f->names[i]);
    if (c->y_label && *c->y_label)
        label(f, 14, f->top + f->height / 2, "middle", -90, c->y_label);
    if (c->x_label || f->shared)
        label(f, f->left + f->width / 2, f->full_height - GAP, "middle", 0, c->x_label ? c->x_label : f->shared);
    fputc('\n', f->out);
    if (c->level)
        fprintf(f->out, "<path class='one' stroke='#808080' stroke-dasharray='4 3' d='M%.1f %.1fh%.1f'/>\n", f->left,
                place_y(f, 1), f->width);
}

/* Writes one bar from value `from` to value `to`. */
static void bar(const struct frame *f, int i, int s, double x, double width, double from, double to) {
    double low = place_y(f, from), high = place_y(f, to);
    fprintf(f->out, "<rect class='c%d m s%d' data-p='", look_series(f->c->series[s], s), s);
    chart_text(f->out, f->c->places[i]);
    fputs("' data-k='", f->out);
    chart_text(f->out, f->c->series[s]);
    fprintf(f->out, "' x='%.1f' y='%.2f' width='%.1f' height='%.2f'>", x, high, width, fmax(0, low - high));
    tip(f, f->c->places[i], f->c->series[s], to - from);
    fputs("</rect>", f->out);
}

/* Writes the paper's number for a bar, as a diamond in the middle of the bar. */
static void diamond(const struct frame *f, int i, int s, double x) {
    double v = f->c->paper ? f->c->paper[i * f->c->n_series + s] : NAN;
    if (!isfinite(v))
        return;
    fprintf(f->out, "<path class='s%d paper' d='M%.1f %.1fl4 5l-4 5l-4 -5z'>", s, x, place_y(f, v) - 5);
    tip(f, f->c->places[i], "the paper", v);
    fputs("</path>", f->out);
}

static void bars(const struct frame *f) {
    const struct chart *c = f->c;
    int n = bars_at(c);
    double each = f->width / c->n, gap = c->kind == CHART_STACK ? each * 0.25 : each / (n + 1);
    for (int i = 0; i < c->n; i++) {
        double from = 0, x = f->left + each * i + gap / 2, width = (each - gap) / n;
        fprintf(f->out, "<g class='%s'>", c->kind == CHART_STACK ? "stack" : "bars");
        for (int s = 0; s < c->n_series; s++) {
            double v = c->y[i * c->n_series + s];
            if (isfinite(v) && c->kind == CHART_STACK) {
                bar(f, i, s, x, width, from, from + v);
                from += v;
            } else if (isfinite(v)) {
                bar(f, i, s, x, width, 0, v);
            }
            if (c->kind == CHART_BARS)
                diamond(f, i, s, x + width / 2);
            x += c->kind != CHART_STACK && series_any(c, s) ? width : 0;
        }
        fputs("</g>\n", f->out);
    }
}

/* Writes the points of a series, and with CHART_LINES the line between them. `order` sorts the places by x. */
static void curve(const struct frame *f, const int *order, int s) {
    const struct chart *c = f->c;
    int color = look_series(c->series[s], s);
    if (c->kind == CHART_LINES) {
        const char *step = "M";
        fprintf(f->out, "<path class='c%d l s%d' d='", color, s);
        for (int i = 0; i < c->n; i++) {
            double x = c->x[order[i]], y = c->y[order[i] * c->n_series + s];
            if (!isfinite(x) || !isfinite(y))
                continue;
            fprintf(f->out, "%s%.1f %.1f", step, place_x(f, x), place_y(f, y));
            step = "L";
        }
        fputs("'/>", f->out);
    }
    for (int i = 0; i < c->n; i++) {
        double x = c->x[order[i]], y = c->y[order[i] * c->n_series + s];
        char number[32];
        if (!isfinite(x) || !isfinite(y) || (f->x.logarithmic && x <= 0) || (f->y.logarithmic && y <= 0))
            continue;
        fprintf(f->out, "<circle class='c%d m s%d' r='3.5' cx='%.1f' cy='%.1f'>", color, s, place_x(f, x),
                place_y(f, y));
        tip(f,
            c->n_roofs || c->kind == CHART_POINTS ? c->places ? c->places[order[i]] : "" : axis_number(x, NULL, number),
            c->series[s], y);
        fputs("</circle>", f->out);
    }
    fputc('\n', f->out);
}

static bool curves(const struct frame *f) {
    const struct chart *c = f->c;
    int *order = chart_order(c);
    for (int s = 0; order && s < c->n_series; s++)
        curve(f, order, s);
    for (int i = 0; i < c->n_roofs; i++) {
        const struct chart_roof *r = &c->roofs[i];
        double bend = r->height / r->slope, first = fmax(f->x.low, f->y.low / r->slope);
        fprintf(f->out, "<path class='c%d l s%d' d='M%.1f %.1f", i % LOOK_COLORS, c->n_series + i, place_x(f, first),
                place_y(f, first * r->slope));
        fprintf(f->out, "L%.1f %.1fH%.1f'/>\n", place_x(f, bend), place_y(f, r->height), f->left + f->width);
    }
    bool fine = order != NULL;
    free(order);
    return fine;
}

/* Returns a value's colour in a heat map, from -1 (orange) over 0 (the page's colour) to 1 (blue). Ratios are relative
 * to 1, other values to zero. `most` has the strongest colour. */
static double heat_of(const struct chart *c, double v, double most) {
    double strength = c->level ? log(v) / log(most) : most > 0 ? v / most : 0;
    return fmax(-1, fmin(1, strength));
}

static void heat(const struct frame *f) {
    const struct chart *c = f->c;
    double most = 0;
    char number[32];
    for (int i = 0; i < c->n * c->n_series; i++)
        most = isfinite(c->y[i]) && fabs(c->y[i]) > most ? fabs(c->y[i]) : most;
    most = c->level ? chart_strongest(c) : most;
    for (int s = 0; s < c->n_series; s++)
        label(f, f->left + CELL * (s + 0.5), f->top - 6, f->slanted ? "start" : "middle", f->slanted ? -45 : 0,
              c->series[s]);
    for (int i = 0; i < c->n; i++) {
        double y = f->top + ROW * i;
        label(f, f->left - 6, y + 13, "end", 0, f->names[i]);
        for (int s = 0; s < c->n_series; s++) {
            double v = c->y[i * c->n_series + s], h = isfinite(v) ? heat_of(c, v, most) : 0;
            if (!isfinite(v))
                continue;
            fprintf(f->out, "<rect class='m' data-p='");
            chart_text(f->out, c->places[i]);
            fputs("' data-k='", f->out);
            chart_text(f->out, c->series[s]);
            fprintf(f->out, "' fill='%s' fill-opacity='%.2f' x='%.1f' y='%.1f' width='%d' height='%d'>",
                    h < 0 ? "#e67814" : "#2878c8", 0.65 * fabs(h), f->left + CELL * s, y, CELL - 1, ROW - 1);
            tip(f, c->places[i], c->series[s], v);
            fputs("</rect>", f->out);
            label(f, f->left + CELL * s + CELL / 2 - 1, y + 13, "middle", 0, axis_number(v, c->y_label, number));
        }
        fputc('\n', f->out);
    }
    if (f->shared)
        label(f, f->left, f->full_height - GAP, "start", 0, f->shared);
}

bool chart_svg(const struct chart *c, bool page, FILE *out) {
    struct frame f = {.c = c, .out = out};
    bool fine = c->x || (f.names = chart_names(c->places, c->n, &f.shared)) != NULL;
    if (fine && c->kind == CHART_HEAT)
        measure_heat(&f);
    else if (fine) {
        axis_of_values(&f.y, c);
        axis_of_places(&f.x, c);
        measure(&f);
    }
    if (fine) {
        begin(&f, page);
        if (c->kind == CHART_HEAT) {
            heat(&f);
        } else {
            key(&f, true);
            axes(&f);
            if (c->x)
                fine = curves(&f);
            else
                bars(&f);
        }
        fputs("</svg>\n", out);
    }
    chart_names_free(f.names);
    free(f.shared);
    return fine;
}
