// What all parts of the page need: words, numbers, the address, tables, pairs.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const fill = (element, text, attributes) => {
  if (text !== undefined && text !== null) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};
const make = (tag, text, attributes = {}) => fill(document.createElement(tag), text, attributes);
const draw = (tag, attributes = {}, text) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), text, attributes);
const name = (text) => make("bdi", text);
const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
const texts = data.texts;
const own = (all, key) => (Object.hasOwn(all, key) ? all[key] : undefined);
document.documentElement.classList.add("scripted");

// ---- words: English, unless the page brings another language along
const spoken = $("words") ? JSON.parse($("words").textContent) : { decimal: ".", said: {} };
const parts = (text, values) =>
  (spoken.said[text] || text).split(/({\w+})/).map((part) => (/^{\w+}$/.test(part) ? values[part.slice(1, -1)] : part));
const say = (text, values = {}) => parts(text, values).join("");
const marked = (text) => text.replace(".", spoken.decimal);

// ---- numbers, written as everywhere else
const figure = (value) => {
  if (value === null || value === undefined) return say("undefined");
  if (value !== 0 && Math.abs(value) < 0.00005) return marked(value.toExponential(1).replace(/e([-+])(\d)$/, "e$10$2"));
  return marked(value.toFixed(4));
};
const signed = (value) => {
  const text = Math.abs(value).toFixed(4);
  return (text === "0.0000" ? "" : value < 0 ? "−" : "+") + marked(text);
};
const p_text = (p) => marked(p < 0.0001 ? "p < 0.0001" : "p = " + (p < 0.1 ? Number(p.toPrecision(2)) : p.toFixed(2)));
const between = (found) => say("{low} to {high}", { low: signed(found.low), high: signed(found.high) });
const both = (each) => say("{a} and {b}", { a: figure(each.a), b: figure(each.b) });
const ticks = (low, high) => {
  const raw = (high - low) / 5;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * size).find((each) => each >= raw);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high + step / 1e6; at += 1) found.push(at * step);
  return found;
};
const tick = (value) => marked(String(Number(value.toPrecision(6)))).replace("-", "−");
const strategies = Object.keys(data.means);
const measures = data.measures.map((measure) => measure.name);
const many_runs = data.runs.length > 60;

// ---- What is shown is in the fragment of the address, by name, so that a link shows the same.
let state = new URLSearchParams();
const read_state = () => {
  state = new URLSearchParams(location.hash.startsWith("#view?") ? location.hash.slice(6) : "");
};
const set = (section, changes, { typing = false } = {}) => {
  state.set("section", section);
  for (const [key, value] of Object.entries(changes)) {
    if (value === "" || value === null) state.delete(key);
    else state.set(key, value);
  }
  const address = "#view?" + state.toString();
  try {
    if (typing) history.replaceState(null, "", address);
    else if (address !== location.hash) history.pushState(null, "", address);
  } catch {
    // a frame inside a notebook has no address of its own
  }
};
const place = (names, wanted, usual) => (names.indexOf(wanted) >= 0 ? names.indexOf(wanted) : usual);
const go = (section) => {
  const target = $(section);
  if (!target || target.tagName !== "SECTION") return;
  if (section !== "topics") for (const each of target.querySelectorAll(":scope > details")) each.open = true;
  target.setAttribute("tabindex", "-1");
  target.focus({ preventScroll: true });
  target.scrollIntoView();
};
for (const link of document.querySelectorAll('a[href^="#"]')) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const section = link.getAttribute("href").slice(1);
    if (link.dataset.topic !== undefined) choose(data.topics.indexOf(link.dataset.topic));
    set(section, {});
    go(section);
  });
}
const options = (select, names) => names.forEach((each, at) => select.append(make("option", each, { value: String(at) })));
const row_head = (text) => {
  const cell = make("th", null, { scope: "row" });
  cell.append(make("span", text));
  return cell;
};
const head = (table, names, kinds) => {
  const row = table.createTHead().insertRow();
  names.forEach((each, at) => row.append(make("th", each, { scope: "col", class: kinds ? kinds[at] : at ? "n" : "" })));
};

