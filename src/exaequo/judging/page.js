"use strict";
// Texts of documents and names are put in place as text, never as markup. A document goes only when the server has
// said that its decision is kept.
const find = (id) => document.getElementById(id);
const words = JSON.parse(find("words").textContent);
const { view, name } = document.body.dataset;

function say(english, values = {}) {
  const text = words.said[english] ?? english;
  return text.replace(/\{(\w+)\}/g, (all, key) => values[key] ?? all);
}
const written = (value, digits) => (value === null || value === undefined ? "–" : value.toFixed(digits).replace(".", words.decimal));

function make(tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

async function ask(path, content) {
  const asked = content === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ as: name, ...content }) };
  let answer;
  try {
    answer = await fetch(path, { ...asked, redirect: "error" });
  } catch {
    throw new Error(say("The server does not answer; nothing was kept. Start it again and open its new link."));
  }
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(say("Not kept: {why}", { why: found.error ?? answer.status }));
  return found;
}

function tell(text, problem = "") {
  if (find("said")) find("said").textContent = text;
  find("problem").textContent = problem;
}

// ------------------------------------------------------------------------------------------------------------- judging

const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

// The same word, or one of its forms: a long beginning and a short ending.
const stem = (word) => (word.length > 4 ? word.replace(/e?[sx]$/, "") : word);

function matcher(query) {
  const known = query.map(folded).map((word) => [word, stem(word)]);
  const seen = new Map();
  return (token) => {
    let found = seen.get(token);
    if (found === undefined) {
      const plain = folded(token);
      found = known.some(([word, begins]) => plain === word || (begins.length > 3 && plain.startsWith(begins) && plain.length < begins.length + 5));
      seen.set(token, found);
    }
    return found;
  };
}

// A document of any length is shown at once: in pieces, of which the browser lays out those in sight.
const PIECE = 5000;
const MARKS = 2000;

function pieces(text) {
  const found = [];
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + PIECE, text.length);
    if (to < text.length) {
      const end = Math.max(text.lastIndexOf("\n", to), text.lastIndexOf(" ", to));
      if (end > from) to = end + 1;
      else if (/[\uD800-\uDBFF]/.test(text[to - 1])) to += 1;
    }
    found.push(text.slice(from, to).replace(/\n$/, ""));
    from = to;
  }
  return found;
}

function marked(text, matches, left) {
  const parts = [];
  let from = 0;
  for (const { 0: token, index } of text.matchAll(/[\p{L}\p{N}\p{M}_]+/gu)) {
    if (left.marks < 1) break;
    if (!matches(token)) continue;
    parts.push(text.slice(from, index), make("mark", token));
    from = index + token.length;
    left.marks -= 1;
  }
  return [...parts, text.slice(from)];
}

function shown(text, matches) {
  const left = { marks: MARKS };
  return pieces(text).map((piece) => {
    const block = make("div", "", { dir: "auto" });
    block.append(...marked(piece, matches, left));
    return block;
  });
}

let item = null;
let busy = false;
let seconds = 0;
let since = null;
const spent = new Map();
const key = ({ topic, document: doc }) => `${topic.qid} ${doc.docno}`;

// Time counts while the page is seen, and goes on when a document is seen again.
function clock(running) {
  if (since !== null) seconds += (performance.now() - since) / 1000;
  since = running ? performance.now() : null;
}

function show(next) {
  const { topic, document: doc } = next;
  clock(document.visibilityState === "visible");
  if (item) spent.set(key(item), seconds);
  item = next;
  seconds = spent.get(key(item)) ?? 0;
  document.title = `${topic.title} · ${next.done} / ${next.of}`;
  find("bar").value = next.done / next.of;
  find("count").textContent = `${next.done} / ${next.of}`;
  find("pace").textContent = next.pace === null ? "" : say("{n} s each", { n: written(next.pace, 1) });
  find("qid").textContent = topic.qid;
  find("topic").textContent = topic.title;
  find("description").textContent = topic.description;
  find("narrative").textContent = topic.narrative;
  find("more").hidden = !topic.narrative;
  find("docno").textContent = doc.docno;
  find("place").textContent = `(${next.at + 1} / ${next.of})`;
  const matches = matcher(next.words);
  find("title").replaceChildren(...marked(doc.title || say("(without a title)"), matches, { marks: MARKS }));
  find("text").replaceChildren(...shown(doc.text, matches));
  find("note").value = next.note;
  noting(Boolean(next.note));
  for (const button of document.querySelectorAll("[data-grade]")) button.setAttribute("aria-pressed", String(Number(button.dataset.grade) === next.grade));
  find("title").focus({ preventScroll: true });
  scrollTo(0, 0);
}

function noting(open) {
  find("noting").hidden = !open;
  find("notes").setAttribute("aria-expanded", String(open));
}

async function once(work) {
  if (busy) return;
  busy = true;
  try {
    await work();
  } catch (error) {
    tell("", error.message);
  }
  busy = false;
}

function decide(decision, text) {
  return once(async () => {
    clock(true);
    const { topic, document: doc } = item;
    const note = find("note").value === item.note ? {} : { note: find("note").value };
    const next = await ask("/decide", { qid: topic.qid, docno: doc.docno, seconds: Math.min(Math.round(seconds * 10) / 10, 86400), ...note, ...decision });
    seconds = 0;
    show(next);
    tell(next.done === next.of ? say("All documents are judged. Thank you.") : text);
  });
}

