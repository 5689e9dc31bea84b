/* The palette of plots and pages (look.h). */
#include "look.h"
#include "timing/report/causes.h"

static const struct {
    const char *light, *dark;
} palette[LOOK_COLORS] = {
    {"#00659c", "#6baed3"}, {"#b9880e", "#e6b800"}, {"#b04a15", "#e07b40"}, {"#6b59c7", "#b397f9"},
    {"#279374", "#5cc7a4"}, {"#bb274e", "#e37a7c"}, {"#4c90d0", "#3a78c0"}, {"#2f4f2b", "#c8e070"},
    {"#627181", "#8c92a0"}, {"#1f2f5f", "#dbe7ff"}, {"#690203", "#b06040"}, {"#292829", "#fffff7"},
};

const char *look_light(int i) { return palette[i % LOOK_COLORS].light; }
const char *look_dark(int i) { return palette[i % LOOK_COLORS].dark; }

int look_series(const char *name, int i) {
    int slot = slot_find(name);
    return slot >= 0 ? slot_color(slot) : i % LOOK_COLORS;
}

static void variables(FILE *out, const char *(*color)(int)) {
    fputs(":root{", out);
    for (int i = 0; i < LOOK_COLORS; i++)
        fprintf(out, "--c%d:%s;", i, color(i));
    fputc('}', out);
}

void look_css(FILE *out, bool dark) {
    variables(out, look_light);
    if (dark) {
        fputs("@media(prefers-color-scheme:dark){", out);
        variables(out, look_dark);
        fputc('}', out);
    }
    for (int i = 0; i < LOOK_COLORS; i++)
        fprintf(out, ".c%d{fill:var(--c%d);stroke:var(--c%d)}", i, i, i);
}

void look_css_plain(FILE *out) {
    for (int i = 0; i < LOOK_COLORS; i++)
        fprintf(out, ".c%d{fill:%s;stroke:%s}", i, look_light(i), look_light(i));
}
