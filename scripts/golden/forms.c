/* Writes the PTX of instruction forms, using the table of instruction forms that also serves to decode and execute
 * them.
 *
 *     forms list                          number and key of each form, a line each
 *     forms ptx VERSION TARGET < NUMBERS  a module: a heading of three lines, then one kernel per line */
#include "test/golden/golden_forms.h"
#include <stdio.h>
#include <string.h>

static void list(void) {
    char key[GOLDEN_KEY];
    for (uint32_t i = 0; i < golden_count(); i++) {
        golden_key(i, key);
        printf("%u\t%s\n", i, key);
    }
}

static int module(const char *version, const char *target) {
    char text[GOLDEN_TEXT];
    unsigned form;
    printf(".version %s\n.target %s\n.address_size 64\n", version, target);
    while (scanf("%u", &form) == 1) {
        if (form >= golden_count()) {
            fprintf(stderr, "forms: there is no form %u\n", form);
            return 1;
        }
        golden_ptx(form, text);
        puts(text);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        list();
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "ptx") == 0)
        return module(argv[2], argv[3]);
    fputs("usage: forms list | forms ptx VERSION TARGET < NUMBERS\n", stderr);
    return 2;
}
