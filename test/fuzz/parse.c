/* Any bytes at all: the parser must end, its messages must print, and a tree without errors must survive printing. */
#include "ptx/tree.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text {
    char *bytes;
    size_t len;
};

static struct text print(const struct module *m) {
    struct text t;
    FILE *out = open_memstream(&t.bytes, &t.len);
    if (!out)
        abort();
    ptx_print(m, out);
    fclose(out);
    return t;
}

static void show(const struct diags *d) {
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        abort();
    diags_print(d, out);
    fclose(out);
    free(text);
}

static void reprint(const struct module *m) {
    struct text first = print(m);
    struct diags d;
    diags_init(&d, "printed", first.bytes, first.len);
    struct module *again = ptx_parse(&d);
    if (d.errors || !again || !ptx_equal(m, again)) {
        diags_print(&d, stderr);
        abort();
    }
    struct text second = print(again);
    if (first.len != second.len || memcmp(first.bytes, second.bytes, first.len) != 0)
        abort();
    free(second.bytes);
    free(first.bytes);
    ptx_free(again);
    diags_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size ? size : 1); /* exactly as long as the input: reading beyond it is caught */
    if (!text)
        abort();
    memcpy(text, data, size);
    struct diags d;
    diags_init(&d, "fuzz", text, size);
    struct module *m = ptx_parse(&d);
    show(&d);
    if (m && d.errors == 0)
        reprint(m);
    ptx_free(m);
    diags_free(&d);
    free(text);
    return 0;
}
