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
  const name = (text) => make("bdi", text);
  const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
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
    if (typing) history.replaceState(null, "", address);
    else if (address !== location.hash) history.pushState(null, "", address);
  };
  const place = (names, wanted, usual) => (names.indexOf(wanted) >= 0 ? names.indexOf(wanted) : usual);
  const go = (section) => {
    const target = $(section);
    if (!target || target.tagName !== "SECTION") return;
    target.setAttribute("tabindex", "-1");
    target.focus({ preventScroll: true });
    target.scrollIntoView();
  };
  for (const link of document.querySelectorAll("nav a, a.skip")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const section = link.getAttribute("href").slice(1);
      set(section, {});
      go(section);
    });
  }
  const options = (select, names) => names.forEach((each, at) => select.append(make("option", each, { value: String(at) })));
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

  // ---- ties
  const intervals = (at) => {
    const table = make("table");
    table.append(make("caption", measures[at]));
    head(table, [say("run"), say("tied %"), ...strategies.map((ties) => say(ties)), say("span")]);
    const body = table.createTBody();
    for (const run of data.ranked) {
      const row = body.insertRow();
      row.append(make("th", data.runs[run], { scope: "row" }), make("td", marked(data.tied[run].toFixed(1)), { class: "n" }));
      for (const ties of strategies) row.append(make("td", figure(data.means[ties][at][run]), { class: "n" }));
      const span = Math.abs(data.means.optimistic[at][run] - data.means.realistic[at][run]);
      row.append(make("td", figure(span), { class: "n" }));
    }
    $("intervals").replaceChildren(table);
  };

  // ---- the table of runs
  const table = $("scores");
  const rows = [...table.tBodies[0].rows];
  const by_rank = rows.slice();
  const number_of = new Map(data.runs.map((each, at) => [each, at]));
  const key_name = (key) => (key === "run" ? "run" : measures[Number(key)]);
  const best_is_down = (key) => key !== "run" && data.measures[Number(key)].up;
  const sort_by = (key, down) => {
    for (const cell of table.tHead.rows[0].cells) {
      if (cell.dataset.key === key) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    const value = (row) => (key === "run" ? row.dataset.run : Number(row.cells[Number(key) + 1].dataset.value));
    const side = down ? -1 : 1;
    rows.splice(0, rows.length, ...by_rank);
    rows.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return side * (key === "run" ? x.localeCompare(y) : x - y);
    });
    table.tBodies[0].append(...rows);
  };
  for (const cell of table.tHead.rows[0].cells) {
    const button = make("button", cell.textContent, { type: "button" });
    cell.replaceChildren(button);
    button.addEventListener("click", () => {
      const key = cell.dataset.key;
      const now = cell.getAttribute("aria-sort");
      const down = now === null ? best_is_down(key) : now === "ascending";
      set("runs", { sort: key_name(key), down: down ? "1" : "0" });
      sort_by(key, down);
    });
  }
  const filter = (text) => {
    let count = 0;
    for (const row of rows) {
      row.hidden = !row.dataset.run.toLowerCase().includes(text.toLowerCase());
      count += row.hidden ? 0 : 1;
    }
    $("shown").textContent = say("{some} of {all} runs", { some: count, all: rows.length });
  };
  const pin = (pinned) => {
    const base = number_of.get(pinned);
    const means = data.means[strategies[0]];
    table.classList.toggle("repinned", base !== undefined && pinned !== data.baseline);
    for (const row of rows) {
      row.classList.toggle("pinned", row.dataset.run === pinned);
      measures.forEach((_, at) => {
        const cell = row.cells[at + 1].querySelector(".against");
        cell.replaceChildren();
        if (base === undefined || row.dataset.run === pinned) return;
        const run = number_of.get(row.dataset.run);
        const found = against(at, base, run);
        const word = verdict(found);
        const sure = found ? `, ${between(found)}, ${p_text(found.p)}` : "";
        const text = signed(means[at][run] - means[at][base]) + sure + mark[word];
        cell.append(make("span", text, word ? { class: word } : {}));
      });
    }
    const untested = base !== undefined && data.baseline !== "" && data.baseline !== pinned;
    $("pinned").textContent = untested ? say("Differences from {run} have no p: the tests were made against {baseline}.", { run: pinned, baseline: data.baseline }) : "";
  };

  // ---- the matrix of pairs; of many runs it has signs
  const matrix = (at) => {
    const grid = make("table");
    grid.append(make("caption", measures[at]));
    head(grid, [say("run"), ...data.ranked.map((run) => data.runs[run])]);
    const body = grid.createTBody();
    for (const run of data.ranked) {
      const row = body.insertRow();
      row.append(make("th", data.runs[run], { scope: "row" }));
      for (const base of data.ranked) {
        const found = against(at, base, run);
        const word = verdict(found);
        const cell = make("td", "–", { class: ("n " + word).trim() });
        if (found && many_runs) {
          cell.textContent = mark[word].trim() || "·";
          cell.title = `${signed(found.gap)}, ${p_text(found.p)}`;
        } else if (found) cell.replaceChildren(signed(found.gap) + mark[word], make("span", p_text(found.p), { class: "interval" }));
        row.append(cell);
      }
    }
    $("matrix").replaceChildren(grid);
  };

  // ---- two runs, or one alone, topic by topic
  const chosen = (id) => Number($(id).value);
  const gaps_of = (one, two, at) =>
    data.topics
      .map((each, topic) => ({ name: each, topic, a: one < 0 ? 0 : data.values[at][one][topic], b: data.values[at][two][topic] }))
      .filter((each) => each.a !== null && each.b !== null)
      .map((each) => ({ ...each, gap: each.b - each.a }))
      .sort((x, y) => y.gap - x.gap);
  const choose = (topic) => {
    $("topic").value = String(topic);
    set("topics", { topic: data.topics[topic] });
    lists();
    highlight();
  };
  const highlight = () => {
    for (const each of document.querySelectorAll("#bars .bar, #cloud circle")) {
      const own = Number(each.dataset.topic) === chosen("topic");
      each.classList.toggle("chosen", own);
      if (each.tagName === "rect") each.setAttribute("aria-pressed", String(own));
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
  const tick = (value) => marked(String(Number(value.toPrecision(6)))).replace("-", "−");
  const frame = (width, height, role, label) =>
    draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role, "aria-label": label });

  const draw_bars = (gaps, one, two, at) => {
    const width = Math.max(1100, 80 + 8 * gaps.length);
    const named = (width - 80) / Math.max(gaps.length, 1) >= 12;
    const [left, top, bottom] = [70, 30, named ? 84 : 24];
    const height = 256 + bottom;
    const what = one < 0 ? say("{measure} by topic, sorted", { measure: measures[at] }) : say("Differences in {measure} by topic, sorted", { measure: measures[at] });
    const svg = frame(width, height, "group", what);
    const low = Math.min(0, ...gaps.map((each) => each.gap));
    const high = Math.max(low + 1e-6, 0, ...gaps.map((each) => each.gap));
    const y = (value) => top + ((high - value) / (high - low)) * (height - top - bottom);
    for (const value of ticks(low, high)) {
      svg.append(draw("line", { x1: left, x2: width - 10, y1: y(value), y2: y(value), class: "axis" }));
      svg.append(draw("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, tick(value)));
    }
    const better = (gap) => (data.measures[at].up ? gap > 0 : gap < 0);
    const step = (width - 10 - left) / Math.max(gaps.length, 1);
    gaps.forEach((each, number) => {
      const text = one < 0 ? figure(each.b) : signed(each.gap);
      const bar = draw("rect", {
        x: left + number * step + step * 0.08,
        width: step * 0.84,
        y: Math.min(y(0), y(each.gap)),
        height: Math.max(Math.abs(y(each.gap) - y(0)), 1),
        class: "bar " + (one < 0 || better(each.gap) ? "two" : "one"),
        tabindex: number ? "-1" : "0",
        role: "button",
        "data-topic": each.topic,
        "aria-label": say("topic {topic}", { topic: each.name }) + `: ${text}`,
      });
      if (named) {
        const middle = left + number * step + step / 2;
        const turned = { "text-anchor": "end", transform: `translate(${middle + 4} ${height - bottom + 6}) rotate(-90)` };
        svg.append(draw("text", turned, short(each.name, 9)));
      }
      bar.append(draw("title", {}, `${each.name}: ` + (one < 0 ? text : both(each))));
      svg.append(bar);
    });
    const names = [one, two].map((run) => (run < 0 ? "" : short(data.runs[run], 50)));
    const legend = one < 0 ? [[names[1], "two"]] : [[say("{run} better", { run: names[1] }), "two"], [say("{run} better", { run: names[0] }), "one"]];
    let from = left;
    for (const [text, kind] of legend) {
      svg.append(draw("rect", { x: from, y: 6, width: 11, height: 11, class: kind }));
      svg.append(draw("text", { x: from + 16, y: 16 }, text));
      from += 46 + 7.2 * text.length;
    }
    svg.append(draw("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle" }, say("topics, sorted")));
    const what_is_up = one < 0 ? measures[at] : say("difference in {measure}", { measure: measures[at] });
    const turned = { "text-anchor": "middle", transform: `translate(14 ${top + (height - top - bottom) / 2}) rotate(-90)` };
    svg.append(draw("text", turned, what_is_up));
    return svg;
  };

  const listen_to_bars = (svg) => {
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
  };

  const draw_cloud = (gaps, one, two, at) => {
    const [size, left, top] = [420, 60, 12];
    const values = gaps.flatMap((each) => [each.a, each.b]);
    const low = Math.min(0, ...values);
    const high = Math.max(low + 1e-6, ...values);
    const x = (value) => left + ((value - low) / (high - low)) * size;
    const y = (value) => top + ((high - value) / (high - low)) * size;
    const names = { measure: measures[at], two: data.runs[two], one: data.runs[one] };
    const label = say("{measure} of {two} against {one}, topic by topic; above the line the first is higher", names);
    const svg = frame(left + size + 30, top + size + 50, "img", label);
    for (const value of ticks(low, high)) {
      svg.append(draw("line", { x1: x(value), x2: x(value), y1: top, y2: top + size, class: "axis" }));
      svg.append(draw("line", { x1: left, x2: left + size, y1: y(value), y2: y(value), class: "axis" }));
      svg.append(draw("text", { x: x(value), y: top + size + 16, "text-anchor": "middle" }, tick(value)));
      svg.append(draw("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, tick(value)));
    }
    svg.append(draw("line", { x1: x(low), x2: x(high), y1: y(low), y2: y(high), class: "same" }));
    for (const each of gaps) {
      const point = draw("circle", { cx: x(each.a), cy: y(each.b), r: 5, class: "two", "data-topic": each.topic });
      point.append(draw("title", {}, `${each.name}: ${both(each)}`));
      point.addEventListener("click", () => choose(each.topic));
      svg.append(point);
    }
    const [below, beside] = [one, two].map((run) => say("{measure} of {run}", { measure: measures[at], run: short(data.runs[run], 40) }));
    svg.append(draw("text", { x: left + size / 2, y: top + size + 40, "text-anchor": "middle" }, below));
    const turned = { "text-anchor": "middle", transform: `translate(14 ${top + size / 2}) rotate(-90)` };
    svg.append(draw("text", turned, beside));
    return svg;
  };

  const say_pair = (gaps, one, two, at) => {
    if (one < 0) {
      const mean = figure(data.means[strategies[0]][at][two]);
      $("bars-text").replaceChildren(...parts("{measure} of {run}: mean {mean}.", { measure: measures[at], run: name(data.runs[two]), mean }));
      return;
    }
    const [up, down] = [gaps.filter((each) => each.gap > 0).length, gaps.filter((each) => each.gap < 0).length];
    const found = against(at, one, two);
    const names = { measure: measures[at], two: name(data.runs[two]), one: name(data.runs[one]), up, down, same: gaps.length - up - down };
    const counts = parts("{measure} of {two} over {one}: higher on {up} topics, lower on {down}, equal on {same}", names);
    const size = found ? say("; mean difference {gap}", { gap: signed(found.gap) }) + `, ${between(found)}, ${p_text(found.p)} (${say(data.test)})` : "";
    const open = found && found.word === "ties decide" ? say("; ties decide") : "";
    $("bars-text").replaceChildren(...counts, size + open + ".");
  };

  const topics = () => {
    const [one, two, at] = [chosen("one"), chosen("two"), chosen("measure")];
    const gaps = gaps_of(one, two, at);
    const bars = draw_bars(gaps, one, two, at);
    listen_to_bars(bars);
    $("bars").replaceChildren(bars);
    $("cloud").replaceChildren(...(one < 0 ? [] : [draw_cloud(gaps, one, two, at)]));
    document.querySelector('button[data-chart="cloud"]').hidden = one < 0;
    say_pair(gaps, one, two, at);
    const far = gaps.slice().sort((x, y) => Math.abs(y.gap) - Math.abs(x.gap)).slice(0, 5).filter((each) => each.gap);
    $("contrasts").replaceChildren(one < 0 ? say("Highest: ") : say("Most different: "));
    for (const each of far) {
      const button = make("button", `${each.name} ${one < 0 ? figure(each.b) : signed(each.gap)}`, { type: "button" });
      button.addEventListener("click", () => choose(each.topic));
      $("contrasts").append(button, " ");
    }
    lists();
    highlight();
  };

  const list = (run, topic, at) => {
    const grid = make("table");
    const caption = make("caption");
    const names = { run: name(data.runs[run]), topic: name(data.topics[topic]) };
    caption.append(...parts("{run}, topic {topic}", names), `: ${measures[at]} ${figure(data.values[at][run][topic])}`);
    grid.append(caption);
    head(grid, [say("rank"), say("document"), say("judgment"), say("score")], ["n", "", "", "n"]);
    const body = grid.createTBody();
    const documents = data.lists[run][topic];
    documents.forEach(([document_, grade, tied, score], number) => {
      const equal = tied || (number > 0 && documents[number - 1][2]);
      const enough = grade !== null && (data.level === null ? grade > 0 : grade >= data.level);
      const relevant = enough && (data.highest === null || grade <= data.highest);
      const row = body.insertRow();
      row.className = [tied ? "tied" : "", equal ? "in-tie" : ""].join(" ").trim();
      row.append(make("td", String(number + 1) + (equal ? " =" : ""), { class: "n" }));
      row.append(make("td", document_));
      row.append(make("td", grade === null ? say("not judged") : marked(String(grade)) + (relevant ? " ✓" : ""), relevant ? { class: "rel" } : {}));
      row.append(make("td", marked(score), { class: "n" }));
    });
    if (!documents.length) body.insertRow().append(make("td", say("nothing returned"), { colspan: "4" }));
    const around = make("div", null, { class: "scroll", tabindex: "0", role: "region", "aria-label": say("List of {run}", { run: data.runs[run] }) });
    around.append(grid);
    return around;
  };
  const lists = () => {
    const shown = data.depth ? [chosen("one"), chosen("two")].filter((run) => run >= 0) : [];
    const unique = shown.filter((run, at) => shown.indexOf(run) === at);
    $("lists").replaceChildren(...unique.map((run) => list(run, chosen("topic"), chosen("measure"))));
  };

  // ---- what people choose
  for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());
  const on = (id, event, action) => $(id) && $(id).addEventListener(event, (happened) => action(happened.target));
  options($("ties-measure"), measures);
  for (const each of data.runs) $("baseline").append(make("option", each, { value: each }));
  if ($("pair-measure")) options($("pair-measure"), measures);
  for (const id of ["one", "two"]) options($(id), data.runs);
  options($("measure"), measures);
  options($("topic"), data.topics);
  on("ties-measure", "change", (select) => {
    set("ties", { intervals: measures[Number(select.value)] });
    intervals(Number(select.value));
  });
  on("filter", "input", (input) => {
    set("runs", { filter: input.value }, { typing: true });
    filter(input.value);
  });
  on("baseline", "change", (select) => {
    set("runs", { baseline: select.value === "" ? "none" : select.value });
    pin(select.value);
  });
  on("pair-measure", "change", (select) => {
    set("pairs", { pairs: measures[Number(select.value)] });
    matrix(Number(select.value));
  });
  for (const id of ["one", "two", "measure"]) {
    on(id, "change", (select) => {
      set("topics", { [id]: select.selectedOptions[0].textContent, topic: data.topics[chosen("topic")] });
      topics();
    });
  }
  on("topic", "change", (select) => choose(Number(select.value)));

  // ---- downloads, all from the data in the page
  const save = (file, type, text) => {
    const link = make("a", "", { href: URL.createObjectURL(new Blob([text], { type })), download: file });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const quoted = (text) => (/[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
  on("csv", "click", () => {
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
  on("latex", "click", () => save("means.tex", "text/x-tex", data.latex + "\n"));
  on("json", "click", () => save("report.json", "application/json", JSON.stringify(data)));
  const standalone = (svg) => {
    const copy = svg.cloneNode(true);
    const own = svg.closest("figure") ? [] : [svg, ...svg.querySelectorAll("*")];
    const copies = [copy, ...copy.querySelectorAll("*")];
    own.forEach((element, at) => {
      const style = getComputedStyle(element);
      for (const key of ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "font-family", "font-size"]) {
        copies[at].style.setProperty(key, style.getPropertyValue(key));
      }
    });
    return new XMLSerializer().serializeToString(copy);
  };
  for (const button of document.querySelectorAll("button.download")) {
    button.addEventListener("click", () => {
      const svg = document.querySelector(`#figure-${button.dataset.figure} svg`);
      save(button.dataset.figure + ".svg", "image/svg+xml", standalone(svg));
    });
  }
  for (const button of document.querySelectorAll("button.chart")) {
    button.addEventListener("click", () => {
      save(button.dataset.chart + ".svg", "image/svg+xml", standalone(document.querySelector(`#${button.dataset.chart} svg`)));
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
    const keys = [...table.tHead.rows[0].cells].map((cell) => cell.dataset.key);
    const key = keys.find((each) => key_name(each) === state.get("sort"));
    if (key === undefined) sort_by("0", best_is_down("0"));
    else sort_by(key, state.get("down") !== "0");
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
    topics();
    if (state.get("section")) go(state.get("section"));
  };
  addEventListener("popstate", show);
  show();
})();
