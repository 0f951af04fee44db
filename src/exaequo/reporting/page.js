"use strict";
(() => {
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
  const figure = (value) => (value === null || value === undefined ? "undefined" : value.toFixed(4));
  const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(4);
  const strategies = Object.keys(data.means);
  const measures = data.measures.map((measure) => measure.name);
  const many_runs = data.runs.length > 60;
  document.documentElement.classList.add("scripted");

  // ---- What is shown is in the fragment of the address, by name, so that a link shows the same.
  let state = new URLSearchParams();
  const read_state = () => {
    if (location.hash.startsWith("#view?")) state = new URLSearchParams(location.hash.slice(6));
  };
  const set = (key, value) => {
    if (value === "" || value === null) state.delete(key);
    else state.set(key, value);
    history.replaceState(null, "", "#view?" + state.toString());
  };
  const place = (names, name, usual) => (names.indexOf(name) >= 0 ? names.indexOf(name) : usual);
  for (const link of document.querySelectorAll("nav a, a.skip")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const section = link.getAttribute("href").slice(1);
      set("section", section);
      go(section);
    });
  }
  const go = (section) => {
    const target = $(section);
    if (!target || target.tagName !== "SECTION") return;
    target.setAttribute("tabindex", "-1");
    target.focus({ preventScroll: true });
    target.scrollIntoView();
  };
  const options = (select, names) => names.forEach((name, at) => select.append(make("option", name, { value: String(at) })));
  const head = (table, names, kind = "n") => {
    const row = table.createTHead().insertRow();
    names.forEach((name, at) => row.append(make("th", name, { scope: "col", class: at ? kind : "" })));
  };

  // ---- pairs: differences and corrected p
  const p_of = data.pairs.map((pairs) => {
    const found = new Map();
    for (const [one, two, gap, p] of pairs) {
      found.set(one + "," + two, [gap, p]);
      found.set(two + "," + one, [-gap, p]);
    }
    return found;
  });
  const against = (measure, base, run) => p_of[measure].get(base + "," + run);
  const verdict = (measure, found) => {
    if (!found || found[1] >= data.alpha) return "";
    return (data.measures[measure].up ? found[0] > 0 : found[0] < 0) ? "better" : "worse";
  };
  const mark = { "": "", better: " ▲", worse: " ▼" };
  const p_text = (p) => (p < 0.0001 ? "p < 0.0001" : "p = " + p.toPrecision(2));

  // ---- ties
  const intervals = (at) => {
    const table = make("table");
    table.append(make("caption", measures[at]));
    head(table, ["run", "tied %", ...strategies, "span"]);
    const body = table.createTBody();
    data.runs.forEach((name, run) => {
      const row = body.insertRow();
      row.append(make("th", name, { scope: "row" }), make("td", data.tied[run].toFixed(1), { class: "n" }));
      for (const ties of strategies) row.append(make("td", figure(data.means[ties][at][run]), { class: "n" }));
      const span = Math.abs(data.means.optimistic[at][run] - data.means.realistic[at][run]);
      row.append(make("td", figure(span), { class: "n" }));
    });
    $("intervals").replaceChildren(table);
  };

  // ---- the table of runs
  const table = $("scores");
  const rows = [...table.tBodies[0].rows];
  const by_rank = rows.slice();
  const number_of = new Map(data.runs.map((name, at) => [name, at]));
  const key_name = (key) => (key === "run" ? "run" : measures[Number(key)]);
  const sort_by = (key, down) => {
    for (const cell of table.tHead.rows[0].cells) {
      if (cell.dataset.key === key) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    const value = (row) => (key === "run" ? row.dataset.run : Number(row.cells[Number(key) + 1].dataset.value));
    const side = down ? -1 : 1;
    if (key === null) rows.splice(0, rows.length, ...by_rank);
    else {
      rows.sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        return side * (key === "run" ? x.localeCompare(y) : x - y);
      });
    }
    table.tBodies[0].append(...rows);
  };
  for (const cell of table.tHead.rows[0].cells) {
    const button = make("button", cell.textContent, { type: "button" });
    cell.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = cell.getAttribute("aria-sort") !== "descending";
      set("sort", key_name(cell.dataset.key));
      set("down", down ? "1" : "0");
      sort_by(cell.dataset.key, down);
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
  const pin = (name) => {
    const base = number_of.get(name);
    const means = data.means[strategies[0]];
    for (const row of rows) {
      row.classList.toggle("pinned", row.dataset.run === name);
      measures.forEach((_, at) => {
        const cell = row.cells[at + 1].querySelector(".against");
        cell.replaceChildren();
        if (base === undefined || row.dataset.run === name) return;
        const run = number_of.get(row.dataset.run);
        const found = against(at, base, run);
        const word = verdict(at, found);
        const text = signed(means[at][run] - means[at][base]) + (found ? ", " + p_text(found[1]) : "") + mark[word];
        cell.append(make("span", text, word ? { class: word } : {}));
      });
    }
    const untested = base !== undefined && data.baseline !== "" && data.baseline !== name;
    $("pinned").textContent = untested ? `Differences from ${name} have no p: the tests were made against ${data.baseline}.` : "";
  };

  // ---- the matrix of pairs
  const matrix = (at) => {
    const grid = make("table");
    grid.append(make("caption", measures[at]));
    head(grid, ["run", ...data.runs]);
    const body = grid.createTBody();
    data.runs.forEach((name, run) => {
      const row = body.insertRow();
      row.append(make("th", name, { scope: "row" }));
      data.runs.forEach((_, base) => {
        const found = against(at, base, run);
        const word = verdict(at, found);
        const cell = make("td", found ? signed(found[0]) + mark[word] : "–", { class: ("n " + word).trim() });
        if (found) cell.title = p_text(found[1]);
        row.append(cell);
      });
    });
    $("matrix").replaceChildren(grid);
  };

  // ---- two runs, or one alone, topic by topic
  const chosen = (id) => Number($(id).value);
  const gaps_of = (one, two, at) =>
    data.topics
      .map((name, topic) => ({ name, topic, a: one < 0 ? 0 : data.values[at][one][topic], b: data.values[at][two][topic] }))
      .filter((each) => each.a !== null && each.b !== null)
      .map((each) => ({ ...each, gap: each.b - each.a }))
      .sort((x, y) => y.gap - x.gap);
  const choose = (topic) => {
    $("topic").value = String(topic);
    set("topic", data.topics[topic]);
    lists();
    highlight();
  };
  const highlight = () => {
    for (const mark_ of document.querySelectorAll("#bars .bar, #cloud circle")) {
      mark_.classList.toggle("chosen", Number(mark_.dataset.topic) === chosen("topic"));
    }
  };
  const ticks = (low, high) => {
    const raw = (high - low) / 5;
    const size = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((factor) => factor * size).find((each) => each >= raw);
    const found = [];
    for (let at = Math.ceil(low / step); at * step <= high + step / 1e6; at += 1) found.push(at * step);
    return found;
  };
  const short = (value) => String(Number(value.toPrecision(6))).replace("-", "−");
  const frame = (width, height, label) =>
    draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-label": label });

  const bars = () => {
    const [one, two, at] = [chosen("one"), chosen("two"), chosen("measure")];
    const gaps = gaps_of(one, two, at);
    const [width, height, left, top, bottom] = [1100, 280, 70, 30, 24];
    const svg = frame(width, height, `Differences in ${measures[at]} by topic, sorted`);
    svg.setAttribute("role", "group");
    const low = Math.min(0, ...gaps.map((each) => each.gap));
    const high = Math.max(low + 1e-6, 0, ...gaps.map((each) => each.gap));
    const y = (value) => top + ((high - value) / (high - low)) * (height - top - bottom);
    for (const value of ticks(low, high)) {
      svg.append(draw("line", { x1: left, x2: width - 10, y1: y(value), y2: y(value), class: "axis" }));
      svg.append(draw("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, short(value)));
    }
    const better = (gap) => (data.measures[at].up ? gap > 0 : gap < 0);
    const step = (width - 10 - left) / Math.max(gaps.length, 1);
    gaps.forEach((each, number) => {
      const from = Math.min(y(0), y(each.gap));
      const bar = draw("rect", {
        x: left + number * step + step * 0.08,
        width: step * 0.84,
        y: from,
        height: Math.max(Math.abs(y(each.gap) - y(0)), 1),
        class: "bar " + (one < 0 || better(each.gap) ? "two" : "one"),
        tabindex: number ? "-1" : "0",
        role: "button",
        "data-topic": each.topic,
        "aria-label": `topic ${each.name}: ${signed(each.gap)}`,
      });
      bar.append(draw("title", {}, `${each.name}: ` + (one < 0 ? figure(each.b) : `${figure(each.a)} and ${figure(each.b)}`)));
      svg.append(bar);
    });
    const legend = one < 0 ? [[data.runs[two], "two"]] : [[`${data.runs[two]} better`, "two"], [`${data.runs[one]} better`, "one"]];
    let from = left;
    for (const [text, kind] of legend) {
      svg.append(draw("rect", { x: from, y: 6, width: 11, height: 11, class: kind }));
      svg.append(draw("text", { x: from + 16, y: 16 }, text));
      from += 46 + 7.2 * text.length;
    }
    svg.append(draw("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle" }, "topics, sorted"));
    const all = [...svg.querySelectorAll(".bar")];
    svg.addEventListener("click", (event) => {
      const bar = event.target.closest(".bar");
      if (bar) choose(Number(bar.dataset.topic));
    });
    svg.addEventListener("keydown", (event) => {
      const number = all.indexOf(event.target);
      if (number < 0) return;
      const next = { ArrowRight: number + 1, ArrowLeft: number - 1, Home: 0, End: all.length - 1 }[event.key];
      if (all[next]) {
        all.forEach((bar, other) => bar.setAttribute("tabindex", other === next ? "0" : "-1"));
        all[next].focus();
      } else if (event.key === "Enter" || event.key === " ") choose(Number(all[number].dataset.topic));
      else return;
      event.preventDefault();
    });
    $("bars").replaceChildren(svg);
    const [up, down] = [gaps.filter((each) => each.gap > 0).length, gaps.filter((each) => each.gap < 0).length];
    const found = one < 0 ? undefined : against(at, one, two);
    $("bars-text").textContent =
      one < 0
        ? `${measures[at]} of ${data.runs[two]}: mean ${figure(data.means[strategies[0]][at][two])}.`
        : `${measures[at]} of ${data.runs[two]} over ${data.runs[one]}: higher on ${up} topics, lower on ${down}, equal on ${gaps.length - up - down}` +
          (found ? `; mean difference ${signed(found[0])}, ${p_text(found[1])} (${data.test}).` : ".");
    const far = gaps.slice().sort((x, y_) => Math.abs(y_.gap) - Math.abs(x.gap)).slice(0, 5).filter((each) => each.gap);
    $("contrasts").replaceChildren(one < 0 ? "Highest: " : "Most different: ");
    for (const each of far) {
      const button = make("button", `${each.name} ${signed(each.gap)}`, { type: "button" });
      button.addEventListener("click", () => choose(each.topic));
      $("contrasts").append(button, " ");
    }
    cloud(one, two, at, gaps);
    highlight();
  };

  const cloud = (one, two, at, gaps) => {
    if (one < 0) {
      $("cloud").replaceChildren();
      return;
    }
    const [size, left, top] = [420, 60, 12];
    const values = gaps.flatMap((each) => [each.a, each.b]);
    const low = Math.min(0, ...values);
    const high = Math.max(low + 1e-6, ...values);
    const x = (value) => left + ((value - low) / (high - low)) * size;
    const y = (value) => top + ((high - value) / (high - low)) * size;
    const svg = frame(left + size + 30, top + size + 50, `${measures[at]} of ${data.runs[two]} against ${data.runs[one]}, topic by topic; above the line the first is higher`);
    svg.setAttribute("role", "img");
    for (const value of ticks(low, high)) {
      svg.append(draw("line", { x1: x(value), x2: x(value), y1: top, y2: top + size, class: "axis" }));
      svg.append(draw("line", { x1: left, x2: left + size, y1: y(value), y2: y(value), class: "axis" }));
      svg.append(draw("text", { x: x(value), y: top + size + 16, "text-anchor": "middle" }, short(value)));
      svg.append(draw("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, short(value)));
    }
    svg.append(draw("line", { x1: x(low), x2: x(high), y1: y(low), y2: y(high), class: "same" }));
    for (const each of gaps) {
      const point = draw("circle", { cx: x(each.a), cy: y(each.b), r: 5, class: "two", "data-topic": each.topic });
      point.append(draw("title", {}, `${each.name}: ${figure(each.a)} and ${figure(each.b)}`));
      point.addEventListener("click", () => choose(each.topic));
      svg.append(point);
    }
    const name = (text) => (text.length > 44 ? text.slice(0, 43) + "…" : text);
    svg.append(draw("text", { x: left + size / 2, y: top + size + 40, "text-anchor": "middle" }, name(data.runs[one])));
    const side = draw("text", { x: 0, y: 0, "text-anchor": "middle", transform: `translate(14 ${top + size / 2}) rotate(-90)` }, name(data.runs[two]));
    svg.append(side);
    $("cloud").replaceChildren(svg);
  };

  const lists = () => {
    const [topic, at] = [chosen("topic"), chosen("measure")];
    const relevant = (grade) => grade !== null && (data.level === null ? grade > 0 : grade >= data.level);
    const shown = [chosen("one"), chosen("two")].filter((run) => run >= 0);
    const parts = shown.map((run) => {
      const grid = make("table");
      grid.append(make("caption", `${data.runs[run]}, topic ${data.topics[topic]}: ${measures[at]} ${figure(data.values[at][run][topic])}`));
      head(grid, ["rank", "document", "judgment", "score"], "");
      const body = grid.createTBody();
      const documents = data.lists[run][data.order[topic]];
      documents.forEach(([name, grade, tied, score], number) => {
        const equal = tied || (number > 0 && documents[number - 1][2]);
        const row = body.insertRow();
        row.className = [tied ? "tied" : "", equal ? "in-tie" : ""].join(" ").trim();
        row.append(make("td", String(number + 1) + (equal ? " =" : ""), { class: "n" }));
        row.append(make("td", name));
        row.append(make("td", grade === null ? "not judged" : String(grade) + (relevant(grade) ? " ✓" : ""), relevant(grade) ? { class: "rel" } : {}));
        row.append(make("td", score, { class: "n" }));
      });
      if (!documents.length) body.insertRow().append(make("td", "nothing returned", { colspan: "4" }));
      return grid;
    });
    $("lists").replaceChildren(...parts);
  };

  // ---- what people choose
  const on = (id, event, action) => $(id) && $(id).addEventListener(event, (happened) => action(happened.target));
  options($("ties-measure"), measures);
  for (const name of data.runs) $("baseline").append(make("option", name, { value: name }));
  if ($("pair-measure")) options($("pair-measure"), measures);
  for (const id of ["one", "two"]) options($(id), data.runs);
  options($("measure"), measures);
  options($("topic"), data.topics);
  on("ties-measure", "change", (select) => {
    set("intervals", measures[Number(select.value)]);
    intervals(Number(select.value));
  });
  on("filter", "input", (input) => {
    set("filter", input.value);
    filter(input.value);
  });
  on("baseline", "change", (select) => {
    set("baseline", select.value === "" ? "none" : select.value);
    pin(select.value);
  });
  on("pair-measure", "change", (select) => {
    set("pairs", measures[Number(select.value)]);
    matrix(Number(select.value));
  });
  for (const id of ["one", "two", "measure"]) {
    on(id, "change", (select) => {
      set(id, select.selectedOptions[0].textContent);
      bars();
      lists();
    });
  }
  on("topic", "change", (select) => choose(Number(select.value)));

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
    measures.forEach((measure, at) =>
      data.runs.forEach((run, row) =>
        data.topics.forEach((topic, column) => {
          const value = data.values[at][row][column];
          lines.push([run, topic, measure].map(quoted).join(",") + "," + (value === null ? "" : value));
        }),
      ),
    );
    save("values.csv", "text/csv", lines.join("\n") + "\n");
  });
  const escapes = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };
  const latex = (text) => text.replace(/[\\~^&%$#_{}]/g, (c) => escapes[c] || "\\" + c);
  $("latex").addEventListener("click", () => {
    const lines = ["\\begin{tabular}{l" + "r".repeat(measures.length) + "}", "\\toprule"];
    lines.push(["run", ...measures.map(latex)].join(" & ") + " \\\\", "\\midrule");
    for (const row of rows) {
      const run = number_of.get(row.dataset.run);
      lines.push([latex(row.dataset.run), ...measures.map((_, at) => figure(data.means[strategies[0]][at][run]))].join(" & ") + " \\\\");
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
  const show = () => {
    read_state();
    const [one, two] = data.leaders;
    $("one").value = String(state.get("one") === $("one").options[0].textContent ? -1 : place(data.runs, state.get("one"), one));
    $("two").value = String(place(data.runs, state.get("two"), two));
    $("measure").value = String(place(measures, state.get("measure"), 0));
    const gaps = gaps_of(chosen("one"), chosen("two"), chosen("measure"));
    const far = gaps.reduce((most, each) => (Math.abs(each.gap) > Math.abs(most.gap) ? each : most), gaps[0] || { topic: 0, gap: 0 });
    $("topic").value = String(place(data.topics, state.get("topic"), far.topic));
    $("filter").value = state.get("filter") || "";
    const key = [...table.tHead.rows[0].cells].map((cell) => cell.dataset.key).find((each) => key_name(each) === state.get("sort"));
    sort_by(key === undefined ? null : key, state.get("down") !== "0");
    filter($("filter").value);
    const base = state.get("baseline") === "none" ? "" : number_of.has(state.get("baseline")) ? state.get("baseline") : data.baseline;
    $("baseline").value = base;
    pin(base);
    const tied = place(measures, state.get("intervals"), 0);
    $("ties-measure").value = String(tied);
    intervals(tied);
    if ($("pair-measure")) {
      const pairs = place(measures, state.get("pairs"), 0);
      $("pair-measure").value = String(pairs);
      if (!many_runs || state.get("pairs") !== null) matrix(pairs);
    }
    bars();
    lists();
    if (state.get("section")) go(state.get("section"));
  };
  addEventListener("hashchange", show);
  show();
})();