const graded = (grade) => decide({ grade }, say("Kept: {grade} for {docno}", { grade, docno: item.document.docno }));
const skipped = () => (item.grade === null ? decide({ skip: true }, say("Skipped: {docno}", { docno: item.document.docno })) : go(1));
const undone = () => once(async () => { show(await ask("/undo", {})); tell(say("Undone: {docno}", { docno: item.document.docno })); });

function go(step) {
  const at = item.at + step;
  if (at < 0 || at >= item.of) return undefined;
  return once(async () => { show(await ask(`/item?as=${encodeURIComponent(name)}&at=${at}`)); tell(""); });
}

async function keepNote() {
  if (find("note").value !== item.note) await decide({ note: find("note").value }, say("Note kept"));
  noting(Boolean(find("note").value));
  find("title").focus({ preventScroll: true });
}

function write() {
  noting(true);
  find("note").focus();
}

const KEYS = { u: undone, s: skipped, n: write, "?": () => find("keys").showModal(), ArrowLeft: () => go(-1), ArrowRight: () => go(1) };

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || find("keys").open) return;
  if (event.target === find("note")) {
    if (event.key === "Escape") keepNote();
    return;
  }
  if (!item || event.target.matches("input, textarea") || !find("single").checked) return;
  const grade = words.grades.find((each) => String(each) === event.key);
  const work = grade === undefined ? KEYS[event.key] : () => graded(grade);
  if (!work) return;
  event.preventDefault();
  work();
}

function judging() {
  document.addEventListener("keydown", pressed);
  document.addEventListener("visibilitychange", () => clock(document.visibilityState === "visible"));
  for (const button of document.querySelectorAll("[data-grade]")) button.addEventListener("click", () => item && graded(Number(button.dataset.grade)));
  const clicks = { back: () => go(-1), next: () => go(1), skip: skipped, undo: undone, notes: write, keep: keepNote, help: () => find("keys").showModal() };
  for (const [id, work] of Object.entries(clicks)) find(id).addEventListener("click", () => item && work());
  const at = new URLSearchParams(location.search).get("at");
  once(async () => show(await ask(`/item?as=${encodeURIComponent(name)}${at === null ? "" : `&at=${encodeURIComponent(at)}`}`)));
}

// ----------------------------------------------------------------------------------------------------------- agreement

function row(cells, numbers) {
  const line = make("tr");
  cells.forEach((cell, at) => line.append(make("td", String(cell), numbers.includes(at) ? { class: "n" } : {})));
  return line;
}

function settling(each) {
  const line = make("div", "", { class: "settle", role: "group", "aria-label": say("Settle {docno}", { docno: each.docno }) });
  for (const grade of words.grades) {
    const chosen = each.settled?.grade === grade;
    const button = make("button", grade, { "aria-pressed": chosen, "data-settle": grade });
    button.addEventListener("click", () => once(async () => {
      await ask("/settle", { qid: each.qid, docno: each.docno, grade: chosen ? null : grade });
      await refresh();
      find("open").querySelector(`[data-key="${CSS.escape(`${each.qid} ${each.docno}`)}"] [data-settle="${grade}"]`)?.focus();
    }));
    line.append(button);
  }
  if (each.settled) line.append(make("span", say("settled by {name}", { name: each.settled.by }), { class: "quiet" }));
  return line;
}

function disagreement(each) {
  const line = make("li", "", { "data-key": `${each.qid} ${each.docno}` });
  const head = make("p", `${say("Topic")} ${each.qid} · `);
  head.append(each.at === null ? make("b", each.docno) : make("a", each.docno, { href: `/judge?as=${encodeURIComponent(name)}&at=${each.at}` }));
  line.append(head);
  for (const { assessor, grade, note } of each.grades) {
    const said = make("p");
    said.append(make("bdi", assessor), ": ", make("b", grade), note ? ` – ${note}` : "");
    line.append(said);
  }
  line.append(settling(each));
  return line;
}

let last = "";

async function refresh() {
  const found = await ask(`/agreed?as=${encodeURIComponent(name)}`);
  const text = JSON.stringify(found);
  if (text === last) return;
  last = text;
  const own = found.work.find((each) => each.assessor === name);
  find("bar").value = (own?.judged ?? 0) / found.of;
  find("count").textContent = `${own?.judged ?? 0} / ${found.of}`;
  const kinds = { person: say("person"), program: say("program") };
  find("work").tBodies[0].replaceChildren(...found.work.map((each) => row([each.assessor, kinds[each.kind], each.judged, each.skipped, written(each.seconds, 1)], [2, 3, 4])));
  const figures = "kappa_grades kappa_linear alpha_nominal alpha_ordinal".split(" ");
  find("pairs").tBodies[0].replaceChildren(...found.agreement.map((each) => row([each.one === "all" ? say("all") : each.one, each.two === "all" ? say("all") : each.two, each.documents, written(each.same_percent, 1), ...figures.map((figure) => written(each[figure], 3))], [2, 3, 4, 5, 6, 7])));
  find("open").replaceChildren(...found.disagreements.map(disagreement));
  const lines = [];
  if (!found.disagreements.length) lines.push(say("There are none."));
  if (found.hidden) lines.push(say("On documents you have not judged: {n}; they are shown when you have.", { n: found.hidden }));
  if (found.more) lines.push(say("Not shown: {n} more.", { n: found.more }));
  find("hidden").textContent = lines.join(" ");
  find("problem").textContent = "";
}

function agreeing() {
  once(refresh);
  setInterval(() => document.visibilityState === "visible" && once(refresh), 3000);
}

({ judge: judging, agreement: agreeing })[view]();
