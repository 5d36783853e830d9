"use strict";
// Sorts and filters tables and moves between runs by arrow keys. Without it everything is there, in the order of the plan.

const collator = new Intl.Collator("en", { numeric: true });

function valueOf(row, column) {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
}

function compare(one, other) {
  const numbers = typeof one === "number" && typeof other === "number";
  return numbers ? one - other : collator.compare(String(one), String(other));
}

function sort(table, head) {
  const column = head.cellIndex;
  const descending = head.getAttribute("aria-sort") === "ascending" || (column > 0 && head.getAttribute("aria-sort") === "none");
  for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => ({ row, value: valueOf(row, column) }));
  rows.sort((a, b) => (descending ? compare(b.value, a.value) : compare(a.value, b.value)));
  body.append(...rows.map(({ row }) => row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  table.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) sort(table, button.closest("th"));
  });
}

for (const filters of document.querySelectorAll(".filters")) {
  const table = document.getElementById(filters.dataset.for);
  const fields = Array.from(filters.querySelectorAll("input, select"));
  const output = filters.querySelector("output");
  const apply = () => {
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !fields.every((field) => matches(row, field));
      shown += row.hidden ? 0 : 1;
    }
    output.value = `${shown} of ${table.tBodies[0].rows.length} tasks`;
    rove(table);
  };
  filters.addEventListener("input", apply); // while typing
  filters.addEventListener("change", apply);
  filters.querySelector("button").addEventListener("click", () => {
    for (const field of fields) field.value = "";
    apply();
    fields[0].focus();
  });
  filters.hidden = false;
  apply();
}

function matches(row, field) {
  if (!field.value) return true;
  if (field.type === "search") return row.cells[0].textContent.toLowerCase().includes(field.value.toLowerCase());
  const value = row.getAttribute(`data-${field.name.replaceAll(" ", "-")}`) || "";
  return value === field.value || value.split("|").includes(field.value);
}

// One run of a matrix is in the tab order; arrow keys move on from there.
function rove(table) {
  const current = table.querySelector('a.mark[tabindex="0"]');
  if (current && current.checkVisibility()) return;
  const links = Array.from(table.querySelectorAll("tbody a.mark"));
  for (const link of links) link.tabIndex = -1;
  const first = links.find((link) => !link.closest("tr").hidden);
  if (first) first.tabIndex = 0;
}

function step(link, key) {
  const cell = link.closest("td"), row = cell.parentElement;
  const links = Array.from(row.querySelectorAll("a.mark"));
  if (key === "ArrowRight" || key === "ArrowLeft") return links[links.indexOf(link) + (key === "ArrowRight" ? 1 : -1)];
  if (key === "Home") return links[0];
  if (key === "End") return links.at(-1);
  const next = key === "ArrowDown" ? "nextElementSibling" : "previousElementSibling";
  const place = Array.from(cell.querySelectorAll("a.mark")).indexOf(link);
  for (let other = row[next]; other; other = other[next]) {
    const there = other.hidden ? [] : other.cells[cell.cellIndex].querySelectorAll("a.mark");
    if (there.length) return there[Math.min(place, there.length - 1)];
  }
}

// What gets the focus is never scrolled to where the heads lie over it.
const clear = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const corner = target.rows[0].cells[0].getBoundingClientRect();
    target.closest(".scroll").style.scrollPadding = `${corner.height}px 0 0 ${corner.width}px`;
  }
});

for (const table of document.querySelectorAll("table.matrix")) {
  clear.observe(table.tHead);
  table.addEventListener("keydown", (event) => {
    const link = event.target.closest("a.mark");
    if (!link || !["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) return;
    event.preventDefault();
    const other = step(link, event.key);
    if (!other) return;
    link.tabIndex = -1;
    other.tabIndex = 0;
    other.focus();
  });
}
