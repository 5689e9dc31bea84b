#include "html.h"
#include "look.h"
#include <math.h>
#include <stdlib.h>

void html_text(FILE *out, const char *text) {
    for (; *text; text++)
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            fprintf(out, "&#%d;", *text);
        else
            fputc(*text, out);
}

/* The style of all pages: it follows the reader's choice of a light or a dark page. */
static const char style[] =
    ":root{color-scheme:light dark;--page:#fff;--ink:#222;--dim:#555;--line:#ddd;--head:#f3f5f7;--hover:#e2e8ee;-"
    "-bad:#a32020;--good:#256b25;--accent:#1f5f8b}"
    "@media(prefers-color-scheme:dark){:root{--page:#15181c;--ink:#e4e7ea;--dim:#aab2ba;--line:#3a4149;--head:#20"
    "252b;--hover:#2c333b;--bad:#ff9a94;--good:#8fd18f;--accent:#7db8de}}"
    "body{font:15px/1.45 system-ui,sans-serif;margin:0;background:var(--page);color:var(--ink)}"
    "main{display:block;margin:2em auto;max-width:76em;padding:0 1em}"
    "a{color:var(--accent)}"
    "table{border-collapse:collapse;font-size:13px}"
    ".scroll{overflow-x:auto;margin:1em 0}"
    "th,td{padding:.2em .7em;border-bottom:1px solid var(--line);text-align:left}"
    "th{cursor:pointer;background:var(--head)}th:hover{background:var(--hover)}"
    "th[aria-sort=ascending]::after{content:' \\25b2'}th[aria-sort=descending]::after{content:' \\25bc'}"
    ":focus-visible{outline:2px solid var(--accent);outline-offset:1px}"
    ".n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
    "tfoot td{font-weight:600}.same{color:var(--good)}.other,.missing{color:var(--bad)}"
    "tr.hit td{background:var(--hover)}"
    "code{overflow-wrap:anywhere}td code{white-space:pre}"
    "img{max-width:100%;height:auto;background:#fff}"
    "h2{margin-top:2.5em;border-top:2px solid var(--accent);padding-top:.6em}"
    ".wide,figure{overflow-x:auto}figure{margin:1em 0 0}"
    ".wide svg{background:#fff}"
    ".heat{max-height:40em;overflow-y:auto}.heat td,.heat th{padding:.1em .3em}"
    ".heat th:not(:first-child){writing-mode:vertical-rl}.heat th{position:sticky;top:0}"
    ".heat td:first-child{position:sticky;left:0;background:var(--page)}"
    "svg.chart{display:block;height:auto}svg.chart text{font:11px system-ui,sans-serif;fill:var(--ink)}"
    ".causes:not(:empty){position:sticky;top:0;background:var(--page);border-bottom:2px solid var(--accent);z-index:1}"
    ".causes p{margin:.2em 0}.bar{display:flex;height:10px}.source tr{cursor:pointer}.source td:nth-child(n+2) "
    "code{display:block;max-width:38em;overflow:hidden}"
    "svg.chart .h{font-weight:600}.g{stroke:var(--line)}.paper{fill:var(--page);stroke:var(--ink)}"
    ".m,svg.chart rect.m{stroke:none}.l{fill:none;stroke-width:2}svg.chart path.l{fill:none}"
    ".key{cursor:pointer}.off{opacity:.35}.gone{display:none}[data-p]{cursor:pointer}[data-p]:hover,circle:hover{"
    "opacity:.75}"
    ".tools{margin:0 0 1em}.tools button{font:inherit;min-width:2.2em;margin-right:.3em}"
    "#tip{position:fixed;pointer-events:none;background:var(--ink);color:var(--page);padding:.1em .5em;border-rad"
    "ius:3px;font-size:13px;display:none;z-index:9;max-width:90vw}";
/* The script of all pages. sort() sorts a table by the column of a header, in the direction that the header stores;
 * numbers inside texts are compared as numbers, so k.cu:9 precedes k.cu:10. press() makes an element answer mouse and
 * keyboard. In charts, it shows values, hides series, enlarges the chart, and marks the runs of a bar in the table of
 * runs. */
