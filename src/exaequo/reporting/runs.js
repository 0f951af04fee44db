// The table of runs, which is a picture too; ties; pairs.
const table = $("scores");
const rows = [...table.tBodies[0].rows];
const number_of = new Map(data.runs.map((each, at) => [each, at]));
const heads = [...table.tHead.rows[0].cells];
const column_of = (key) => heads.findIndex((cell) => cell.dataset.key === key);
const first = column_of("0");
const systems = new Map(data.systems.map((each) => [each.measure + "\n" + each.run, each]));
const key_name = (key) => (/^\d+$/.test(key) ? measures[Number(key)] : key);
let drawn = 0;

// ---- the picture: mean with its interval, and behind it what ties leave open
const percent = (value, ticks_) => `${Math.min(Math.max((100 * (value - ticks_[0])) / (ticks_.at(-1) - ticks_[0]), 0), 100)}%`;
const upright = (kind, x, top, bottom) => draw("line", { class: kind, x1: x, x2: x, y1: top, y2: bottom });
const span = (low, high) => `${figure(low)} – ${figure(high)}`;
const picture = (run, at, base) => {
  const ticks_ = data.scales[at];
  const found = systems.get(measures[at] + "\n" + data.runs[run]);
  const x = (value) => percent(value === null ? found.mean : value, ticks_);
  const [least, most] = data.open[at].map((ends) => ends[run]);
  const svg = draw("svg", { width: "100%", height: 20, "aria-hidden": "true" });
  svg.append(...ticks_.map((each) => upright("axis", x(each), 0, 20)));
  svg.append(draw("rect", { class: "open", x: x(least), width: `${parseFloat(x(most)) - parseFloat(x(least))}%`, y: 4, height: 12 }));
  if (base !== undefined) svg.append(upright("base", x(data.means[strategies[0]][at][base]), 0, 20));
  svg.append(draw("line", { class: "sure", x1: x(found.low), x2: x(found.high), y1: 10, y2: 10 }));
  svg.append(upright("sure", x(found.low), 6, 14), upright("sure", x(found.high), 6, 14));
  svg.append(draw("circle", { class: "mean", cx: x(found.mean), cy: 10, r: 4.5 }));
  svg.append(draw("title", {}, say("{mean}, interval {sure}, ties leave open {open}", { mean: figure(found.mean), sure: span(found.low, found.high), open: span(least, most) })));
  return svg;
};
const draw_runs = (at, base) => {
  drawn = at;
  $("drawn").value = String(at);
  const axis = heads[column_of("drawn")].querySelector(".axis");
  axis.replaceChildren(...data.scales[at].map((each) => {
    const tick_ = make("i", tick(each));
    tick_.style.left = percent(each, data.scales[at]);
    return tick_;
  }));
  const [interval, open] = [column_of("interval"), column_of("open")];
  for (const row of rows) {
    const run = number_of.get(row.dataset.run);
    const found = systems.get(measures[at] + "\n" + row.dataset.run);
    row.cells[0].textContent = found.rank;
    row.cells[column_of("drawn")].replaceChildren(picture(run, at, base));
    row.cells[interval].textContent = span(found.low, found.high);
    const [least, most] = data.open[at].map((ends) => figure(ends[run]));
    measures.forEach((_, other) => row.cells[first + other].classList.toggle("full", other === at));
    row.cells[open].textContent = least === most ? "–" : `${least} – ${most}`;
  }
};

