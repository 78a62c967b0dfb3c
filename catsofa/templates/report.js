// A button in each heading sorts the rows of its table, first down and then up; what has no number stays last.
"use strict";
for (const table of document.querySelectorAll("table")) {
  const bodies = [...table.tBodies];
  const rows = (body) => [...body.rows].filter((row) => row.cells.length > 1);
  if (!bodies.some((body) => rows(body).length > 1)) continue;
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[head.cellIndex].dataset.v ?? null;
      const text = (row) => row.cells[head.cellIndex].textContent;
      for (const body of bodies) {
        const sorted = rows(body).sort((one, other) => {
          const [a, b] = [key(one), key(other)];
          if (a === null && b === null) return text(one).localeCompare(text(other)) * (down ? -1 : 1);
          if (a === null || b === null) return a === null ? 1 : -1;
          return (Number(a) - Number(b)) * (down ? -1 : 1);
        });
        body.append(...sorted);
      }
    });
  }
}
