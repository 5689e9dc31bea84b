/* Every statistic is named in the source of some test, because a statistic that no test reads could be wrong
 * unnoticed. Mentions in tests of the registry (stat*.c in this folder) do not count, since these tests add all
 * statistics by hand. stat_ratios.c tests ratios. */
#include "test/test.h"
#include "timing/report/stat.h"
#include <ctype.h>
#include <ftw.h>
#include <stdio.h>

enum { MOST_STATS = 1024, LONGEST = 64 };
static bool named[MOST_STATS];

static bool of_a_name(int c) { return islower(c) || isdigit(c) || c == '_' || c == '.'; }

/* Marks the statistics that this file names in quotes. */
static void read_names(FILE *in) {
    char word[LONGEST];
    bool inside = false;
    size_t len = 0;
    for (int c; (c = fgetc(in)) != EOF;) {
        if (c == '"') {
            word[len] = '\0';
            int i = inside && len ? stat_index(word) : -1;
            if (i >= 0)
                named[i] = true;
            inside = true;
            len = 0;
        } else if (!of_a_name(c) || len + 1 == LONGEST) {
            inside = false;
        } else if (inside) {
            word[len++] = (char)c;
        }
    }
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st;
    const char *name = path + at->base, *end = strrchr(name, '.');
    if (type != FTW_F || !end || (strcmp(end, ".c") != 0 && strcmp(end, ".h") != 0) || strstr(path, "/report/stat"))
        return 0;
    FILE *in = fopen(path, "r");
    if (!in)
        return -1;
    read_names(in);
    fclose(in);
    return 0;
}

START_TEST(every_statistic_is_named_by_a_test) {
    int n, without = 0;
    char text[4096] = "";
    const struct stat_def *d = stat_defs(&n);
    ck_assert_int_le(n, MOST_STATS);
    memset(named, 0, sizeof named);
    ck_assert_int_eq(nftw("test", visit, 16, FTW_PHYS), 0);
    for (int i = 0; i < n; i++)
        if (!named[i] && d[i].kind != STAT_RATIO) {
            without++;
            if (strlen(text) + LONGEST < sizeof text)
                strcat(strcat(text, " "), d[i].name);
        }
    ck_assert_msg(!without, "%d statistics that no test names: what would notice that they stop counting?%s", without,
                  text);
}
END_TEST

/* Only a whole name in quotes counts, not a part of a name or a longer string. */
START_TEST(a_part_is_no_name) {
    static const char text[] = "x(\"gpu.ctas\"); // dram.requests \"gpu.warps more\" \"l1.hit\" \"issue.barrier\"";
    FILE *in = fmemopen((void *)(uintptr_t)text, sizeof text - 1, "r");
    memset(named, 0, sizeof named);
    read_names(in);
    fclose(in);
    ck_assert(named[stat_index("gpu.ctas")] && named[stat_index("issue.barrier")]);
    ck_assert(!named[stat_index("dram.requests")] && !named[stat_index("gpu.warps")] && !named[stat_index("l1.hits")]);
}
END_TEST

SUITE(timing_stat_named) {
    TEST(every_statistic_is_named_by_a_test);
    TEST(a_part_is_no_name);
}
