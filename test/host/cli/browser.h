#ifndef TEST_BROWSER_H
#define TEST_BROWSER_H
/* Opens pages in headless Chromium. */
#include "cli_help.h"

#define NO_BROWSER "no Chromium: sudo apt-get install chromium, or chromium-headless-shell"

/* Returns the command of an installed browser, or NULL if there is none. */
static inline const char *browser(void) {
    static const char *const names[] = {"chromium", "chromium-headless-shell", "chromium-browser", "google-chrome"};
    for (int i = 0; i < 4; i++) {
        char command[64];
        snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", names[i]);
        if (system(command) == 0)
            return names[i];
    }
    return NULL;
}

/* Opens a page in a window of this width, runs its scripts, and returns the resulting HTML, which the caller frees.
 * The narrow window, of a telephone, is dark. `trial` replaces </body>: a script element, which runs after the page's
 * own script and collects errors in the array `bad`, and </body>. The rules of access.js run first. */
static inline char *browse(const char *name, const char *page, int width, const char *trial) {
    static const char watch[] =
        "<script>const bad=[];addEventListener('error',e=>bad.push(e.message||'not loaded'),true);"
        "console.error=console.warn=m=>bad.push(m)</script>";
    char command[640], path[PATH_MAX + 64];
    const char *head = strstr(page, "<head>"), *body = strstr(page, "</body>");
    ck_assert(head && body);
    head += strlen("<head>");
    snprintf(path, sizeof path, "%s/test/host/cli/access.js", cli_root);
    char *rules = slurp(path);
    FILE *f = fopen("tried.html", "w");
    fprintf(f, "%.*s%s%.*s<script>%s</script>%s%s", (int)(head - page), page, watch, (int)(body - head), head, rules,
            trial, body + strlen("</body>"));
    fclose(f);
    free(rules);
    snprintf(command, sizeof command,
             "timeout 90 %s --headless --no-sandbox --disable-gpu --user-data-dir=profile --virtual-time-budget=20000"
             " --blink-settings=preferredColorScheme=%d --window-size=%d,900 --dump-dom \"file://$PWD/tried.html\""
             " >dom.html 2>log.txt",
             name, width >= 600, width);
    ck_assert_int_eq(system(command), 0);
    return slurp("dom.html");
}

/* Opens a page on a desktop and on a telephone. Fails if the script, or a rule of access.js, finds an error. The script
 * sets the title to "fine" or to the errors. */
static inline void browse_both(const char *name, const char *page, const char *trial) {
    static const int widths[] = {1280, 390};
    for (int i = 0; i < 2; i++) {
        char *dom = browse(name, page, widths[i], trial), *title = strstr(dom, "<title>");
        ck_assert_msg(title && strncmp(title, "<title>fine</title>", 19) == 0, "%d pixels: %.900s", widths[i],
                      title ? title : dom);
        free(dom);
    }
}

/* A trial that has no own tests. */
#define NO_TRIAL "<script>addEventListener('load',()=>document.title=bad.join('|')||'fine')</script></body>"
#endif
