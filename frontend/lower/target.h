#ifndef FRONTEND_TARGET_H
#define FRONTEND_TARGET_H
/* Which .target and .version have an instruction or a special register. targets.def has the rules. Private to
 * frontend/. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module;

/* Maximum number of rules in targets.def. */
enum { TARGET_RULES = 320 };

/* The rules that a module's .target and .version do not fulfil. */
struct target_unmet {
    uint16_t rule[TARGET_RULES], n;
};

/* What an instruction needs. */
struct target_need {
    const char
        *targets;     /* "80": sm_80 and later; "90a 100a": only these; "": the module's target has the instruction */
    unsigned version; /* least PTX version, as 10 * major + minor; 0: the module's version has the instruction */
    /* target and PTX version from which on the instruction is gone; 0: it is not gone */
    unsigned lost_target, lost_version;
};

/* Finds the unmet rules for a target such as "sm_90a" and a PTX version, 10 * major + minor. Fulfils all rules for NULL
 * and for a text that is not "sm_" with a number. */
void target_find_unmet(struct target_unmet *out, const char *target, unsigned version);
/* Returns true if an opcode or a special register exists, given as written, such as "add.f32" or "%clusterid.x";
 * otherwise fills `need` with its strictest unmet rule. */
bool target_has(const struct target_unmet *unmet, const char *opcode, struct target_need *need);
/* Returns the module's target, such as "sm_90a"; NULL if its .target names none. */
const char *target_of(const struct module *m);
/* Writes the sentence after "it ", such as "needs .target sm_90 or later". */
void target_explain(const struct target_need *need, char *out, size_t size);
#endif
