/* Prints the tree as PTX text. Parsing that text gives an equal tree. */
#include "ptx/tree.h"
#include <inttypes.h>
#include <string.h>

static void indent(FILE *out, int depth) {
    for (int i = 0; i < depth; i++)
        fputc('\t', out);
}

static void print_integer(FILE *out, const struct operand *o) {
    if (o->is_unsigned)
        fprintf(out, "%" PRIu64 "U", o->integer);
    else if (o->integer == (uint64_t)INT64_MIN) /* PTX reads 0x8000000000000000 as an unsigned number */
        fprintf(out, "(.s64)0x%" PRIx64, o->integer);
    else
        fprintf(out, "%" PRId64, (int64_t)o->integer);
}

static void print_operand(FILE *out, const struct operand *o);

static void print_list(FILE *out, const struct operand *o) {
    for (; o; o = o->next) {
        print_operand(out, o);
        if (o->next)
            fputs(", ", out);
    }
}

/* Prints +4 or -4, valid in addresses and in initialisers. */
static void print_offset(FILE *out, uint64_t offset) {
    if ((int64_t)offset < 0)
        fprintf(out, "-%" PRIu64, -offset);
    else
        fprintf(out, "+%" PRIu64, offset);
}

static void print_address(FILE *out, const struct operand *o) {
    fputc('[', out);
    print_operand(out, o->sub);
    if ((int64_t)o->integer < 0)
        fprintf(out, "+-%" PRIu64, -o->integer); /* compilers emit negative offsets in this form */
    else if (o->integer)
        fprintf(out, "+%" PRIu64, o->integer);
    if (o->sub->next) {
        fputs(", ", out);
        print_list(out, o->sub->next);
    }
    fputc(']', out);
}

static void print_operand(FILE *out, const struct operand *o) {
    switch (o->kind) {
    case OPD_NAME:
        fputs(o->name->text, out);
        break;
    case OPD_INT:
        print_integer(out, o);
        break;
    case OPD_FLOAT:
        if (o->real_bits == 32)
            fprintf(out, "0f%08" PRIX64, o->real);
        else
            fprintf(out, "0d%016" PRIX64, o->real);
        break;
    case OPD_SINK:
        fputc('_', out);
        break;
    case OPD_NOT:
    case OPD_NEG:
        fputc(o->kind == OPD_NOT ? '!' : '-', out);
        print_operand(out, o->sub);
        break;
    case OPD_PAIR:
        print_operand(out, o->sub);
        fputc('|', out);
        print_operand(out, o->sub->next);
        break;
    case OPD_VECTOR:
    case OPD_PARENS:
        fputc(o->kind == OPD_VECTOR ? '{' : '(', out);
        print_list(out, o->sub);
        fputc(o->kind == OPD_VECTOR ? '}' : ')', out);
        break;
    case OPD_ADDRESS:
        print_address(out, o);
        break;
    case OPD_SUM:
        print_operand(out, o->sub);
        print_offset(out, o->integer);
        break;
    case OPD_INDEX:
        print_operand(out, o->sub);
        fputc('[', out);
        print_operand(out, o->sub->next);
        fputc(']', out);
        break;
    }
}

/* Prints an initialiser such as generic(x)+4. The offset follows the closing parenthesis. */
static void print_value(FILE *out, const struct init *i) {
    const struct operand *base = i->value->kind == OPD_SUM ? i->value->sub : i->value;
    if (i->address_operator)
        fprintf(out, "%s(", i->address_operator->text);
    print_operand(out, base);
    if (i->address_operator)
        fputc(')', out);
    if (i->value->kind == OPD_SUM)
        print_offset(out, i->value->integer);
}

static void print_init(FILE *out, const struct init *i) {
    if (i->kind == INIT_LIST) {
        fputc('{', out);
        for (const struct init *e = i->list; e; e = e->next) {
            print_init(out, e);
            if (e->next)
                fputs(", ", out);
        }
        fputc('}', out);
        return;
    }
    if (i->field)
        fprintf(out, "%s = ", i->field->text);
    if (i->mask)
        fprintf(out, "0x%" PRIX64 "(", i->mask);
    print_value(out, i);
    if (i->mask)
        fputc(')', out);
}

static void print_name(FILE *out, const struct variable *v) {
    fputs(v->name ? v->name->text : "_", out);
    if (v->range)
        fprintf(out, "<%" PRIu32 ">", v->range);
    for (int i = 0; i < v->n_dims; i++)
        if (v->dims[i])
            fprintf(out, "[%" PRIu64 "]", v->dims[i]);
        else
            fputs("[]", out);
    if (v->init) {
        fputs(" = ", out);
        print_init(out, v->init);
    }
}

static void print_specifiers(FILE *out, const struct variable *v) {
    if (v->linkage)
        fprintf(out, "%s ", v->linkage->text);
    fputs(v->space->text, out);
    if (v->attribute)
        fprintf(out, " .attribute(%s)", v->attribute->text);
    if (v->align)
        fprintf(out, " .align %" PRIu64, v->align);
    if (v->vector)
        fprintf(out, " %s", v->vector->text);
    fprintf(out, " %s", v->type->text);
    if (v->is_ptr) {
        fputs(" .ptr", out);
        if (v->ptr_space)
            fprintf(out, " %s", v->ptr_space->text);
        if (v->ptr_align)
            fprintf(out, " .align %" PRIu64, v->ptr_align);
    }
    fputc(' ', out);
}

