"use strict";
const box = document.querySelector("#filter");
const editions = [...document.querySelectorAll("#systems details")].map((part) => ({
  part,
  rows: [...part.querySelectorAll("tbody tr")].map((row) => ({
    row,
    text: `${part.querySelector("summary").textContent} ${[...row.cells].map((cell) => cell.textContent).join(" ")}`.toLowerCase(),
  })),
}));
const said = document.querySelector("#found");
box.closest("label").hidden = false;
box.addEventListener("input", () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let total = 0;
  for (const { part, rows } of editions) {
    let found = 0;
    for (const { row, text } of rows) {
      row.hidden = !words.every((word) => text.includes(word));
      found += row.hidden ? 0 : 1;
    }
    part.hidden = found === 0;
    part.open = words.length > 0 && found > 0;
    total += found;
  }
  said.textContent = words.length ? `${total} found` : "";
});