// ---- pairs: differences with their intervals, and corrected p
const pair_at = new Map(data.pairs.one.map((one, at) => [one + "," + data.pairs.two[at], at]));
const against = (measure, base, run) => {
  const there = pair_at.get(base + "," + run);
  const back = pair_at.get(run + "," + base);
  if (there === undefined && back === undefined) return undefined;
  const at = there === undefined ? back : there;
  const [gap, p, low, high] = ["gap", "p", "low", "high"].map((key) => data.pairs[key][measure][at]);
  const word = data.outcomes[data.pairs.outcome[measure][at]];
  if (there !== undefined) return { gap, p, low, high, word };
  return { gap: -gap, p, low: -high, high: -low, word: { better: "worse", worse: "better" }[word] || word };
};
const verdict = (found) => (found && found.word !== "none" && found.word !== "equivalent" ? found.word.replace(" ", "-") : "");
const mark = { "": "", better: " ▲", worse: " ▼", "ties-decide": " ◇" };


// ---- tables: heads sort, columns can be chosen, and of many rows the first are shown
const natural = new Intl.Collator(document.documentElement.lang, { numeric: true });
const FEW = 15;
const value_of = (cell) => {
  const text = cell.textContent.trim();
  const number = Number(text.replaceAll(/[\s,]/g, spoken.decimal === "," ? (mark) => (mark === "," ? "." : "") : "").replace("−", "-"));
  return text === "" || text === "–" ? -Infinity : Number.isNaN(number) ? text : number;
};
const compare = (x, y) => (typeof x === "number" && typeof y === "number" ? (x === y ? 0 : x < y ? -1 : 1) : natural.compare(String(x), String(y)));
const sort_rows = (table, column, down) => {
  const found = [...table.tBodies[0].rows].map((row) => [value_of(row.cells[column]), row]);
  found.sort((x, y) => (down ? -1 : 1) * compare(x[0], y[0]));
  table.tBodies[0].append(...found.map((each) => each[1]));
};
const mark_sorted = (table, column, down) =>
  [...table.tHead.rows[0].cells].forEach((cell, at) => {
    if (at === column) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  });
const sortable = (table, click) =>
  [...table.tHead.rows[0].cells].forEach((cell, at) => {
    if (cell.dataset.key === "drawn") return;
    const button = make("button", cell.textContent, { type: "button" });
    cell.replaceChildren(button);
    button.addEventListener("click", () => {
      const now = cell.getAttribute("aria-sort");
      const down = now === null ? cell.classList.contains("n") && cell.dataset.key !== "rank" && cell.dataset.less === undefined : now === "ascending";
      mark_sorted(table, at, down);
      click(at, down, cell.dataset.key);
    });
  });
const hide = (table, column, hidden) => {
  for (const row of table.rows) if (row.cells[column] && row.cells.length > 1) row.cells[column].hidden = hidden;
};
const columns = (table, hidden = []) => {
  const heads = [...table.tHead.rows[0].cells];
  const menu = make("details", null, { class: "choose" });
  menu.append(make("summary", say("Columns")));
  heads.forEach((cell, at) => {
    if (cell.getAttribute("scope") !== "col" || at === 0) return;
    const box = make("input", null, { type: "checkbox" });
    box.checked = !hidden.includes(at);
    hide(table, at, !box.checked);
    box.addEventListener("change", () => hide(table, at, !box.checked));
    const label = make("label");
    label.append(box, cell.querySelector(".for-reader") ? say("picture") : cell.textContent);
    menu.append(label);
  });
  return menu;
};
const cut = (table) => {
  const count = table.tBodies[0].rows.length;
  if (count <= FEW) return [];
  table.classList.add("cut");
  const button = make("button", say("Show all {n} rows", { n: count }), { type: "button", class: "all" });
  button.addEventListener("click", () => {
    const short_ = table.classList.toggle("cut");
    button.textContent = short_ ? say("Show all {n} rows", { n: count }) : say("Show the first rows only");
  });
  return [button];
};
const enhance = (table) => {
  sortable(table, (column, down) => sort_rows(table, column, down));
  const around = table.closest(".scroll");
  for (const each of around.parentElement.querySelectorAll(":scope > .for-" + (around.id || "none"))) each.remove();
  const more = [...(table.tHead.rows[0].cells.length > 4 ? [columns(table)] : []), ...cut(table)];
  for (const each of more) {
    if (around.id) each.classList.add("for-" + around.id);
    around.after(each);
  }
};