// ---- sorting: by a measure is also ranking and drawing by it
const order_by = (key, down) => {
  const at = /^\d+$/.test(key) ? Number(key) : key === "rank" ? drawn : undefined;
  const by = {
    run: (row) => row.dataset.run,
    interval: (row) => systems.get(measures[drawn] + "\n" + row.dataset.run).low,
    open: (row) => data.open[drawn][1][number_of.get(row.dataset.run)] - data.open[drawn][0][number_of.get(row.dataset.run)],
    tied: (row) => data.tied[number_of.get(row.dataset.run)],
    rank: (row) => Number(row.cells[0].textContent),
  };
  const value = by[key] || ((row) => Number(row.cells[first + at].dataset.value));
  const place_ = new Map(data.ranked.map((run, rank) => [data.runs[run], rank]));
  rows.sort((a, b) => (down ? -1 : 1) * compare(value(a), value(b)) || place_.get(a.dataset.run) - place_.get(b.dataset.run));
  table.tBodies[0].append(...rows);
};
const sort_by = (key, down) => {
  mark_sorted(table, column_of(key), down);
  if (/^\d+$/.test(key) && Number(key) !== drawn) draw_runs(Number(key), number_of.get($("baseline").value));
  order_by(key, down);
};
sortable(table, (column, down, key) => {
  set("runs", { sort: key_name(key), down: down ? "1" : "0" });
  sort_by(key, down);
});

// ---- filter: all words of one of the parts between commas
const all = cut(table)[0];
const filter = (text) => {
  const wanted = text.toLowerCase().split(",").map((part) => part.split(/\s+/).filter(Boolean)).filter((part) => part.length);
  let count = 0;
  for (const row of rows) {
    const run = row.dataset.run.toLowerCase();
    row.hidden = wanted.length > 0 && !wanted.some((part) => part.every((each) => run.includes(each)));
    count += row.hidden ? 0 : 1;
  }
  table.classList.toggle("found", wanted.length > 0);
  $("shown").textContent = say("{some} of {all} runs", { some: count, all: rows.length });
};

// ---- pinning
const pin = (pinned) => {
  const base = number_of.get(pinned);
  const means = data.means[strategies[0]];
  table.classList.toggle("repinned", base !== undefined && pinned !== data.baseline);
  for (const row of rows) {
    row.classList.toggle("pinned", row.dataset.run === pinned);
    measures.forEach((_, at) => {
      const cell = row.cells[first + at].querySelector(".against");
      cell.replaceChildren();
      if (base === undefined || row.dataset.run === pinned) return;
      const run = number_of.get(row.dataset.run);
      const found = against(at, base, run);
      const word = verdict(found);
      const sure = found ? `, ${between(found)}, ${p_text(found.p)}` : "";
      const difference = make("span", signed(means[at][run] - means[at][base]), word ? { class: word } : {});
      difference.append(make("span", sure, { class: "sure" }), mark[word]);
      difference.title = difference.textContent;
      cell.append(difference);
    });
  }
  draw_runs(drawn, base);
  const untested = base !== undefined && data.baseline !== "" && data.baseline !== pinned;
  $("pinned").textContent = untested ? say("Differences from {run} have no p: the tests were made against {baseline}.", { run: pinned, baseline: data.baseline }) : "";
};

// ---- ties, the widest span first
const intervals = (at) => {
  const grid = make("table", null, { class: "data" });
  grid.append(make("caption", measures[at]));
  head(grid, [say("run"), say("tied %"), ...strategies.map((ties) => say(ties)), say("span")]);
  const body = grid.createTBody();
  const wide = (run) => Math.abs(data.means.optimistic[at][run] - data.means.realistic[at][run]);
  for (const run of data.ranked.slice().sort((a, b) => wide(b) - wide(a))) {
    const row = body.insertRow();
    row.append(row_head(data.runs[run]), make("td", marked(data.tied[run].toFixed(1)), { class: "n" }));
    for (const ties of strategies) row.append(make("td", figure(data.means[ties][at][run]), { class: "n" }));
    row.append(make("td", figure(wide(run)), { class: "n" }));
  }
  $("intervals").replaceChildren(grid);
  enhance(grid);
};

// ---- the matrix of pairs; of many runs it has signs
const matrix = (at) => {
  const grid = make("table");
  grid.append(make("caption", measures[at]));
  head(grid, [say("run"), ...data.ranked.map((run) => data.runs[run])]);
  for (const cell of grid.tHead.rows[0].cells) cell.replaceChildren(make("span", cell.textContent));
  const body = grid.createTBody();
  for (const run of data.ranked) {
    const row = body.insertRow();
    row.append(row_head(data.runs[run]));
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

