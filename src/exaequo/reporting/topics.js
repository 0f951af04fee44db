// ---- two runs, or one alone, topic by topic
const chosen = (id) => Number($(id).value);
const gaps_of = (one, two, at) =>
  data.topics
    .map((each, topic) => ({ name: each, topic, a: one < 0 ? 0 : data.values[at][one][topic], b: data.values[at][two][topic] }))
    .filter((each) => each.a !== null && each.b !== null)
    .map((each) => ({ ...each, gap: each.b - each.a }))
    .sort((x, y) => y.gap - x.gap);
const choose = (topic) => {
  if (topic < 0) return;
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
const frame = (width, height, role, label) =>
  draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role, "aria-label": label });

const draw_bars = (gaps, one, two, at) => {
  const width = Math.max($("bars").clientWidth, 320);
  const named = (width - 80) / Math.max(gaps.length, 1) >= 12;
  const longest = Math.min(9, Math.max(0, ...gaps.map((each) => each.name.length)));
  const [left, top, bottom] = [70, 30, named ? 34 + 7 * longest : 24];
  const height = 180 + bottom;
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
  const names = [one, two].map((run) => (run < 0 ? "" : short(data.runs[run], Math.floor(width / 25))));
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

const scatter = () => {
  const [one, two, at] = [chosen("one"), chosen("two"), chosen("measure")];
  if ($("scatter").open && one >= 0) $("cloud").replaceChildren(draw_cloud(gaps_of(one, two, at), one, two, at));
  highlight();
};
const topics = () => {
  const [one, two, at] = [chosen("one"), chosen("two"), chosen("measure")];
  const gaps = gaps_of(one, two, at);
  const bars = draw_bars(gaps, one, two, at);
  listen_to_bars(bars);
  $("bars").replaceChildren(bars);
  $("scatter").hidden = one < 0;
  $("cloud").replaceChildren();
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
  scatter();
};
// the next topic in the order of the bars
const beside = (step) => {
  const order = gaps_of(chosen("one"), chosen("two"), chosen("measure")).map((each) => each.topic);
  const next = order[order.indexOf(chosen("topic")) + step];
  if (next !== undefined) choose(next);
};

// ---- two lists: what both have, in the same order, on the same lines
const alike = (one, two) => {
  const best = Array.from({ length: one.length + 1 }, () => new Array(two.length + 1).fill(0));
  for (let a = one.length - 1; a >= 0; a -= 1) {
    for (let b = two.length - 1; b >= 0; b -= 1) {
      best[a][b] = one[a] === two[b] ? best[a + 1][b + 1] + 1 : Math.max(best[a + 1][b], best[a][b + 1]);
    }
  }
  const found = [];
  for (let [a, b] = [0, 0]; a < one.length && b < two.length; ) {
    if (one[a] === two[b]) found.push([a++, b++]);
    else if (best[a + 1][b] >= best[a][b + 1]) a += 1;
    else b += 1;
  }
  return found;
};
// for each of two lists, so many empty lines before each document
const gaps_before = (one, two) => {
  const before = [new Map(), new Map()];
  let [a, b] = [0, 0];
  for (const [left, right] of alike(one, two)) {
    const more = left - a - (right - b);
    if (more > 0) before[1].set(right, more);
    if (more < 0) before[0].set(left, -more);
    [a, b] = [left + 1, right + 1];
  }
  return before;
};
const quoted_word = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'");
const steps = JSON.parse($("steps").textContent);
const explained = (run, topic, at) => {
  const text = at === 0 ? own(steps, `${run},${topic}`) : undefined;
  const folded = make("details", null, { class: "steps" });
  folded.append(make("summary", say("How {measure} {value} comes about", { measure: measures[at], value: figure(data.values[at][run][topic]) })));
  if (text !== undefined) folded.append(make("pre", text));
  const asked = ["exaequo", "explain", data.qrels, data.about.inputs[run].file, "--topic", data.topics[topic], "-m", measures[at]];
  const command = make("p", text === undefined ? say("Step by step in the shell: ") : say("The same in the shell: "));
  command.append(make("code", asked.map(quoted_word).join(" ")));
  folded.append(command);
  return folded;
};
const document_cell = (docno) => {
  const found = own(texts.documents, docno);
  const cell = make("td", found ? null : docno);
  if (!found) return cell;
  const [folded, summary] = [make("details"), make("summary", docno + " ")];
  summary.append(make("b", found[0]));
  folded.append(summary, found[1]);
  cell.append(folded);
  return cell;
};
const judgment = (grade) => {
  const enough = grade !== null && (data.level === null ? grade > 0 : grade >= data.level);
  const relevant = enough && (data.highest === null || grade <= data.highest);
  return make("td", grade === null ? say("not judged") : marked(String(grade)) + (relevant ? " ✓" : ""), relevant ? { class: "rel" } : {});
};
const list = (run, topic, at, other, before) => {
  const grid = make("table", null, { class: "list" });
  const caption = make("caption");
  const names = { run: name(data.runs[run]), topic: name(data.topics[topic]) };
  caption.append(...parts("{run}, topic {topic}", names), `: ${measures[at]} ${figure(data.values[at][run][topic])}`);
  grid.append(caption);
  head(grid, [say("rank"), say("document"), say("judgment"), say("score"), say("other list")], ["n", "", "", "n", "n"]);
  const body = grid.createTBody();
  const documents = data.lists[run][topic];
  documents.forEach(([docno, grade, tied, score], number) => {
    for (let gap = before.get(number) || 0; gap > 0; gap -= 1) {
      const row = body.insertRow();
      row.className = "gap";
      row.append(make("td", "", { colspan: "5" }));
    }
    const equal = tied || (number > 0 && documents[number - 1][2]);
    const there = other.indexOf(docno);
    const row = body.insertRow();
    row.className = [tied ? "tied" : "", equal ? "in-tie" : "", there >= 0 ? "shared" : ""].join(" ").trim();
    row.append(make("td", String(number + 1) + (equal ? " =" : ""), { class: "n" }), document_cell(docno), judgment(grade));
    row.append(make("td", marked(score), { class: "n" }), make("td", there >= 0 ? String(there + 1) : "", { class: "n" }));
  });
  if (!documents.length) body.insertRow().append(make("td", say("nothing returned"), { colspan: "5" }));
  const around = make("div", null, { class: "scroll", tabindex: "0", role: "region", "aria-label": say("List of {run}", { run: data.runs[run] }) });
  around.append(grid);
  const whole = make("div");
  whole.append(around, explained(run, topic, at));
  return whole;
};
// a text that was opened makes its line higher, in both lists
const level = () => {
  const [one, two] = [...$("lists").querySelectorAll("tbody")].map((each) => [...each.rows]);
  if (!two || matchMedia("(max-width: 45rem)").matches) return;
  for (const row of [...one, ...two]) row.style.height = "";
  const heights = one.slice(0, two.length).map((row, at) => Math.max(row.offsetHeight, two[at].offsetHeight));
  heights.forEach((height, at) => [one, two].forEach((rows_) => (rows_[at].style.height = `${height}px`)));
};
const lists = () => {
  const [topic, at] = [chosen("topic"), chosen("measure")];
  $("topic-text").replaceChildren(...(own(texts.topics, data.topics[topic]) || []).filter(Boolean).map((each) => make("p", each, { class: "text" })));
  const shown = data.depth ? [chosen("one"), chosen("two")].filter((run) => run >= 0) : [];
  const unique = shown.filter((run, place_) => shown.indexOf(run) === place_);
  const names = unique.map((run) => data.lists[run][topic].map((each) => each[0]));
  const before = unique.length === 2 ? gaps_before(...names) : [new Map()];
  $("lists").replaceChildren(...unique.map((run, side) => list(run, topic, at, names[1 - side] || [], before[side])));
  level();
};
