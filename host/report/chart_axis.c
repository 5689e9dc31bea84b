/* Computes the axes of charts (chart_axis.h). */
#include "chart_axis.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the symbol of a unit, or an empty text if the unit has none. */
static const char *symbol_of(const char *unit) {
    static const char *const symbols[][2] = {{"joules", "J"}, {"bytes", "B"}, {"seconds", "s"}};
    for (size_t i = 0; unit && i < sizeof symbols / sizeof symbols[0]; i++)
        if (strcmp(unit, symbols[i][0]) == 0)
            return symbols[i][1];
    return "";
}

const char *axis_number(double v, const char *unit, char out[32]) {
    static const char prefixes[] = "afpnum kMGTPE"; /* 1e-18 to 1e18; the blank is 1 */
    enum { ONE = 6, MOST = 12 };
    const char *symbol = symbol_of(unit);
    double size = fabs(v);
    int at = ONE;
    if (!*symbol && size >= 1024 && size < 1048576 && fmod(size, 1024) == 0) {
        snprintf(out, 32, "%.0fK", v / 1024);
        return out;
    }
    if (size > 0 && (size >= 9999.5 || size < (*symbol ? 0.1 : 1e-3)))
        at = ONE + (int)floor(log10(size) / 3 + 1e-9);
    at = at < 0 ? 0 : at > MOST ? MOST : at;
    v *= pow(1000, ONE - at);
    snprintf(out, 32, "%.4g%s%.*s%s", v, at != ONE || *symbol ? " " : "", at != ONE, &prefixes[at], symbol);
    return out;
}

size_t axis_width(const struct axis *a, const char *unit) {
    size_t most = 1;
    for (int i = 0; i < a->n; i++) {
        char text[32];
        size_t own = strlen(axis_number(a->tick[i], unit, text));
        most = own > most ? own : most;
    }
    return most;
}

double axis_at(const struct axis *a, double v) {
    if (a->logarithmic)
        return log(v / a->low) / log(a->high / a->low);
    return (v - a->low) / (a->high - a->low);
}

/* Widens the range to round numbers and sets four to eight ticks: multiples of 1, 2 or 5 times a power of ten. */
static void round_ticks(struct axis *a) {
    enum { WANTED = 5 };
    double range = a->high > a->low ? a->high - a->low : fabs(a->high) > 0 ? fabs(a->high) : 1;
    double power = pow(10, floor(log10(range / WANTED))), part = range / WANTED / power;
    double step = power * (part <= 1.0001 ? 1 : part <= 2.0001 ? 2 : part <= 5.0001 ? 5 : 10);
    double first = floor(a->low / step + 1e-9), last = ceil(a->high / step - 1e-9);
    last = last > first ? last : first + 1;
    a->low = first * step;
    a->high = last * step;
    for (double k = first; k <= last && a->n < AXIS_TICKS; k++)
        a->tick[a->n++] = k * step;
}

/* Sets a tick at each power of ten of a logarithmic axis, or of two if there are few. */
static void log_ticks(struct axis *a) {
    double base = log10(a->high / a->low) < 2 ? 2 : 10;
    for (double k = ceil(log(a->low) / log(base) - 1e-9); a->n < AXIS_TICKS; k++) {
        double v = pow(base, k);
        if (v > a->high * 1.0001)
            return;
        a->tick[a->n++] = v;
    }
}

static void include(struct axis *a, double v) {
    if (!isfinite(v) || (a->logarithmic && v <= 0))
        return;
    a->low = fmin(a->low, v);
    a->high = fmax(a->high, v);
}

/* Completes the range of an axis: an axis without values gets a default range, and a logarithmic one a margin. */
static void finish_log(struct axis *a) {
    const double margin = 4;
    if (a->low > a->high)
        a->low = a->high = 1;
    a->low /= margin;
    a->high *= margin;
    log_ticks(a);
}

void axis_of_values(struct axis *a, const struct chart *c) {
    *a = (struct axis){.low = INFINITY, .high = -INFINITY, .logarithmic = c->n_roofs > 0};
    for (int i = 0; i < c->n; i++) {
        double sum = 0;
        for (int s = 0; s < c->n_series; s++) {
            double v = c->y[i * c->n_series + s];
            sum += isfinite(v) ? v : 0;
            include(a, c->kind == CHART_STACK ? sum : v);
            include(a, c->paper ? c->paper[i * c->n_series + s] : v);
        }
    }
    for (int i = 0; i < c->n_roofs; i++)
        include(a, c->roofs[i].height);
    if (a->logarithmic) {
        finish_log(a);
        return;
    }
    if (!c->x)
        include(a, 0);
    if (c->level)
        include(a, 1);
    if (c->percent && c->kind == CHART_STACK) {
        a->low = 0;
        a->high = 100;
    }
    if (a->low > a->high)
        a->low = a->high = 0;
    round_ticks(a);
}

/* Returns true if the distinct x of the chart are a geometric series, such as the sizes 8K, 16K, 32K. Then makes each
 * of them a tick. */
static bool geometric(struct axis *a, const struct chart *c) {
    int *order = chart_order(c);
    for (int i = 0; order && i < c->n && a->n < AXIS_TICKS; i++) {
        double x = c->x[order[i]];
        if (isfinite(x) && (!a->n || a->tick[a->n - 1] != x))
            a->tick[a->n++] = x;
    }
    bool fine = order && a->n > 2 && a->n < AXIS_TICKS && a->tick[0] > 0;
    for (int i = 2; i < a->n && fine; i++)
        fine =
            fabs(a->tick[i] / a->tick[i - 1] / (a->tick[1] / a->tick[0]) - 1) < 0.01 && a->tick[1] / a->tick[0] > 1.5;
    if (!fine)
        a->n = 0;
    free(order);
    return fine;
}

void axis_of_places(struct axis *a, const struct chart *c) {
    *a = (struct axis){.low = INFINITY, .high = -INFINITY, .logarithmic = c->n_roofs > 0};
    if (!c->x)
        return;
    if (!a->logarithmic && c->kind == CHART_LINES && geometric(a, c)) {
        a->logarithmic = true;
        double step = sqrt(a->tick[1] / a->tick[0]);
        a->low = a->tick[0] / step;
        a->high = a->tick[a->n - 1] * step;
        return;
    }
    for (int i = 0; i < c->n; i++)
        include(a, c->x[i]);
    for (int i = 0; i < c->n_roofs; i++)
        include(a, c->roofs[i].height / c->roofs[i].slope);
    if (a->logarithmic) {
        finish_log(a);
        return;
    }
    if (a->low > a->high)
        a->low = a->high = 0;
    round_ticks(a);
}
