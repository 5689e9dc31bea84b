#include "html.h"
#include <math.h>
#include <stdlib.h>

void html_text(FILE *out, const char *text) {
    for (; *text; text++)
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            fprintf(out, "&#%d;", *text);
        else
            fputc(*text, out);
}

static void base64(FILE *out, const unsigned char *data, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned v =
            (unsigned)data[i] << 16 | (i + 1 < n ? (unsigned)data[i + 1] << 8 : 0) | (i + 2 < n ? data[i + 2] : 0u);
        fputc(digits[v >> 18], out);
        fputc(digits[v >> 12 & 63], out);
        fputc(i + 1 < n ? digits[v >> 6 & 63] : '=', out);
        fputc(i + 2 < n ? digits[v & 63] : '=', out);
    }
}

void html_image(FILE *out, FILE *svg, const char *title) {
    enum { PIECE = 65536 };
    unsigned char *data = NULL;
    size_t n = 0, got = PIECE;
    while (svg && got == PIECE) {
        unsigned char *more = realloc(data, n + PIECE);
        if (!more)
            break;
        data = more;
        got = fread(data + n, 1, PIECE, svg);
        n += got;
    }
    if (n) {
        fputs("<img alt=\"", out);
        html_text(out, title);
        fputs("\" src=\"data:image/svg+xml;base64,", out);
        base64(out, data, n);
        fputs("\">\n", out);
    }
    free(data);
}

void html_image_file(FILE *out, const char *path, const char *title) {
    FILE *f = path ? fopen(path, "rb") : NULL;
    html_image(out, f, title);
    if (f)
        fclose(f);
}

static const char style[] =
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:76em;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;display:block;overflow-x:auto;margin:1em 0;font-size:13px}th,td{padding:.2em "
    ".7em;border-bottom:1px solid #ddd;"
    "text-align:left}th{cursor:pointer;background:#f3f5f7}th:hover{background:#e2e8ee}.n{text-align:right;white-space:"
    "nowrap;"
    "font-variant-numeric:tabular-nums}tfoot td{font-weight:600}.same{color:#256b25}.other{color:#a32020}"
    "img{max-width:100%;height:auto}h2{margin-top:2.5em;border-top:2px solid #1f5f8b;padding-top:.6em}"
    ".missing{color:#a32020}.wide{overflow-x:auto}"
    ".heat{max-height:40em;overflow-y:auto}.heat td,.heat th{padding:.1em .3em}.heat th:not(:first-child){writing-mode:"
    "vertical-rl}.heat th{position:sticky;top:0}.heat td:first-child{position:sticky;left:0;background:#fff}";
/* sort(h) sorts a table by the column with header h, in the direction that h stores. Numbers inside texts are compared
 * as numbers, so k.cu:9 precedes k.cu:10. */
static const char script[] =
    "const texts=new Intl.Collator(undefined,{numeric:true}).compare;"
    "function sort(h){const b=h.closest('table').tBodies[0],k=h.cellIndex,u=h.dataset.up==='1',v=r=>{const "
    "c=r.cells[k],"
    "x=c.dataset.v;return x===undefined?c.textContent:x===''?-Infinity:+x};[...b.rows].sort((p,q)=>{const x=v(p),"
    "y=v(q);return(typeof x+typeof "
    "y==='stringstring'?texts(x,y):x<y?-1:x>y?1:0)*(u?1:-1)}).forEach(r=>b.appendChild(r))}"
    "for(const h of document.querySelectorAll('th'))h.addEventListener('click',()=>{const u=h.dataset.up!=='1';"
    "for(const o of h.closest('table').querySelectorAll('th'))delete o.dataset.up;h.dataset.up=u?'1':'0';sort(h)});";

void html_begin(FILE *out, const char *title) {
    fputs("<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><link rel=icon href=\"data:,\"><title>", out);
    html_text(out, title);
    fprintf(out, "</title><style>%s</style></head><body>\n", style);
}

void html_end(FILE *out) { fprintf(out, "<script>%s</script></body></html>\n", script); }

static void cell(FILE *out, const char *kind, const char *text) {
    fprintf(out, "<%s>", kind);
    html_text(out, text);
    fprintf(out, "</%s>", kind);
}

void html_head(FILE *out, const char *text) { cell(out, "th", text); }
void html_cell(FILE *out, const char *text) { cell(out, "td", text); }

void html_number(FILE *out, double v, const char *text) {
    if (isnan(v))
        fputs("<td class=n data-v=\"\">-</td>", out);
    else
        fprintf(out, "<td class=n data-v=\"%.9g\">%s</td>", v, text);
}

void html_heat(FILE *out, double v, const char *text, double heat) {
    if (isnan(v) || isnan(heat)) {
        html_number(out, v, text);
        return;
    }
    /* the colour is transparent, so that the text stays readable */
    fprintf(out, "<td class=n data-v=\"%.9g\" style=\"background:rgba(%s,%.2f)\">%s</td>", v,
            heat < 0 ? "230,120,20" : "40,120,200", 0.65 * fabs(heat), text);
}
