#ifndef FRONTEND_TARGET_H
#define FRONTEND_TARGET_H
/* Determines whether a .target and a .version have an instruction or a special register. targets.def has the rules.
 * Private to frontend/. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module;

/* Maximum number of rules in targets.def. */
enum { TARGET_RULES = 320 };

/* The newest PTX version whose instructions Heddle has, as 10 * major + minor. Text of later versions is accepted. */
enum { NEWEST_VERSION = 90 };

/* The rules that a module's .target and .version do not fulfil. */
struct target_unmet {
    uint16_t rule[TARGET_RULES], n;
};

/* The target and PTX version that an instruction or a special register needs. */
struct target_need {
    const char
        *targets;     /* "80": sm_80 and later; "90a 100a": only these; "": the module's target has the instruction */
    unsigned version; /* least PTX version, as 10 * major + minor; 0: the module's version has the instruction */
    /* from this target and this PTX version on, the instruction no longer exists; 0: it still exists */
    unsigned lost_target, lost_version;
};

/* Finds the rules that a target such as "sm_90a" and a PTX version (10 * major + minor) do not fulfil. NULL, and a text
 * that is not "sm_" with a number, fulfil all rules. */
void target_find_unmet(struct target_unmet *out, const char *target, unsigned version);
/* Returns true if the opcode or special register exists. `opcode` is its text, such as "add.f32" or "%clusterid.x". If
 * it does not exist, fills `need` with the strictest unmet rule. */
bool target_has(const struct target_unmet *unmet, const char *opcode, struct target_need *need);
/* Returns the module's target, such as "sm_90a"; NULL if its .target names none. */
const char *target_of(const struct module *m);
/* Writes the sentence after "it ", such as "needs .target sm_90 or later". */
void target_explain(const struct target_need *need, char *out, size_t size);
#endif
