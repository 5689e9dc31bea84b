/* The HTML of the live page. Its script fetches the state each second and draws it; its style is that of all pages
 * (html.h). */
#include "host/html.h"
#include "live_parts.h"

/* The pictures have the same colours as all pages (host/look.h): the script sets --c0, --c1, ... */
static const char style[] =
    "<style>#sms{display:flex;flex-wrap:wrap;gap:6px}#sms div{width:150px;border:1px solid var(--line);padding:4px 6px;"
    "font-size:12px}.bar{display:flex;height:10px;background:var(--head)}.bar i,#key i{display:block;height:10px}"
    "#key{display:flex;flex-wrap:wrap;gap:4px 14px;font-size:13px}#key span{display:flex;align-items:center;gap:4px}"
    "#key i{width:12px}svg{width:100%;max-width:900px;height:220px;display:block;margin:.5em 0}"
    "svg text{font:11px "
    "system-ui,sans-serif;fill:var(--ink)}progress{width:12em}#state.over{color:var(--bad)}</style>\n";

static const char script[] =
    "<script>"
    "let W=900;const $=i=>document.getElementById(i),H=220,L=52,B=24,"
    "color=(d,k)=>`var(--c${d.colors[k]})`,"
    "short=v=>v>=1e9?+(v/1e9).toPrecision(4)+' G':v>=1e6?+(v/1e6).toPrecision(4)+' M':"
    "v>=1e4?+(v/1e3).toPrecision(4)+' k':''+Math.round(v*100)/100;"
    "function put(e,t){if(e.textContent!==t)e.textContent=t}"
    "function node(kind,attr,text){const e=document.createElementNS('http://www.w3.org/2000/svg',kind);"
    "for(const k in attr)e.setAttribute(k,attr[k]);if(text!==undefined)e.textContent=text;return e}"
    /* ticks() returns round numbers from 0 to `most`, at most n + 1, and at least 2 if n is 2.5 or more; axes() keeps
     * room for the name of the axis */
    "function ticks(most,n){const p=10**Math.floor(Math.log10(most/n)),s=[1,2,5,10].find(k=>k*p>=most/n)*p,t=[];"
    "for(let i=0;i*s<=most*1.0001;i++)t.push(i*s);return t}"
    "function axes(s,xmax,ymax,unit){s.replaceChildren();W=Math.max(300,s.clientWidth);"
    "s.setAttribute('viewBox',`0 0 ${W} ${H}`);"
    "for(const v of ticks(ymax,4)){const y=H-B-v/ymax*(H-B-10);"
    "s.append(node('line',{x1:L,x2:W,y1:y,y2:y,style:'stroke:var(--line)'}),node('text',{x:2,y:y+4},short(v)+unit))}"
    "for(const v of ticks(xmax*(W-L-60)/(W-L),Math.max(2.5,W/160))){const x=L+v/xmax*(W-L);"
    "s.append(node('text',{x,y:H-6,'text-anchor':v?'middle':'start'},short(v)))}"
    "s.append(node('text',{x:W,y:H-6,'text-anchor':'end'},'cycles'))}"
    "function curves(d){const c=d.curves,n=c.cycle.length;if(!n)return;"
    "const xmax=c.cycle[n-1]||1,X=v=>L+v/xmax*(W-L),top=Math.max(...c.ipc)||1,Y=v=>H-B-v*(H-B-10),s=$('ipc');"
    "axes(s,xmax,top,'');s.ariaLabel='instructions a cycle, the last '+c.ipc[n-1];let "
    "p='',was=0;c.ipc.forEach((v,i)=>{p+=`${X(was)},${Y(v/top)} ${X(c.cycle[i])},${Y(v/top)} `;"
    "was=c.cycle[i]});s.append(node('polyline',{points:p,fill:'none',style:'stroke:var(--c0)','stroke-width':1.5}));"
    "const t=$('slots');axes(t,xmax,100,' %');const low=Array(n).fill(0);"
    "d.words.forEach((name,k)=>{let up='',down='',from=0;for(let i=0;i<n;i++){const a=low[i],b=a+c.shares[k][i];"
    "low[i]=b;up+=`${X(from)},${Y(b)} ${X(c.cycle[i])},${Y(b)} `;"
    "down=`${X(c.cycle[i])},${Y(a)} ${X(from)},${Y(a)} `+down;from=c.cycle[i]}"
    "const "
    "g=node('polygon',{points:up+down,style:'fill:'+color(d,k)});g.append(node('title',{},d.words[k]));t.append(g)})}"
    "function key(d){const e=$('key');if(e.children.length)return;d.words.forEach((n,k)=>{"
    "const s=document.createElement('span'),i=document.createElement('i');i.style.background=color(d,k);"
    "s.append(i,n);e.append(s)})}"
    "function sms(d){const e=$('sms');while(e.children.length<d.sms.length){const b=document.createElement('div');"
    "b.innerHTML='<b></b><span></span><div class=bar></div>';b.lastChild.style='width:auto;border:0;padding:0';"
    "e.append(b)}d.sms.forEach((m,i)=>{const[a,t,bar]=e.children[i].children;put(a,'SM '+i);"
    "let most=1;m.shares.forEach((v,k)=>{if(k&&v>m.shares[most])most=k});"
    "put(t,` ${m.ctas} CTAs, ${m.warps} warps, IPC ${m.ipc}; mostly "
    "${d.words[m.shares[0]>m.shares[most]?0:most]}`);"
    "bar.replaceChildren(...m.shares.map((v,k)=>{const x=document.createElement('i');x.style.width=v*100+'%';"
    "x.style.background=color(d,k);x.title=d.words[k];return x}))})}"
    "function launches(d){const b=$('launches').tBodies[0];while(b.rows.length<d.launches.length){"
    "const r=b.insertRow();for(let i=0;i<9;i++)r.insertCell();r.cells[5].append(document.createElement('progress'))}"
    "const at=[...d.launches].reverse();"
    "at.forEach((l,i)=>{const c=b.rows[i].cells,set=(k,t,v)=>{put(c[k],t);if(v!==undefined){c[k].dataset.v=v;"
    "c[k].className='n'}};set(0,''+l.number,l.number);set(1,l.program);set(2,l.kernel);set(3,l.grid.join('x'));"
    "set(4,l.block.join('x'));const p=c[5].firstChild;p.max=l.ctas;p.value=l.ctas_done;p.title=`${l.ctas_done} of "
    "${l.ctas} CTAs`;c[5].dataset.v=l.ctas_done/l.ctas;set(6,short(l.cycles),l.cycles);set(7,''+l.ipc,l.ipc);"
    "set(8,l.seconds.toFixed(1),l.seconds)});const h=b.parentNode.querySelector('[data-up]');if(h)sort(h)}"
    "let seen=0,last;addEventListener('resize',()=>last&&curves(last));"
    "async function ask(){try{const r=await fetch('state.json'),d=await r.json(),l=d.launches.at(-1);seen=1;"
    "put($('state'),`${d.model} on ${d.config}, ${d.seconds.toFixed(0)} s; ${d.begun} launch${d.begun===1?'':'es'} "
    "begun`"
    "+(l?`; ${l.kernel}: ${l.ctas_done} of ${l.ctas} CTAs`:''));"
    "for(const e of document.querySelectorAll('.timed'))e.hidden=!d.timed;"
    "key(d);last=d;curves(d);sms(d);launches(d);setTimeout(ask,1000)}"
    "catch(e){$('state').className='over';put($('state'),seen?'The run has ended. Below is what was seen last.':"
    "'The run has ended.')}}ask()</script>\n";

