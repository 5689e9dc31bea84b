/* Tests a report in headless Chromium, on a desktop (1280 pixels) and on a telephone (390 pixels). */
#include "test/host/cli/browser.h"
#include <stdio.h>

/* A script that runs after the page's own script. It uses the page by mouse and keyboard, and sets the title to the
 * errors, or to "fine". */
static const char trial[] =
    "<script>onload=()=>{const all=(q,e=document)=>[...e.querySelectorAll(q)],need=(x,w)=>x||bad.push(w);"
    "need(all('main').length===1,'main');need(all('h1').length===1,'h1');need(all('meta[name=viewport]').length===1,'"
    "viewport');"
    "need(document.documentElement.lang==='en','lang');"
    "need(document.documentElement.scrollWidth<=innerWidth,'the page is '+document.documentElement.scrollWidth+' "
    "wide');"
    "for(const t of all('table'))need(t.closest('.scroll').tabIndex===0,'a table that does not scroll by keyboard');"
    "const ids=all('[id]').map(e=>e.id);need(new Set(ids).size===ids.length,'an id twice');"
    /* letters are at least 9 pixels high, whatever the width of the page */
    "for(const s of all('svg.chart')){const k=s.getBoundingClientRect().width/+s.getAttribute('width');"
    "for(const t of all('text',s))need(parseFloat(getComputedStyle(t).fontSize)*k>=9,'small text');"
    "need(s.getAttribute('aria-label'),'a chart without a name')}"
    "const charts=all('svg.chart');need(charts.length>=2,charts.length+' charts');"
    /* the key sorts by keyboard */
    "const h=all('#speed-up~.scroll th')[0];h.focus();need(document.activeElement===h,'no focus');"
    "h.dispatchEvent(new "
    "KeyboardEvent('keydown',{key:'Enter',bubbles:true}));need(h.getAttribute('aria-sort')==='ascending','sort');"
    /* a value appears under the mouse */
    "const bar=charts[0].querySelector('rect[data-p]');bar.dispatchEvent(new "
    "MouseEvent('mousemove',{clientX:50,clientY:90}));"
    "const tip=document.getElementById('tip');need(tip.style.display==='block'&&tip.textContent===bar.ariaLabel&&/: 1$/"
    ".test(tip.textContent),'tip '+tip.textContent);"
    /* a click on a bar marks its run, and only this run */
    "bar.dispatchEvent(new MouseEvent('click',{bubbles:true}));const hits=all('tr.hit');need(hits.length===1&&"
    "hits[0].textContent.includes(bar.dataset.k),hits.length+' runs behind a bar');"
    /* the bars above a hidden part of a stack move down to the axis */
    "const stack=charts[1],g=stack.querySelector('g.stack'),r=all('rect',g),end=e=>+e.getAttribute('y')+ "
    "+e.getAttribute('height'),"
    "base=end(r[0]),key=stack.querySelector('.key[data-s=\"0\"]');need(Math.abs(end(r[1])-+r[0].getAttribute('y'))<.1,'"
    "gap');"
    "key.dispatchEvent(new KeyboardEvent('keydown',{key:' ',bubbles:true}));"
    "need(getComputedStyle(r[0]).display==='none'&&Math.abs(end(r[1])-base)<.1,'hide');need(key.getAttribute('aria-"
    "pressed')==='false','pressed');"
    "key.dispatchEvent(new "
    "MouseEvent('click',{bubbles:true}));need(Math.abs(end(r[1])-+r[0].getAttribute('y'))<.1,'show');"
    /* a click on a line of the source shows its causes, and the line with the most slots has the strongest colour */
    "const t=document.querySelector('table.source'),rows=all('tbody "
    "tr',t),most=rows.map(r=>+r.querySelector('.s').dataset.v)"
    ".reduce((b,v,i,a)=>v>a[b]?i:b,0),box=t.closest('details').querySelector('.causes');rows[most].click();"
    "need(/issued/.test(box.textContent)&&all('.bar',box).length===all('td.s',rows[most]).length,'causes: "
    "'+box.textContent);"
    "need(rows[most].querySelector('.s').style.background.includes('55%'),'heat');"
    "const "
    "pick=document.getElementById('heatby'),was=t.innerHTML;pick.value='2';pick.onchange();need(was!==t.innerHTML,'"
    "colour by cause');"
    /* the button + enlarges the chart */
    "const w=stack.getBoundingClientRect().width,plus=all('.tools button')[3];plus.click();"
    "need(Math.abs(stack.getBoundingClientRect().width/w-1.5)<.01,'zoom');need(plus.ariaLabel==='larger','the name of "
    "a button');"
    "document.title=bad.join('|')||'fine'}</script></body>";

/* Runs three models of a kernel and returns the page about them. The caller frees it. */
static char *report(void) {
    write_kernel(".param .u64 p", "mov.u32 %r1,%tid.x;\nsetp.lt.u32 %p1,%r1,8;\n@%p1 bra ELSE;\nadd.u32 %r2,%r1,1;\n"
                                  "bra.uni JOIN;\nELSE:\nsub.u32 %r2,%r1,1;\nJOIN:\nadd.u32 %r1,%r1,%r2;");
    STATUS(HEDDLE_OK, "sweep k.ptx -g 2 -b 64 -a zero:64 -m spe,dpe,its -s l1.size=8K,16K -o r.db --profile");
    STATUS(HEDDLE_OK, "report r.db");
    return slurp("report.html");
}

START_TEST(a_report_answers_mouse_and_keyboard) {
    const char *name = browser();
    if (!name) {
        test_skip(NO_BROWSER);
        return;
    }
    cli_setup();
    char *page = report();
    browse_both(name, page, trial);
    free(page);
    cli_teardown();
}
END_TEST

/* axe-core finds parts of a page that readers without a mouse, blind readers or readers with weak sight cannot use.
 * Debian does not have it; 'npm pack axe-core' gets the file. */
START_TEST(axe_finds_nothing) {
    static const char run[] =
        "</script><script>addEventListener('load',async()=>{document.querySelectorAll('details')"
        ".forEach(d=>d.open=true);const r=await axe.run();document.title='axe: '+r.violations.map("
        "v=>v.id+' '+v.nodes.length+' '+v.nodes[0].html.slice(0,200)).join()})</script></body>";
    const char *name = browser(), *path = getenv("HEDDLE_AXE");
    if (!name || !path) {
        test_skip(name ? "set HEDDLE_AXE to the file axe.min.js of the npm package axe-core" : NO_BROWSER);
        return;
    }
    char *axe = slurp(path), *script;
    cli_setup();
    ck_assert_int_gt(asprintf(&script, "<script>%s%s", axe, run), 0);
    char *page = report(), *dom = browse(name, page, 390, script), *title = strstr(dom, "<title>axe: ");
    ck_assert_msg(title && strncmp(title, "<title>axe: </title>", 20) == 0, "%.2000s", title ? title : "no result");
    free(axe);
    free(script);
    free(page);
    free(dom);
    cli_teardown();
}
END_TEST

SUITE(host_report_browser) {
    TEST(a_report_answers_mouse_and_keyboard);
    TEST(axe_finds_nothing);
}