static void print_variables(FILE *out, const struct variable *v) {
    print_specifiers(out, v);
    for (; v; v = v->next) {
        print_name(out, v);
        fputs(v->next ? ", " : ";\n", out);
    }
}

static void print_parameters(FILE *out, const struct variable *v) {
    fputc('(', out);
    for (; v; v = v->next) {
        print_specifiers(out, v);
        print_name(out, v);
        if (v->next)
            fputs(", ", out);
    }
    fputc(')', out);
}

static bool is_named(const struct attribute *a, const char *name) { return strcmp(a->name->text, name) == 0; }

/* Prints .attribute before the function's name (`before`), or the other attributes after the parameters. */
static void print_attributes(FILE *out, const struct attribute *a, bool before) {
    for (; a; a = a->next) {
        if (before != is_named(a, ".attribute"))
            continue;
        fprintf(out, " %s", a->name->text);
        if (before) {
            fprintf(out, "(%s)", a->values->name->text);
            continue;
        }
        bool text = is_named(a, ".pragma");
        for (const struct operand *o = a->values; o; o = o->next) {
            fputs(o == a->values ? " " : ", ", out);
            if (text)
                fprintf(out, "\"%s\"", o->name->text);
            else
                print_operand(out, o);
        }
        if (text)
            fputc(';', out);
    }
}

static void print_statements(FILE *out, const struct statement *s, int depth);

static void print_function(FILE *out, const struct function *f) {
    if (f->linkage)
        fprintf(out, "%s ", f->linkage->text);
    fputs(f->is_entry ? ".entry" : ".func", out);
    print_attributes(out, f->attributes, true);
    if (f->results) {
        fputc(' ', out);
        print_parameters(out, f->results);
    }
    fprintf(out, " %s", f->name->text);
    print_parameters(out, f->params);
    print_attributes(out, f->attributes, false);
    if (!f->has_body) {
        fputs(";\n", out);
        return;
    }
    fputs("\n{\n", out);
    print_statements(out, f->body, 1);
    fputs("}\n", out);
}

static void print_prototype(FILE *out, const struct statement *s) {
    const struct function *f = s->proto.proto;
    fprintf(out, "%s: .callprototype ", s->proto.label->text);
    if (f->results)
        print_parameters(out, f->results);
    fputs(f->results ? " _ " : "_ ", out);
    print_parameters(out, f->params);
    print_attributes(out, f->attributes, false);
    fputs(";\n", out);
}

static void print_instruction(FILE *out, const struct statement *s) {
    if (s->insn.guard)
        fprintf(out, "@%s%s ", s->insn.guard_not ? "!" : "", s->insn.guard->text);
    fputs(s->insn.opcode->text, out);
    if (s->insn.operands) {
        fputc(' ', out);
        print_list(out, s->insn.operands);
    }
    fputs(";\n", out);
}

static void print_statement(FILE *out, const struct statement *s, int depth) {
    const char *comma = ", ";
    indent(out, s->kind == ST_LABEL ? depth - 1 : depth);
    switch (s->kind) {
    case ST_VARIABLE:
        print_variables(out, s->variable);
        break;
    case ST_INSTRUCTION:
        print_instruction(out, s);
        break;
    case ST_LABEL:
        fprintf(out, "%s:\n", s->label.name->text);
        break;
    case ST_BLOCK:
        fputs("{\n", out);
        print_statements(out, s->block.body, depth + 1);
        indent(out, depth);
        fputs("}\n", out);
        break;
    case ST_PROTOTYPE:
        print_prototype(out, s);
        break;
    case ST_TARGETS:
        fprintf(out, "%s: %s ", s->proto.label->text, s->proto.is_call ? ".calltargets" : ".branchtargets");
        print_list(out, s->proto.names);
        fputs(";\n", out);
        break;
    case ST_LOC:
        fprintf(out, ".loc %" PRIu32 " %" PRIu32 " %" PRIu32 "%s%s\n", s->at.file, s->at.line, s->at.column,
                s->at.tail ? comma : "", s->at.tail ? s->at.tail : "");
        break;
    case ST_FILE:
        fprintf(out, ".file %" PRIu32 " \"%s\"%s%s\n", s->file.index, s->file.name, s->file.tail ? comma : "",
                s->file.tail ? s->file.tail : "");
        break;
    case ST_PRAGMA:
        fprintf(out, ".pragma \"%s\";\n", s->raw.text);
        break;
    case ST_SECTION:
    case ST_DIRECTIVE:
        fprintf(out, "%s\n", s->raw.text);
        break;
    case ST_FUNCTION:
        print_function(out, s->function);
        break;
    case ST_ALIAS:
        fprintf(out, ".alias %s, %s;\n", s->alias.alias->text, s->alias.aliasee->text);
        break;
    }
}

static void print_statements(FILE *out, const struct statement *s, int depth) {
    for (; s; s = s->next)
        print_statement(out, s, depth);
}

void ptx_print(const struct module *m, FILE *out) {
    fprintf(out, ".version %d.%d\n.target ", m->version_major, m->version_minor);
    for (const struct suffix *t = m->targets; t; t = t->next)
        fprintf(out, "%s%s", t->word->text, t->next ? ", " : "\n");
    if (m->address_size)
        fprintf(out, ".address_size %d\n", m->address_size);
    fputc('\n', out);
    print_statements(out, m->statements, 0);
}
