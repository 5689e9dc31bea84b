#include "runs_page.h"
#include "host/html.h"
#include <stdlib.h>
#include <string.h>

static const char script[] =
    "<script>const $=i=>document.getElementById(i);function put(e,t){if(e.textContent!==t)e.textContent=t}"
    "function fill(d){put($('line'),d.line);$('bar').max=d.total;$('bar').value=d.done;for(const t of $$('table')){"
    "const keys=t.dataset.keys.split(' "
    "'),b=t.tBodies[0],list=d[t.id];t.closest('section').hidden=!list.length;while(b.rows.length>list.length)b."
    "deleteRow(-1);"
    "list.forEach((o,i)=>{const r=b.rows[i]||b.insertRow();keys.forEach((k,j)=>{const c=r.cells[j]||r.insertCell(),"
    "v=k in o?o[k]:'',n=typeof v==='number';c.className=n?'n':'';if(n)c.dataset.v=v;else delete c.dataset.v;"
    "put(c,n?v.toLocaleString('en',{maximumFractionDigits:3}):v)})});const h=t.querySelector('[data-up]');"
    "if(h)sort(h)}}"
    "async function ask(){try{fill(await(await fetch('state.json')).json());setTimeout(ask,1000)}"
    "catch(e){$('line').className='missing';put($('line'),'No answer: the command has ended. The page shows its last "
    "state.')}}ask()</script>\n";

static void cell(FILE *out, const cJSON *v) {
    char text[48];
    if (cJSON_IsNumber(v)) {
        snprintf(text, sizeof text, "%.9g", v->valuedouble);
        html_number(out, v->valuedouble, text);
    } else {
        html_cell(out, cJSON_IsString(v) ? v->valuestring : "");
    }
}

static void table(FILE *out, const struct runs_table *t, const cJSON *rows) {
    char word[64];
    const cJSON *row;
    fprintf(out, "<section%s><h2>", cJSON_GetArraySize(rows) ? "" : " hidden");
    html_text(out, t->title);
    fprintf(out, "</h2>\n<table id=%s data-keys=\"%s\"><thead><tr>", t->id, t->keys);
    for (const char *at = t->heads; *at; at += strcspn(at, "|"), at += *at == '|') {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|"), at);
        html_head(out, word);
    }
    fputs("</tr></thead><tbody>", out);
    cJSON_ArrayForEach(row, rows) {
        fputs("<tr>", out);
        for (const char *at = t->keys; *at; at += strcspn(at, " "), at += *at == ' ') {
            snprintf(word, sizeof word, "%.*s", (int)strcspn(at, " "), at);
            cell(out, cJSON_GetObjectItem(row, word));
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></section>\n", out);
}

char *runs_page(const char *title, const struct runs_table *tables, const cJSON *state) {
    const char *line = cJSON_GetStringValue(cJSON_GetObjectItem(state, "line"));
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return NULL;
    html_begin(out, title);
    fputs("<h1>", out);
    html_text(out, title);
    fprintf(out,
            "</h1>\n<p><progress id=bar aria-label=\"runs done\" style=\"width:100%%;max-width:24em\" max=%.0f "
            "value=%.0f></progress></p>\n<p id=line>",
            cJSON_GetNumberValue(cJSON_GetObjectItem(state, "total")),
            cJSON_GetNumberValue(cJSON_GetObjectItem(state, "done")));
    html_text(out, line ? line : "");
    fputs("</p>\n", out);
    for (; tables->id; tables++)
        table(out, tables, cJSON_GetObjectItem(state, tables->id));
    return html_finish(out, &text, script);
}
