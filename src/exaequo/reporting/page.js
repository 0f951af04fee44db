"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const make = (tag, text, attributes = {}) => {
    const element = document.createElement(tag);
    if (text !== undefined && text !== null) element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const figure = (value) => (value === null || value === undefined ? "undefined" : value.toFixed(4));
  const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(4);
  document.documentElement.classList.add("scripted");

  // What is shown is in the fragment of the address, so that a link shows the same.
  const state = new URLSearchParams(location.hash.startsWith("#view?") ? location.hash.slice(6) : "");
  const keep = () => history.replaceState(null, "", "#view?" + state.toString());
  const set = (key, value) => {
    if (value === "" || value === null) state.delete(key);
    else state.set(key, value);
    keep();
  };

  const p_of = data.pairs.map((pairs) => {
    const found = new Map();
    for (const [one, two, gap, p] of pairs) {
      found.set(one + "," + two, [gap, p]);
      found.set(two + "," + one, [-gap, p]);
    }
    return found;
  });
  const against = (measure, base, run) => p_of[measure].get(base + "," + run);

  // ---- the table of runs
  const table = $("scores");
  const rows = [...table.tBodies[0].rows];
  const number_of = new Map(data.runs.map((name, at) => [name, at]));
  const sort_by = (key, down) => {
    for (const head of table.tHead.rows[0].cells) {
      if (head.dataset.key === key) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    const value = (row) => (key === "run" ? row.dataset.run : Number(row.cells[Number(key) + 1].dataset.value));
    const side = down ? -1 : 1;
    rows.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return side * (key === "run" ? x.localeCompare(y) : x - y);
    });
    table.tBodies[0].append(...rows);
  };
  for (const head of table.tHead.rows[0].cells) {
    const button = make("button", head.textContent, { type: "button" });
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      set("sort", head.dataset.key);
      set("down", down ? "1" : "0");
      sort_by(head.dataset.key, down);
    });
  }
  const filter = (text) => {
    let count = 0;
    for (const row of rows) {
      row.hidden = !row.dataset.run.toLowerCase().includes(text.toLowerCase());
      count += row.hidden ? 0 : 1;
    }
    $("shown").textContent = `${count} of ${rows.length} runs`;
  };
  $("filter").addEventListener("input", (event) => {
    set("filter", event.target.value);
    filter(event.target.value);
  });
  const pin = (name) => {
    const base = name === "" ? undefined : number_of.get(name);
    for (const row of rows) {
      row.classList.toggle("pinned", row.dataset.run === name);
      data.measures.forEach((measure, at) => {
        const cell = row.cells[at + 1].querySelector(".against");
        cell.replaceChildren();
        if (base === undefined || row.dataset.run === name) return;
        const run = number_of.get(row.dataset.run);
        const gap = data.means[Object.keys(data.means)[0]][at][run] - data.means[Object.keys(data.means)[0]][at][base];
        const found = against(at, base, run);
        const better = measure.up ? gap > 0 : gap < 0;
        const sure = found && found[1] < data.alpha;
        const text = signed(gap) + (found ? `, p ${found[1] < 0.0001 ? "< 0.0001" : "= " + found[1].toPrecision(2)}` : "");
        cell.append(make("span", text + (sure ? (better ? " ▲" : " ▼") : ""), sure ? { class: better ? "up" : "down" } : {}));
      });
    }
  };
  for (const name of data.runs) $("baseline").append(make("option", name, { value: name }));
  $("baseline").addEventListener("change", (event) => {
    set("baseline", event.target.value);
    pin(event.target.value);
  });

  // ---- the matrix of pairs
  const matrix = (at) => {
    const grid = make("table");
    grid.append(make("caption", data.measures[at].name));
    const head = grid.createTHead().insertRow();
    head.append(make("th", "run", { scope: "col" }));
    for (const name of data.runs) head.append(make("th", name, { scope: "col" }));
    const body = grid.createTBody();
    data.runs.forEach((name, run) => {
      const row = body.insertRow();
      row.append(make("th", name, { scope: "row" }));
      data.runs.forEach((_, base) => {
        const found = against(at, base, run);
        const sure = found && found[1] < data.alpha;
        const better = found && (data.measures[at].up ? found[0] > 0 : found[0] < 0);
        const text = found ? signed(found[0]) + (sure ? (better ? " ▲" : " ▼") : "") : "–";
        const cell = make("td", text, { class: "n" + (sure ? (better ? " better" : " worse") : "") });
        if (found) cell.title = "p = " + found[1];
        row.append(cell);
      });
    });
    $("matrix").replaceChildren(grid);
  };
  const options = (select, names) => names.forEach((name, at) => select.append(make("option", name, { value: String(at) })));
  options($("pair-measure"), data.measures.map((measure) => measure.name));
  $("pair-measure").addEventListener("change", (event) => {
    set("pairs", event.target.value);
    matrix(Number(event.target.value));
  });

  // ---- two runs, topic by topic
  for (const id of ["one", "two"]) options($(id), data.runs);
  options($("measure"), data.measures.map((measure) => measure.name));
  options($("topic"), data.topics);
  const chosen = (id) => Number($(id).value);
  const bars = () => {
    const [one, two, at] = [chosen("one"), chosen("two"), chosen("measure")];
    const gaps = data.topics
      .map((name, topic) => ({ name, topic, a: data.values[at][one][topic], b: data.values[at][two][topic] }))
      .filter((each) => each.a !== null && each.b !== null)
      .map((each) => ({ ...each, gap: each.b - each.a }))
      .sort((x, y) => y.gap - x.gap);
    const top = Math.max(1e-9, ...gaps.map((each) => Math.abs(each.gap)));
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("viewBox", `0 0 ${Math.max(gaps.length, 1) * 10} 200`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", "Differences by topic, sorted");
    gaps.forEach((each, place) => {
      const bar = document.createElementNS(space, "rect");
      const height = (Math.abs(each.gap) / top) * 95;
      bar.setAttribute("x", String(place * 10 + 1));
      bar.setAttribute("width", "8");
      bar.setAttribute("y", String(each.gap >= 0 ? 100 - height : 100));
      bar.setAttribute("height", String(Math.max(height, 0.5)));
      bar.setAttribute("fill", each.gap >= 0 ? "#0072B2" : "#D55E00");
      bar.setAttribute("tabindex", "0");
      bar.setAttribute("role", "button");
      bar.setAttribute("aria-label", `topic ${each.name}: ${signed(each.gap)}`);
      const tip = document.createElementNS(space, "title");
      tip.textContent = `${each.name}: ${figure(each.a)} and ${figure(each.b)}`;
      bar.append(tip);
      const choose = () => {
        $("topic").value = String(each.topic);
        set("topic", each.name);
        lists();
      };
      bar.addEventListener("click", choose);
      bar.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          choose();
        }
      });
      svg.append(bar);
    });
    $("bars").replaceChildren(svg);
    const up = gaps.filter((each) => each.gap > 0).length;
    const down = gaps.filter((each) => each.gap < 0).length;
    $("bars-text").textContent =
      `${data.measures[at].name} of ${data.runs[two]} over ${data.runs[one]}: higher on ${up} topics, lower on ${down}, equal on ${gaps.length - up - down}.`;
  };
  const lists = () => {
    const topic = chosen("topic");
    const at = chosen("measure");
    const parts = [chosen("one"), chosen("two")].map((run) => {
      const grid = make("table");
      grid.append(make("caption", `${data.runs[run]}, topic ${data.topics[topic]}: ${data.measures[at].name} ${figure(data.values[at][run][topic])}`));
      const head = grid.createTHead().insertRow();
      for (const name of ["rank", "document", "judgment"]) head.append(make("th", name, { scope: "col" }));
      const body = grid.createTBody();
      const documents = data.lists[run][data.order[topic]];
      documents.forEach(([name, grade, tied], place) => {
        const row = body.insertRow();
        if (tied) row.className = "tied";
        row.append(make("td", String(place + 1) + (tied || (place > 0 && documents[place - 1][2]) ? " =" : ""), { class: "n" }));
        row.append(make("td", name));
        row.append(make("td", grade === null ? "not judged" : String(grade), grade > 0 ? { class: "rel" } : {}));
      });
      if (!documents.length) body.insertRow().append(make("td", "nothing returned", { colspan: "3" }));
      return grid;
    });
    $("lists").replaceChildren(...parts);
  };
  for (const id of ["one", "two", "measure"]) {
    $(id).addEventListener("change", (event) => {
      set(id, event.target.selectedOptions[0].textContent);
      bars();
      lists();
    });
  }
  $("topic").addEventListener("change", (event) => {
    set("topic", event.target.selectedOptions[0].textContent);
    lists();
  });

  // ---- downloads, all from the data in the page
  const save = (name, type, text) => {
    const link = make("a", "", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    document.body.append(link);
    link.click();
    link.remove();
  };
  const quoted = (text) => (/[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
  $("csv").addEventListener("click", () => {
    const lines = ["run,topic,measure,value"];
    data.measures.forEach((measure, at) =>
      data.runs.forEach((run, row) =>
        data.topics.forEach((topic, column) => {
          const value = data.values[at][row][column];
          lines.push([run, topic, measure.name].map(quoted).join(",") + "," + (value === null ? "" : value));
        }),
      ),
    );
    save("values.csv", "text/csv", lines.join("\n") + "\n");
  });
  const escapes = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };
  const latex = (text) => text.replace(/[\\~^&%$#_{}]/g, (c) => escapes[c] || "\\" + c);
  $("latex").addEventListener("click", () => {
    const first = Object.keys(data.means)[0];
    const lines = ["\\begin{tabular}{l" + "r".repeat(data.measures.length) + "}", "\\toprule"];
    lines.push(["run", ...data.measures.map((measure) => latex(measure.name))].join(" & ") + " \\\\", "\\midrule");
    for (const row of rows) {
      const run = number_of.get(row.dataset.run);
      lines.push([latex(row.dataset.run), ...data.measures.map((_, at) => figure(data.means[first][at][run]))].join(" & ") + " \\\\");
    }
    save("means.tex", "text/x-tex", [...lines, "\\bottomrule", "\\end{tabular}", ""].join("\n"));
  });
  $("json").addEventListener("click", () => save("report.json", "application/json", JSON.stringify(data)));
  for (const button of document.querySelectorAll("button.download")) {
    button.addEventListener("click", () => {
      const svg = document.querySelector(`#figure-${button.dataset.figure} svg`);
      save(button.dataset.figure + ".svg", "image/svg+xml", svg.outerHTML);
    });
  }

  // ---- as the address says
  const index = (names, text, usual) => (names.indexOf(text) >= 0 ? names.indexOf(text) : usual);
  const by_rank = rows.map((row) => number_of.get(row.dataset.run));
  $("one").value = String(index(data.runs, state.get("one"), by_rank[1]));
  $("two").value = String(index(data.runs, state.get("two"), by_rank[0]));
  $("measure").value = String(index(data.measures.map((measure) => measure.name), state.get("measure"), 0));
  $("topic").value = String(index(data.topics, state.get("topic"), 0));
  $("filter").value = state.get("filter") || "";
  filter($("filter").value);
  const keys = [...table.tHead.rows[0].cells].map((head) => head.dataset.key);
  if (keys.includes(state.get("sort"))) sort_by(state.get("sort"), state.get("down") !== "0");
  const base = number_of.has(state.get("baseline")) ? state.get("baseline") : data.baseline;
  if (number_of.has(base)) {
    $("baseline").value = base;
    pin(base);
  }
  const asked = Number(state.get("pairs") || 0);
  const pairs = asked in data.measures ? asked : 0;
  $("pair-measure").value = String(pairs);
  if (data.runs.length <= 60 || state.get("pairs") !== null) matrix(pairs);
  bars();
  lists();
})();
