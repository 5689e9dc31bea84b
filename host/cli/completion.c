#include "completion.h"
#include <ctype.h>
#include <string.h>

/* The choices for a value or word. `name`: the placeholder for it in --help. `choices`: shell text that expands to the
 * choices. */
static const struct {
    const char *name, *choices;
} values[] = {
    {"MODEL", "$(_heddle_names models)"},
    {"CONFIG", "$(_heddle_names configs)"},
    {"KEY=", "$(_heddle_names options | sed s/\\$/=/)"},
    {"STAT", "$(_heddle_names statistics)"},
    {"KIND", "bars lines scatter stack"},
    {"SIZE", "small paper card"},
    {"NAME...", "$(_heddle_names benchmarks) $(_heddle_names sets)"},
    {"PROGRAM", "$(_heddle_names benchmarks) $(_heddle_names sets)"},
    {"CARD", "$(_heddle_cards) $(_heddle_names configs) list"},
    {"FIGURE", "$(_heddle_figures) all list"},
};
enum { N_VALUES = sizeof values / sizeof values[0] };

/* Returns the choices for a placeholder, or NULL if only files can be completed there. */
static const char *choices_of(const char *value) {
    value += strspn(value, "[");
    for (int i = 0; i < N_VALUES; i++)
        if (strncmp(value, values[i].name, strlen(values[i].name)) == 0)
            return values[i].choices;
    return NULL;
}

#define FIELDS "program size model preset check kernel launch version binary ended $(_heddle_names options)"
/* The choices for options whose placeholder in the help does not determine them. */
static const struct {
    const char *option, *choices;
} by_option[] = {
    {"kernel", "$(_heddle_kernels \"${all[@]}\")"},
    {"pass", "$(_heddle_names passes)"},
    {"rows", FIELDS},
    {"x", FIELDS " $(_heddle_names statistics)"},
    {"arg", "in: out: inout: zero: bytes: u8: s8: u16: s16: u32: s32: u64: s64: f32: f64: tex: surf: sampler:"},
};

/* Returns the choices for an option's value, or NULL if only files can be completed. */
static const char *choices_for(const struct option_def *o) {
    for (size_t i = 0; i < sizeof by_option / sizeof by_option[0]; i++)
        if (strcmp(o->name, by_option[i].option) == 0)
            return by_option[i].choices;
    return strncmp(o->value, "FIELD", 5) == 0 ? FIELDS : choices_of(o->value);
}

/* Returns true if the command's usage, such as "a|b|c", lists the words themselves and no placeholder. */
static bool is_words(const struct command *k) { return islower((unsigned char)*k->usage); }

/* Prints the words that are possible as the command's argument: the choices for the placeholder in its usage line, or
 * the words that this line lists. */
static void print_words(FILE *out, const struct command *k) {
    const char *choices = choices_of(k->usage);
    if (choices)
        fputs(choices, out);
    else
        for (const char *at = k->usage; is_words(k) && *at; at++)
            fputc(*at == '|' ? ' ' : *at, out);
}

static void print_options(FILE *out, const struct command *k) {
    for (const struct option_def *o = k->options; o->name; o++) {
        if (o->help && o->letter)
            fprintf(out, "-%c ", o->letter);
        if (o->help)
            fprintf(out, "--%s ", o->name);
    }
    fputs("--help", out);
}

static const char helpers[] =
    "_heddle_extensions() { heddle list models --csv 2>/dev/null | cut -d, -f1 | tr -d '\"'\\' | sed -n 's/^+//p'; }\n"
    /* after MODEL+, offers the extensions; sets variables of the calling function */
    "_heddle_extend() { case ${word##*,} in *+*) list=${word%+*}+ offer=$(_heddle_extensions) ;; esac; }\n"
    /* the kernels of the PTX files among the words of the command line */
    "_heddle_kernels() { local file; for file in \"$@\"; do case $file in *.ptx)\n"
    "    sed -n 's/.*\\.entry[[:space:]]*\\([A-Za-z0-9_$]*\\).*/\\1/p' \"$file\" 2>/dev/null ;; esac; done; }\n"
    "_heddle_names() { heddle list \"$1\" --csv 2>/dev/null | sed 1d | cut -d, -f1 | tr -d '+\"'\\'; }\n"
    "_heddle_pages() { heddle help pages 2>/dev/null | sed 1,2d | cut -d' ' -f1; }\n"
    /* the values of an option of the machine, if they can be counted */
    "_heddle_choices() { heddle list options --csv 2>/dev/null | awk -F, -v \"key=$1\" \\\n"
    "    '$1 == key && $3 !~ /\\.\\.|text/ { gsub(\"/\", \" \", $3); print $3 }'; }\n"
    "_heddle_cards() { heddle validate list 2>/dev/null | sed 1,2d | cut -d' ' -f1; }\n"
    "_heddle_figures() { heddle reproduce list 2>/dev/null | sed 1,2d | cut -d' ' -f1; }\n";