static void table(FILE *out) {
    static const char *const heads[] = {"launch", "program", "kernel", "grid",   "block",
                                        "CTAs",   "cycles",  "IPC",    "seconds"};
    fputs("<table id=launches><thead><tr>", out);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        html_head(out, heads[i]);
    fputs("</tr></thead><tbody></tbody></table>\n", out);
}

char *live_page(const struct live_state *s) {
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return NULL;
    html_begin(out, "heddle: a run that goes on");
    fputs(style, out);
    fputs("<h1>A run that goes on</h1>\n<p><code>", out);
    html_text(out, s->command);
    fputs(
        "</code></p>\n<p id=state>Nothing is known yet.</p>\n"
        "<div class=timed hidden><h2>Instructions a cycle</h2>\n<p>Of threads, over the cycles of all launches.</p>"
        "<svg id=ipc role=img aria-label=\"instructions a cycle\"></svg>\n"
        "<h2>Where the issue slots went</h2>\n<div id=key></div><svg id=slots role=img aria-label=\"shares of the "
        "issue slots over time\"></svg>\n"
        "<h2>What each SM does now</h2>\n<div id=sms></div></div>\n<h2>Launches</h2>\n<p>The last hundred, the newest "
        "first. A click on a column's head sorts.</p>\n",
        out);
    table(out);
    return html_finish(out, &text, script);
}
