/* Tests the palette of plots and pages for readers who cannot distinguish red from green. */
#include "host/look.h"
#include "test/test.h"
#include "timing/report/causes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NORMAL, PROTANOPIA, DEUTERANOPIA, VIEWERS };
/* Matrices from linear RGB to the linear RGB that a viewer perceives: G. Machado et al., "A physiologically-based model
 * for simulation of color vision deficiency", IEEE TVCG 15(6), 2009, severity 1. */
static const double seen[VIEWERS][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
};

/* Converts "#rrggbb" to linear RGB, by the formula of sRGB. */
static void linear(const char *hex, double out[3]) {
    unsigned long rgb = strtoul(hex + 1, NULL, 16);
    for (int i = 0; i < 3; i++) {
        double c = (double)(rgb >> (16 - 8 * i) & 255) / 255;
        out[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
}

static double curve(double t) { return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116; }

/* Computes CIE L*a*b* (white D65) of a colour as a viewer sees it. */
static void lab(const char *hex, int viewer, double out[3]) {
    static const double to_xyz[3][3] = {
        {0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}};
    static const double white[3] = {0.95047, 1, 1.08883};
    double own[3], c[3], f[3];
    linear(hex, own);
    for (int i = 0; i < 3; i++) {
        double v = 0;
        for (int k = 0; k < 3; k++)
            v += seen[viewer][i][k] * own[k];
        c[i] = fmin(1, fmax(0, v));
    }
    for (int i = 0; i < 3; i++) {
        double v = 0;
        for (int k = 0; k < 3; k++)
            v += to_xyz[i][k] * c[k];
        f[i] = curve(v / white[i]);
    }
    out[0] = 116 * f[1] - 16;
    out[1] = 500 * (f[0] - f[1]);
    out[2] = 200 * (f[1] - f[2]);
}

static double difference(const char *a, const char *b, int viewer) {
    double x[3], y[3];
    lab(a, viewer, x);
    lab(b, viewer, y);
    return sqrt(pow(x[0] - y[0], 2) + pow(x[1] - y[1], 2) + pow(x[2] - y[2], 2));
}

/* Returns the contrast of two colours by the formula of WCAG 2. */
static double contrast(const char *a, const char *b) {
    double x[3], y[3];
    linear(a, x);
    linear(b, y);
    double p = 0.2126 * x[0] + 0.7152 * x[1] + 0.0722 * x[2], q = 0.2126 * y[0] + 0.7152 * y[1] + 0.0722 * y[2];
    return (fmax(p, q) + 0.05) / (fmin(p, q) + 0.05);
}

/* Checks the test's own formulas on published values: L*a*b* of sRGB red is 53.24, 80.09, 67.20, and black on white has
 * a contrast of 21. Red and green of the same lightness are near for a viewer with deuteranopia, and far for others. */
START_TEST(the_measure_is_right) {
    double red[3];
    lab("#ff0000", NORMAL, red);
    ck_assert_double_eq_tol(red[0], 53.24, 0.05);
    ck_assert_double_eq_tol(red[1], 80.09, 0.05);
    ck_assert_double_eq_tol(red[2], 67.20, 0.05);
    ck_assert_double_eq_tol(contrast("#000000", "#ffffff"), 21, 1e-9);
    ck_assert_double_lt(difference("#b56b3c", "#7f8a3b", DEUTERANOPIA), 15);
    ck_assert_double_gt(difference("#b56b3c", "#7f8a3b", NORMAL), 30);
}
END_TEST

/* In a stack, any two colours may touch, since the colours between them may have no share. */
START_TEST(colours_differ_for_every_viewer) {
    for (int a = 0; a < LOOK_COLORS; a++)
        for (int b = 0; b < a; b++)
            for (int viewer = 0; viewer < VIEWERS; viewer++) {
                double light = difference(look_light(a), look_light(b), viewer);
                double dark = difference(look_dark(a), look_dark(b), viewer);
                ck_assert_msg(light >= 15 && dark >= 15, "colours %d and %d, viewer %d: %.1f, dark %.1f", a, b, viewer,
                              light, dark);
            }
}
END_TEST

START_TEST(colours_stand_out_from_the_page) {
    for (int i = 0; i < LOOK_COLORS; i++) {
        ck_assert_double_ge(contrast(look_light(i), LOOK_LIGHT_PAGE), 3);
        ck_assert_double_ge(contrast(look_dark(i), LOOK_DARK_PAGE), 3);
    }
}
END_TEST

START_TEST(each_cause_has_its_own_words_and_colour) {
    for (int a = 0; a < N_SLOTS; a++) {
        ck_assert_int_eq(slot_find(issue_slot_names[a]), a);
        ck_assert_int_eq(slot_find(slot_words(a)), a);
        ck_assert_int_eq(look_series(slot_words(a), LOOK_COLORS - 1), slot_color(a));
        ck_assert_int_lt(slot_color(a), LOOK_COLORS);
        for (int b = 0; b < a; b++)
            ck_assert(slot_color(a) != slot_color(b) && strcmp(slot_words(a), slot_words(b)) != 0);
    }
    ck_assert_int_eq(slot_find("spe"), -1);
    ck_assert_int_eq(look_series("spe", LOOK_COLORS + 2), 2);
}
END_TEST

SUITE(host_look) {
    TEST(the_measure_is_right);
    TEST(colours_differ_for_every_viewer);
    TEST(colours_stand_out_from_the_page);
    TEST(each_cause_has_its_own_words_and_colour);
}
