"use strict";
// Runs in a page that holds the report in frames of several widths, named by number, and
// writes what it finds wrong into the element "findings", one line each.
const findings = [];
const frames = [...document.querySelectorAll("iframe")];

function rgba(css) {
  const m = css.match(/rgba?\(([^)]+)\)/);
  if (!m) return [0, 0, 0, 0];
  const p = m[1].split(/[ ,/]+/).map(Number);
  return [p[0], p[1], p[2], p.length > 3 ? p[3] : 1];
}
function over(top, under) {
  const a = top[3];
  return [0, 1, 2].map((i) => top[i] * a + under[i] * (1 - a)).concat(1);
}
function luminance(c) {
  const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
}
function background(el, win) {
  const layers = [];
  for (let e = el; e; e = e.parentElement) layers.push(rgba(win.getComputedStyle(e).backgroundColor));
  return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]);
}

function checkContrast(say, doc, win) {
  const seen = new Set();
  for (const el of doc.body.querySelectorAll("*")) {
    const svgText = el.tagName === "text";
    const own = [...el.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || ["SCRIPT", "STYLE", "title", "desc"].includes(el.tagName) || !el.getClientRects().length) continue;
    const style = win.getComputedStyle(el);
    const bg = background(svgText ? el.ownerSVGElement : el, win);
    const fg = over(rgba(svgText ? style.fill : style.color), bg);
    const size = parseFloat(style.fontSize), bold = parseInt(style.fontWeight) >= 700;
    const need = size >= 24 || (bold && size >= 18.66) ? 3 : 4.5;
    const c = contrast(fg, bg);
    const key = fg + "|" + bg + "|" + need;
    if (c < need && !seen.has(key)) {
      seen.add(key);
      say(`contrast ${c.toFixed(2)} < ${need} on "${el.textContent.trim().slice(0, 30)}" (${el.className.baseVal ?? el.className})`);
    }
  }
}

function checkPictures(say, doc) {
  let pictures = 0;
  for (const svg of doc.querySelectorAll("svg.chart")) {
    const box = svg.getBoundingClientRect();
    if (!box.width) continue;
    pictures++;
    const texts = [...svg.querySelectorAll("text")].map((t) => [t, t.getBoundingClientRect()]);
    texts.forEach(([t, r], i) => {
      if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1)
        say(`${svg.id}: "${t.textContent}" leaves the picture`);
      const size = parseFloat(getComputedStyle(t).fontSize) * box.width / svg.viewBox.baseVal.width;
      if (size < 9) say(`${svg.id}: "${t.textContent}" is ${size.toFixed(1)} px`);
      for (const [u, q] of texts.slice(i + 1)) {
        const w = Math.min(r.right, q.right) - Math.max(r.left, q.left);
        const h = Math.min(r.bottom, q.bottom) - Math.max(r.top, q.top);
        if (w > 0.5 && h > 4) say(`${svg.id}: "${t.textContent}" overlaps "${u.textContent}"`);
      }
    });
  }
  if (!pictures && doc.querySelector("tbody")) say("no picture is visible");
}

// checkSorting clicks the overhead column twice and compares the order.
function checkSorting(say, doc) {
  const table = doc.querySelector("table.sort");
  if (!table) return;
  const heads = [...table.tHead.rows[0].cells];
  const column = heads.findIndex((th) => th.textContent.startsWith("Overhead"));
  const button = heads[column].querySelector("button");
  if (!button) { say("the column heads have no buttons: the script did not run"); return; }
  const values = () => [...table.tBodies[0].rows].map((r) => parseFloat(r.cells[column].dataset.v)).map((v) => (isNaN(v) ? -Infinity : v));
  const before = values().length;
  for (const [dir, sign] of [["ascending", 1], ["descending", -1]]) {
    button.click();
    const v = values();
    if (v.length !== before || v.some((x, i) => i && (x - v[i - 1]) * sign < 0)) say(`sorting ${dir} gives ${v}`);
    if (heads[column].getAttribute("aria-sort") !== dir) say(`aria-sort is not ${dir}`);
  }
}

function check(frame) {
  const doc = frame.contentDocument, win = frame.contentWindow;
  const say = (what) => findings.push(`${frame.name} ${what}`);
  const root = doc.documentElement;
  if (root.scrollWidth > win.innerWidth) {
    say(`the page is ${root.scrollWidth} px wide`);
    for (const el of doc.body.querySelectorAll("*"))
      if (!el.closest(".scroll, svg") && el.getBoundingClientRect().right > win.innerWidth + 1) { say(`too wide: <${el.tagName} class="${el.className}">`); break; }
  }
  checkPictures(say, doc);
  checkContrast(say, doc, win);
  checkSorting(say, doc);
  doc.querySelectorAll("details").forEach((d) => { d.open = true; });
  if (root.scrollWidth > win.innerWidth) say(`with details open the page is ${root.scrollWidth} px wide`);
  const dark = win.matchMedia("(prefers-color-scheme: dark)").matches;
  say(`seen ${dark ? "dark" : "light"}`);
}

addEventListener("load", () => {
  frames.forEach(check);
  const out = document.createElement("pre");
  out.id = "findings";
  out.textContent = findings.join("\n");
  document.body.append(out);
});
