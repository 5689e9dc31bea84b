#include "pages.h"
#include "host/table.h"
#include "ptx/diag.h"
#include "timing/config/places.h"
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PAGES = 100 };
static const char ending[] = ".md";

static bool is_page(const struct dirent *e) {
    size_t len = strlen(e->d_name);
    return len > strlen(ending) && strcmp(e->d_name + len - strlen(ending), ending) == 0;
}

static int select_page(const struct dirent *e) { return is_page(e); }

/* Finds the folder of the pages and their file names, in alphabetical order. Returns the number of pages; 0: there is
 * no such folder. The caller frees each entry and the list, as with scandir(). */
static int find_pages(char *folder, size_t size, struct dirent ***list) {
    int n = 0;
    *list = NULL;
    for (int i = 0; n <= 0 && data_place(i, "docs", folder, size); i++) {
        free(*list);
        *list = NULL;
        n = scandir(folder, list, select_page, alphasort);
    }
    return n > 0 ? n : 0;
}

static void free_pages(struct dirent **list, int n) {
    for (int i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

/* Writes the title of a page, which is its first line without the mark "# ". */
static void title_of(const char *folder, const char *file, char *out, size_t size) {
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "r");
    *out = '\0';
    if (f && fgets(out, (int)size, f)) {
        out[strcspn(out, "\n")] = '\0';
        memmove(out, out + strspn(out, "# "), strlen(out + strspn(out, "# ")) + 1);
    }
    if (f)
        fclose(f);
}

bool pages_list(FILE *out) {
    static const char *const titles[] = {"page", "title", NULL};
    char folder[PATH_MAX], title[160];
    struct dirent **list;
    int n = find_pages(folder, sizeof folder, &list);
    struct table *t = table_new(titles);
    for (int i = 0; i < n; i++) {
        char name[NAME_MAX + 1];
        snprintf(name, sizeof name, "%.*s", (int)(strlen(list[i]->d_name) - strlen(ending)), list[i]->d_name);
        title_of(folder, list[i]->d_name, title, sizeof title);
        table_text(t, name);
        table_text(t, title);
    }
    if (n)
        table_print(t, out);
    table_free(t);
    free_pages(list, n);
    return n > 0;
}

bool page_print(const char *name, FILE *out) {
    char folder[PATH_MAX], path[2 * PATH_MAX], text[4096];
    struct dirent **list;
    int n = find_pages(folder, sizeof folder, &list);
    size_t len = strlen(name), got;
    FILE *f = NULL;
    /* searches the list of the folder, so that a name with a path in it opens no file of another folder */
    for (int i = 0; i < n && !f; i++)
        if (strncmp(list[i]->d_name, name, len) == 0 && strcmp(list[i]->d_name + len, ending) == 0) {
            snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
            f = fopen(path, "r");
        }
    free_pages(list, n);
    while (f && (got = fread(text, 1, sizeof text, f)) > 0)
        fwrite(text, 1, got, out);
    if (f)
        fclose(f);
    return f != NULL;
}

/* Returns true if a word of the line is `word` or begins with it, as "traces" with "trace". */
static bool has_word(const char *line, const char *word) {
    for (const char *at = line; (at = strcasestr(at, word)); at++)
        if (at == line || !isalnum((unsigned char)at[-1]))
            return true;
    return false;
}

/* Returns the number of lines of the page that have the word, and the section of the first of them. */
static int count_lines(const char *path, const char *word, char *section, size_t size) {
    FILE *f = fopen(path, "r");
    char line[1024], last[160] = "";
    int n = 0;
    *section = '\0';
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#')
            snprintf(last, sizeof last, "%s", line + strspn(line, "# "));
        if (has_word(line, word) && !n++)
            snprintf(section, size, "%s", last);
    }
    if (f)
        fclose(f);
    return n;
}

bool pages_about(const char *word, FILE *out) {
    static const char *const titles[] = {"page", "lines", "first in the section", NULL};
    char folder[PATH_MAX], path[2 * PATH_MAX], section[160];
    struct dirent **list;
    int n = find_pages(folder, sizeof folder, &list), found = 0;
    struct table *t = table_new(titles);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
        int lines = count_lines(path, word, section, sizeof section);
        if (!lines)
            continue;
        list[i]->d_name[strlen(list[i]->d_name) - strlen(ending)] = '\0';
        table_text(t, list[i]->d_name);
        table_number(t, lines, NUM_COUNT);
        table_text(t, section);
        found++;
    }
    if (found) {
        fprintf(out, "No command or page is named '%s'. These pages have the word ('heddle help PAGE' prints one):\n",
                word);
        table_print(t, out);
    }
    table_free(t);
    free_pages(list, n);
    return found > 0;
}

const char *page_near(const char *name) {
    static char near[NAME_MAX + 1];
    char folder[PATH_MAX];
    const char *names[MOST_PAGES];
    struct dirent **list;
    int n = find_pages(folder, sizeof folder, &list), most = n < MOST_PAGES ? n : MOST_PAGES;
    for (int i = 0; i < most; i++) {
        list[i]->d_name[strlen(list[i]->d_name) - strlen(ending)] = '\0';
        names[i] = list[i]->d_name;
    }
    const char *found = diag_suggest(name, names, most);
    snprintf(near, sizeof near, "%s", found ? found : "");
    free_pages(list, n);
    return found ? near : NULL;
}
