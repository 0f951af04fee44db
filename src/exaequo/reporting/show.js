// What people choose and save, keys, and what the address says.
// ---- what people choose
for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());
const on = (id, event, action) => $(id) && $(id).addEventListener(event, (happened) => action(happened.target));
options($("ties-measure"), measures);
options($("drawn"), measures);
for (const each of data.runs) $("baseline").append(make("option", each, { value: each }));
if ($("pair-measure")) options($("pair-measure"), measures);
for (const id of ["one", "two"]) options($(id), data.runs);
options($("measure"), measures);
const by_name = data.topics.map((each, at) => [each, at]).sort((x, y) => natural.compare(x[0], y[0]));
for (const [each, at] of by_name) $("topic").append(make("option", each, { value: String(at) }));
on("drawn", "change", (select) => {
  const down = data.measures[Number(select.value)].up;
  set("runs", { sort: measures[Number(select.value)], down: down ? "1" : "0" });
  sort_by(select.value, down);
});
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
on("before", "click", () => beside(-1));
on("after", "click", () => beside(1));
on("scatter", "toggle", scatter);
on("topic", "change", (select) => choose(Number(select.value)));

// ---- downloads, all from the data in the page
const save = (file, type, text) => {
  const link = make("a", "", { href: URL.createObjectURL(new Blob([text], { type })), download: file });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
// What a spreadsheet would compute is marked as text with an apostrophe; JSON has the names as they are.
const computed = (text) => /^'*(?:[=+\-@＝＋－＠].|[\t\r\n])/s.test(text) && !/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text);
const quoted = (text) => {
  const marked = computed(text) ? "'" + text : text;
  return /[",;\n\r]/.test(marked) ? '"' + marked.replaceAll('"', '""') + '"' : marked;
};
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
on("budget-csv", "click", () => {
  const rows = data.budget.runs;
  const names = Object.keys(rows[0]);
  const lines = rows.map((row) => names.map((each) => quoted(String(row[each] ?? ""))).join(","));
  save("budget.csv", "text/csv", [names.join(","), ...lines].join("\n") + "\n");
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

// ---- keys
addEventListener("keydown", (event) => {
  const inside = event.target.closest && event.target.closest("input, select, textarea, svg, .scroll");
  if (inside || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    go("runs");
    $("filter").focus();
  } else if (event.key === "?") $("keys").togglePopover();
  else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    beside(event.key === "ArrowLeft" ? -1 : 1);
    $("topic-text").scrollIntoView({ block: "nearest" });
  } else return;
  event.preventDefault();
});

// ---- tables; what is folded is ready for paper
const narrow = document.documentElement.clientWidth < 720;
const beyond = heads.map((cell, at) => at).filter((at) => at >= first + 6 && /^\d+$/.test(heads[at].dataset.key));
const less = heads.map((cell, at) => at).filter((at) => heads[at].classList.contains("more") || at > first);
const pick_columns = columns(table, narrow ? less : beyond.concat(["interval", "open", "tied"].map(column_of)));
$("shown").before(pick_columns);
if (all) table.closest(".scroll").after(all);
document.querySelectorAll("table.data:not(#scores)").forEach((each) => {
  if (!each.closest("#intervals")) enhance(each);
});
const folded = new Set();
const unfold = () => {
  for (const each of document.querySelectorAll("details:not([open])")) {
    folded.add(each);
    each.open = true;
  }
};
const fold = () => {
  for (const each of folded) each.open = false;
  folded.clear();
};
matchMedia("print").addEventListener("change", (event) => (event.matches ? unfold() : fold()));
if (matchMedia("print").matches) unfold();
// where a table fits, its heads stay in view while the page scrolls
const fit = () => {
  const boxes = [...document.querySelectorAll(".scroll")];
  for (const each of boxes) each.classList.remove("fits");
  const found = boxes.map((each) => each.scrollWidth <= each.clientWidth);
  boxes.forEach((each, at) => each.classList.toggle("fits", found[at]));
};
document.addEventListener("toggle", (event) => (event.target.closest("#lists td") ? level() : fit()), true);
document.addEventListener("change", fit);
let waiting = 0;
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => {
    topics();
    fit();
  });
});

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
  const key = heads.map((cell) => cell.dataset.key).find((each) => key_name(each) === state.get("sort"));
  if (key === undefined || key === "drawn") sort_by("0", data.measures[0].up);
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
  fit();
  if (state.get("section")) go(state.get("section"));
};
addEventListener("popstate", show);
show();