/* Prints the shell code that completes the value after an option: one case for each option. */
static void print_values(FILE *out, const struct command *k) {
    for (const struct option_def *o = k->options; o->name; o++) {
        const char *choices = o->help && o->value ? choices_for(o) : NULL;
        if (!choices)
            continue;
        fprintf(out, "        %s:--%s", k->name, o->name);
        if (o->letter)
            fprintf(out, "|%s:-%c", k->name, o->letter);
        fprintf(out, ") offer=\"%s\"%s%s%s ;;\n", choices,
                strcmp(o->value, "CONFIG") == 0 || strcmp(o->name, "arg") == 0 ? "" : " files=",
                strstr(o->value, ",...") ? " list=${word%\"${word##*,}\"}" : "",
                strncmp(o->value, "MODEL", 5) == 0 ? "; _heddle_extend" : "");
    }
}

/* Prints the code that both shells run: it sets `offer` from the command and the word before the cursor's word. */
static void print_choice(const struct command *const *commands, int n, FILE *out) {
    fputs("    case $before:$word in -s:*=* | --set:*=*) key=${word%%=*} ;; esac\n"
          "    case $command:$before in\n",
          out);
    for (int i = 0; i < n; i++)
        print_values(out, commands[i]);
    fputs("    *) case $command in\n", out);
    for (int i = 0; i < n; i++) {
        fprintf(out, "        %s) if [ \"${word#-}\" != \"$word\" ]; then offer=\"", commands[i]->name);
        print_options(out, commands[i]);
        fputs("\"; else offer=\"", out);
        print_words(out, commands[i]);
        fprintf(out, "\"%s; fi ;;\n", is_words(commands[i]) ? " files=" : "");
    }
    fputs("        *) offer=\"", out);
    for (int i = 0; i < n; i++)
        fprintf(out, "%s ", commands[i]->name);
    fputs(
        "help --version\"; [ \"$before\" != help ] || offer=\"$offer $(_heddle_pages)\" ;;\n        esac ;;\n    esac\n"
        "    [ -z \"$key\" ] || { offer=$(_heddle_choices \"$key\"); files=; list=${word%\"${word##*[=,]}\"}; }\n",
        out);
}

void completion_bash(const struct command *const *commands, int n, FILE *out) {
    fprintf(
        out,
        "# Completion of heddle for bash.\n%s"
        "_heddle() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= offer= files=1 list=\n"
        "    local all=(\"${COMP_WORDS[@]}\") key=\n"
        /* bash splits KEY=VALUE and --OPTION=VALUE at the sign */
        "    case $word in\n"
        "        =) key=$before word= ;;\n"
        "        *) [ \"$before\" = = ] && key=${COMP_WORDS[COMP_CWORD-2]} ;;\n"
        "    esac\n"
        "    case $key in -*) before=$key key= ;; esac\n"
        "    [ \"$word\" = : ] && word=\n" /* bash splits in:FILE at the colon */
        "    [ \"$COMP_CWORD\" -gt 1 ] && command=${COMP_WORDS[1]}\n"
        "    [ \"$command\" = help ] && command=\n",
        helpers);
    print_choice(commands, n, out);
    fputs("    COMPREPLY=($(compgen -P \"$list\" -W \"$offer\" -- \"${word#\"$list\"}\"))\n"
          "    [ -z \"$command\" ] || [ -z \"$files\" ] || [ \"${word#-}\" != \"$word\" ] ||\n"
          "        COMPREPLY+=($(compgen -f -- \"$word\"))\n"
          "    case ${COMPREPLY-} in *[:=]) compopt -o nospace 2>/dev/null ;; esac\n"
          "    return 0\n"
          "}\n"
          "complete -o filenames -F _heddle heddle\n",
          out);
}

void completion_zsh(const struct command *const *commands, int n, FILE *out) {
    fprintf(out,
            "#compdef heddle\n# Completion of heddle for zsh.\n%s"
            "_heddle() {\n"
            "    local word=${words[CURRENT]} before=${words[CURRENT-1]} command=\n"
            "    local offer= files=1 list= all=(\"${words[@]}\") key=\n"
            "    case $word in --*=*) before=${word%%=*} word=${word#*=}; compset -P '--*=' ;; esac\n"
            "    compset -P '(in|out|inout|bytes):'\n"
            "    [ \"$CURRENT\" -gt 2 ] && command=${words[2]}\n"
            "    [ \"$command\" = help ] && command=\n",
            helpers);
    print_choice(commands, n, out);
    fputs("    case $offer in\n"
          "        *[:=]) compadd -S '' -p \"$list\" -- ${=offer} ;;\n"
          "        *) compadd -p \"$list\" -- ${=offer} ;;\n"
          "    esac\n"
          "    [ -z \"$command\" ] || [ -z \"$files\" ] || [ \"${word#-}\" != \"$word\" ] || _files\n"
          "}\n"
          "_heddle \"$@\"\n",
          out);
}
