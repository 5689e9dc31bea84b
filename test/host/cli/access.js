/* Rules for readers without a mouse, blind readers and readers with weak sight, after the rules of axe-core. The script
 * runs before the script of a test. It adds a text to the array `bad` for each element that breaks a rule. */
addEventListener('load', () => {
    const all = (q, e = document) => [...e.querySelectorAll(q)];
    const say = (rule, e) => bad.push(rule + ': ' + (e.outerHTML || e).slice(0, 160));
    const shown = e => e.getClientRects().length > 0 && getComputedStyle(e).visibility === 'visible';
    const closed = all('details:not([open])');
    closed.forEach(d => d.open = true);

    /* the page */
    if (!document.title.trim()) say('a page without a title', 'title');
    if (!document.documentElement.lang) say('a page without a language', 'html');
    if (all('main').length !== 1) say(all('main').length + ' main parts', 'main');
    if (all('h1').length !== 1) say(all('h1').length + ' headings h1', 'h1');
    for (const m of all('meta[http-equiv=refresh]')) say('the page loads itself again', m);
    if (/user-scalable=no|maximum-scale/.test(document.querySelector('meta[name=viewport]')?.content ?? 'maximum-scale'))
        say('the page cannot be enlarged', 'viewport');
    let level = 0;
    for (const h of all('h1,h2,h3,h4,h5,h6')) {
        const n = +h.tagName[1];
        if (n > level + 1) say('a heading leaves out a level', h);
        if (!h.textContent.trim()) say('an empty heading', h);
        level = n;
    }
    const ids = new Set();
    for (const e of all('[id]')) {
        if (ids.has(e.id)) say('an id twice', e);
        ids.add(e.id);
    }

    /* names */
    const name = e => (e.ariaLabel || e.alt || e.title || (e.ariaLabelledByElements || []).map(x => x.textContent).join() ||
        [...(e.labels || [])].map(l => [...l.childNodes].filter(x => x !== e).map(x => x.textContent).join('')).join('') ||
        (/^(SELECT|INPUT|PROGRESS|METER|TABLE|DIV|svg)$/.test(e.tagName) ? e.querySelector(':scope>title')?.textContent :
            e.textContent) || '').trim();
    const named = 'a[href],button,select,input,textarea,summary,progress,meter,img,th,svg,[role=button],[role=img],' +
        '[role=region],[role=group]';
    for (const e of all(named))
        if (shown(e) && !name(e) && !e.closest('[aria-hidden=true]')) say('no name', e);
    const regions = all('[role=region],section[aria-label],nav').map(name);
    regions.forEach((r, i) => regions.indexOf(r) < i && say('two regions with one name', r));
    for (const e of all('div[aria-label],span[aria-label],p[aria-label],i[aria-label]'))
        if (!e.role) say('a name on a part without a role', e);

    /* the keyboard */
    const focus = 'a[href],button,select,input,textarea,summary,[tabindex]';
    for (const e of all('[tabindex]')) if (e.tabIndex > 0) say('the order of the tabulator', e);
    for (const e of all('[role=button],[role=img],button,a[href]'))
        if (all(focus, e).length) say('a control inside a control', e);
    for (const e of all('[role=button]')) if (e.tabIndex < 0) say('a button without the keyboard', e);
    for (const e of all('main *'))
        if (/auto|scroll/.test(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0)
            say('a part that scrolls by mouse only', e);
    for (const e of all('[aria-pressed]')) if (!/^(true|false|mixed)$/.test(e.ariaPressed)) say('aria-pressed', e);
    for (const e of all('[aria-sort]')) if (e.tagName !== 'TH') say('aria-sort', e);

    /* contrast of text with the colours behind it: 3:1 for large letters, otherwise 4.5:1 (WCAG 2, 1.4.3) */
    const pen = Object.assign(document.createElement('canvas'), {width: 1, height: 1})
        .getContext('2d', {willReadFrequently: true}), known = new Map();
    const rgba = color => {
        if (known.has(color)) return known.get(color);
        pen.clearRect(0, 0, 1, 1);
        pen.fillStyle = color;
        pen.fillRect(0, 0, 1, 1);
        const d = pen.getImageData(0, 0, 1, 1).data, v = [d[0], d[1], d[2], d[3] / 255];
        known.set(color, v);
        return v;
    };
    const over = (top, below, alpha = top[3]) => [0, 1, 2].map(i => top[i] * alpha + below[i] * (1 - alpha));
    const behind = e => {
        if (!e) return matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18] : [255, 255, 255];
        const c = rgba(getComputedStyle(e).backgroundColor);
        return c[3] === 1 ? c.slice(0, 3) : over(c, behind(e.parentElement));
    };
    const light = c => c.slice(0, 3).map(x => x / 255).map(x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4)
        .reduce((sum, x, i) => sum + x * [.2126, .7152, .0722][i], 0);
    const walk = document.createTreeWalker(document.querySelector('body'), NodeFilter.SHOW_TEXT);
    const told = new Set();
    for (let t; (t = walk.nextNode());) {
        const e = t.parentElement, s = getComputedStyle(e);
        if (!t.data.trim() || /^(SCRIPT|STYLE|OPTION)$/.test(e.tagName) || !shown(e)) continue;
        if (!e.closest('main,nav,header,footer')) say('text outside of the main part', e);
        const below = behind(e), text = rgba(e.namespaceURI.endsWith('svg') ? s.fill : s.color);
        const a = light(over(text, below)), b = light(below), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        const size = parseFloat(s.fontSize), large = size >= 24 || (size >= 18.66 && +s.fontWeight >= 700);
        const kind = e.tagName + e.className;
        if (ratio < (large ? 3 : 4.5) && !told.has(kind) && told.add(kind)) say('contrast ' + ratio.toFixed(2), e);
    }
    closed.forEach(d => d.open = false);
});