static const char script[] =
    "const $$=(q,e=document)=>[...e.querySelectorAll(q)],texts=new Intl.Collator(undefined,{numeric:true}).compare;fu"
    "nction sort(h){const b=h.closest('table').tBodies[0],k=h.cellIndex,u=h.dataset.up==='1',v=r=>{const c=r.cells[k]"
    ",x=c.dataset.v;return x===undefined?c.textContent:x===''?-Infinity:+x};[...b.rows].sort((p,q)=>{const x=v(p),y=v"
    "(q);return(typeof x+typeof y==='stringstring'?texts(x,y):x<y?-1:x>y?1:0)*(u?1:-1)}).forEach(r=>b.appendChild(r))"
    "}function press(e,f){e.tabIndex=0;e.addEventListener('click',f);e.addEventListener('keydown',k=>{if(k.key==='Ent"
    "er'||k.key===' '){k.preventDefault();f(k)}})}for(const h of $$('th'))press(h,()=>{const u=h.dataset.up!=='1';for"
    "(const o of $$('th',h.closest('table'))){delete o.dataset.up;o.removeAttribute('aria-sort')}h.dataset.up=u?'1':'"
    "0';h.setAttribute('aria-sort',u?'ascending':'descending');sort(h)});let number=0;for(const t of $$('table')){con"
    "st w=document.createElement('div');w.className='scroll '+t.className;w.tabIndex=0;w.role='region';w.ariaLabel='t"
    "able '+ ++number;t.replaceWith(w);w.append(t)}for(const w of $$('.wide')){w.tabIndex=0;w.role='region';w.ariaLab"
    "el='drawing '+ ++number}const tip=document.createElement('div');tip.id='tip';document.body.append(tip);function "
    "show(e,t){tip.textContent=t;tip.style.display='block';tip.style.left=Math.max(2,Math.min(e.clientX+12,innerWidth"
    "-tip.offsetWidth-4))+'px';tip.style.top=(e.clientY>40?e.clientY-30:e.clientY+16)+'px'}function runs(p,k){let t=d"
    "ocument.getElementById('runs');while(t&&!t.querySelector('table'))t=t.nextElementSibling;if(!t)return 0;const ro"
    "ws=$$('tbody tr',t),cells=r=>[...r.cells].map(c=>c.textContent),all=new Set(rows.flatMap(cells)),want=(p+' '+k)."
    "split(/[ ,]+/).map(w=>{w=w.split('=').pop();const m=/^(\\d+)([KMG])$/.exec(w);return m&&!all.has(w)?''+m[1]*1024*"
    "*(1+'KMG'.indexOf(m[2])):w}).filter(w=>all.has(w));let n=0;for(const r of rows){const c=cells(r),hi"
    "t=want.length>0&&want.every(w=>c.includes(w));r.classList.toggle('hit',hit);if(hit&&!n++)r.scrollIntoView({block"
    ":'center'})}return n}function restack(s){for(const g of $$('g.stack',s)){let y=+g.dataset.y;for(const r of $$('r"
    "ect',g)){if(r.classList.contains('gone'))continue;y-=+r.getAttribute('height');r.setAttribute('y',y)}}}for(const"
    " s of $$('svg.chart')){const w=+s.getAttribute('width');let z=1;for(const t of $$('title',s)){const e=t.parentNo"
    "de,x=t.textContent;t.remove();e.setAttribute('role','img');e.ariaLabel=x;e.addEventListener('mousemove',m=>show("
    "m,x));e.addEventListener('mouseleave',()=>tip.style.display='none')}for(const e of $$('[data-p]',s))e.addEventLi"
    "stener('click',()=>runs(e.dataset.p,e.dataset.k));for(const g of $$('g.stack',s)){const r=g.querySelector('rect'"
    ");if(r)g.dataset.y=+r.getAttribute('y')+ +r.getAttribute('height')}for(const k of $$('.key',s)){k.setAttribute('"
    "role','button');k.setAttribute('aria-pressed','true');press(k,()=>{const off=k.classList.toggle('off');k.setAttr"
    "ibute('aria-pressed',''+!off);for(const e of $$('.s'+k.dataset.s,s))e.classList.toggle('gone',off);restack(s)})}"
    "s.setAttribute('role','group');const f=s.parentNode;f.tabIndex=0;const d=document.createElement('p');d.className"
    "='tools';for(const[t,l,by]of[['+','larger',1.5],['\u2212','smaller',1/1.5],['1:1','1:1, original size',0]]){cons"
    "t b=document.createElement('button');b.textContent=t;b.ariaLabel=l;b.onclick=()=>{z=by?Math.min(8,Math.max(.3,z*"
    "by)):1;s.style.width=z*w+'px'};d.append(b)}f.after(d)}";

void html_begin(FILE *out, const char *title) {
    fputs("<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>"
          "<meta name=viewport content=\"width=device-width,initial-scale=1\"><link rel=icon href=\"data:,\"><title>",
          out);
    html_text(out, title);
    fputs("</title><style>", out);
    fputs(style, out);
    look_css(out, true);
    fputs(".m{stroke:none}.l{fill:none}</style></head><body><main>\n", out);
}

void html_end(FILE *out) {
    fputs("</main><script>", out);
    fputs(script, out);
    fputs("</script></body></html>\n", out);
}

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

char *html_finish(FILE *out, char **text, const char *last) {
    html_end(out);
    fputs(last, out);
    if (fclose(out) == 0)
        return *text;
    free(*text);
    return NULL;
}
