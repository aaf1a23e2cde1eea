"use strict";
// Niceties only; the page is complete without them.
// Tables of class "sort": a click on a column's button sorts by that column.
for (const table of document.querySelectorAll("table.sort")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((th, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...th.childNodes);
    th.append(button);
    button.addEventListener("click", () => {
      const up = th.getAttribute("aria-sort") !== "ascending";
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      th.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => {
        const cell = row.cells[i];
        const n = parseFloat(cell.dataset.v);
        return cell.dataset.v === undefined ? cell.textContent.trim() : isNaN(n) ? -Infinity : n;
      };
      const rows = [...body.rows].sort((a, b) => {
        const x = key(a), y = key(b);
        return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1);
      });
      body.append(...rows);
    });
  });
}
// Print with every detail open, then restore what the reader had.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  closed.forEach((d) => { d.open = true; });
});
addEventListener("afterprint", () => closed.forEach((d) => { d.open = false; }));
