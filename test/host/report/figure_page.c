/* Tests the HTML page that `heddle reproduce` writes: it is well-formed and works in a browser. */
#include "test/host/cli/browser.h"
#include <stdio.h>

/* Returns true for HTML elements that have no end tag. */
static bool is_void(const char *tag, size_t len) {
    static const char *const names[] = {"meta", "link", "img", "br"};
    for (int i = 0; i < 4; i++)
        if (strlen(names[i]) == len && memcmp(tag, names[i], len) == 0)
            return true;
    return false;
}

/* Checks that tags nest, that attributes have closed quotes, and that < and & are escaped. Returns the number of
 * elements. */
static int check_html(const char *page) {
    struct {
        const char *at;
        size_t len;
    } open[64];
    int depth = 0, n = 0;
    for (const char *at = page; *at; at++) {
        if (*at == '&')
            ck_assert_msg(at[strspn(at + 1, "#0123456789abcdefghijklmnopqrstuvwxyz") + 1] == ';', "%.40s", at);
        if (*at != '<' || at[1] == '!')
            continue;
        bool end = at[1] == '/';
        const char *tag = at + 1 + end;
        size_t len = strspn(tag, "abcdefghijklmnopqrstuvwxyz0123456789");
        ck_assert_msg(len > 0, "%.60s", at);
        for (at = tag + len; *at && *at != '>'; at++)
            if (*at == '"')
                ck_assert_msg((at = strchr(at + 1, '"')) != NULL, "%.60s", tag);
        ck_assert_msg(*at == '>', "%.60s", tag);
        if (end) {
            depth--;
            ck_assert_msg(depth >= 0 && open[depth].len == len && memcmp(open[depth].at, tag, len) == 0,
                          "%.60s ends %.60s", tag, depth >= 0 ? open[depth].at : "nothing");
        } else if (!is_void(tag, len) && at[-1] != '/') {
            ck_assert_int_lt(depth, 64);
            open[depth].at = tag;
            open[depth++].len = len;
            if (len == 5 && memcmp(tag, "style", 5) == 0)
                at = strstr(at, "</style") - 1;
            else if (len == 6 && memcmp(tag, "script", 6) == 0)
                at = strstr(at, "</script") - 1;
        }
        n += !end;
    }
    ck_assert_int_eq(depth, 0);
    return n;
}

START_TEST(the_page_is_well_formed) {
    cli_setup();
    STATUS(HEDDLE_OK, "reproduce subwarp-table3 pepsc-6 -j 2");
    char *page = slurp("reproduction/index.html");
    ck_assert_int_gt(check_html(page), 100);
    ck_assert_int_eq(occurrences(page, "<h2 "), 3); /* headings of two figures and of the presets */
    /* the page contains the target of every link inside the page */
    for (const char *at = page; (at = strstr(at, "href=\"#")) != NULL;) {
        char id[96];
        at += 7;
        snprintf(id, sizeof id, "id=\"%.*s\"", (int)strcspn(at, "\""), at);
        ck_assert_msg(occurrences(page, id) == 1, "%s", id);
    }
    free(page);
    cli_teardown();
}
END_TEST

/* The text about a figure names the values that differ from the paper's value in direction, and the value that is
 * furthest from the paper's value. The page lists the machine of each series and every option of each preset
 * (host/report/figure_machines.c). By default only one of the figures has a value in the other direction. With
 * HEDDLE_EVERY the long figures dpe-12, which also has one, and subwarp-12, which shows a best series, run too. */
START_TEST(the_page_shows_machines_and_differences) {
    cli_setup();
    STATUS(HEDDLE_OK, "reproduce pepsc-control subwarp-3 dpe-scoreboard %s --no-plots -j 2",
           test_every() ? "dpe-12 subwarp-12" : "");
    char *page = slurp("reproduction/index.html");
    if (!LEAST_TABLES) /* with minimal tables (TINY=1), this value has the same direction as in the paper */
        SAYS(page, "The other way: most under optimistic (1.");
    if (test_every()) {
        SAYS(page, "The other way: mumpp under dpe (0.");
        SAYS(page, "<tr><td>Both N&#62;=0.5</td><td>si</td><td>turing</td><td>memory.latency=600 si.yield=true "
                   "si.trigger=half</td><td>its</td></tr>");
        SAYS(page, "<td>the best, for each program, of SOS N=1, SOS N&#62;=0.5,");
    }
    SAYS(page, "Furthest off: srad under folding, reduction (0.779, the text has 0.500).");
    SAYS(page, "<th>option</th><th>pepsc</th><th>gt200</th><th>turing</th><th>fermi</th>");
    /* gpu.sms of the presets pepsc (1) and gt200 (30); the settings of the figure's series are in other rows */
    SAYS(page, "<tr><td>gpu.sms</td><td>1</td><td>30</td><td>");
    SAYS(page, ", SQLite 3.");
    free(page);
    cli_teardown();
}
END_TEST

/* Script that runs after the page's own script. It clicks each column header twice; the first click must sort upwards,
 * the second downwards. */
static const char trial[] =
    "<script>onload=()=>{let clicks=0;const text=new Intl.Collator(undefined,{numeric:true}).compare,"
    "by=(a,b)=>typeof a+typeof "
    "b==='stringstring'?text(a,b):a<b?-1:a>b?1:0,v=c=>c.dataset.v===undefined?c.textContent:c.dataset.v===''?-Infinity:"
    "+c.dataset.v;"
    "for(const t of document.querySelectorAll('table'))t.querySelectorAll('th').forEach((h,k)=>{for(const up of[1,-1])"
    "{h.click();clicks++;const x=[...t.tBodies[0].rows].map(r=>v(r.cells[k]));for(let i=1;i<x.length;i++)"
    "if(by(x[i-1],x[i])*up>0)bad.push('column '+k+': '+x)}});"
    "if(clicks<20)bad.push(clicks+' clicks');document.title=bad.join('|')||'fine'}</script></body>";

START_TEST(the_page_works_in_a_browser) {
    const char *name = browser();
    if (!name) {
        test_skip(NO_BROWSER);
        return;
    }
    cli_setup();
    STATUS(HEDDLE_OK, "reproduce subwarp-table3 pepsc-2 -j 2");
    char *page = slurp("reproduction/index.html");
    browse_both(name, page, trial);
    free(page);
    cli_teardown();
}
END_TEST

SUITE(host_cli_figure_page) {
    TEST(the_page_is_well_formed);
    TEST(the_page_shows_machines_and_differences);
    TEST(the_page_works_in_a_browser);
}
