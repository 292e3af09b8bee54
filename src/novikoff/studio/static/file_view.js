// The view of a file: columns, rows that cannot be read, the verdict with its rows, and learning with a moving ledger.

import { drawChart } from "./chart.js";
import { button, byId, count, h, num, plural, replace } from "./dom.js";
import { getJson, postJson, upload } from "./server.js";

const RULE_NAMES = ["auto", "perceptron", "passive-aggressive-I", "margin", "arow", "adagrad", "coin"];
const LINE_CLASSES = ["norm", "progress", "upper", "lower", "other"];
const file = { id: null, name: "", files: [], about: null, options: { target: null, types: {}, drop: [] }, rule: "auto", passes: 1, job: null, runs: [], verdict: null, learned: null, cell: null, error: "", isBusy: false };
let host = null;

export async function showFileView(element) {
  host = element;
  const { is_open, files, target } = await getJson("api/files");
  if (!is_open) return replace(host, h("section", { class: "card" }, h("h2", {}, "A file of yours"), h("p", { class: "hint" }, "To open files here, open the address that the command printed: it has the token that files need.")));
  file.files = files;
  if (!files.length) return drawFile();
  await openFile(files[0], target);
  host.scrollIntoView();
}

async function openFile({ id, name }, target = null) {
  Object.assign(file, { id, name, about: null, options: { target, types: {}, drop: [] }, job: null, runs: [], verdict: null, learned: null, cell: null, error: "" });
  await describe();
}

// Does something that asks the server; its error is shown.
async function attempt(act) {
  file.error = "";
  file.isBusy = true;
  drawFile();
  try {
    await act();
  } catch (error) {
    file.error = error.message;
  }
  file.isBusy = false;
  drawFile();
}

const describe = () => attempt(async () => {
  file.about = await postJson(`api/files/${file.id}/columns`, file.options);
});

const receive = (given) => attempt(async () => {
  const opened = await upload(given);
  file.files.push(opened);
  await openFile(opened);
});

const startJob = (kind) => attempt(async () => {
  await postJson(`api/files/${file.id}/${kind}`, { options: file.options, rule: file.rule, passes: file.passes });
  file.job = { kind, state: "running", progress: {} };
  poll(file.id);
});

async function poll(id) {
  if (id !== file.id) return;
  try {
    file.job = await getJson(`api/files/${id}/run`);
  } catch (error) {
    file.error = error.message;
    return drawFile();
  }
  const { kind, state, result, error } = file.job;
  if (state !== "running") {
    file.error = error;
    if (result && kind === "learn") {
      file.learned = result;
      file.cell = null;
      file.runs = [...file.runs.filter((run) => run.rule !== result.rule || run.passes !== result.passes), result];
    }
    if (result && kind === "certify") file.verdict = result;
    byId("live").textContent = error || (kind === "learn" && result ? `${state === "cancelled" ? "Cancelled" : "Done"}: ${result.mistakes} mistakes on ${result.examples} examples.` : result ? "The verdict is there." : "Cancelled.");
  }
  drawFile();
  if (state === "running") setTimeout(poll, 250, id);
}

function drawFile() {
  const running = file.job?.state === "running";
  const parts = [h("h2", {}, "A file of yours"), drawDrop()];
  if (file.error) parts.push(h("p", { class: "error", role: "alert", id: "file-error" }, file.error));
  if (file.isBusy) parts.push(h("p", { class: "hint", role: "status" }, "Reading …"));
  if (file.about) parts.push(drawColumns(file.about), drawActions(running));
  if (running) parts.push(drawProgress());
  if (file.runs.length && !running) parts.push(drawRuns());
  if (file.learned && !running) parts.push(...drawLearned(file.learned));
  if (file.verdict) parts.push(...drawFileVerdict(file.verdict));
  replace(host, h("section", { class: "card", "aria-label": "A file of yours" }, parts));
  if (file.verdict?.plane) drawCloud(host.querySelector("#file-plane"), file.verdict.plane);
}

function drawDrop() {
  const input = h("input", { type: "file", id: "file-input", "data-key": "file-input", onchange: (event) => event.target.files[0] && receive(event.target.files[0]) });
  const zone = h("div", { class: "drop" }, h("label", { for: "file-input" }, "Drop a file here, or choose one: CSV, TSV, Parquet, JSON lines, Excel, svmlight. It stays on this machine. "), input);
  zone.addEventListener("dragover", (event) => event.preventDefault());
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0]) receive(event.dataTransfer.files[0]);
  });
  const known = file.files.length > 1 ? h("label", {}, "File ", h("select", { "data-key": "which-file", onchange: (event) => openFile(file.files[event.target.value]) }, file.files.map(({ id, name }, i) => h("option", { value: i, selected: id === file.id }, name)))) : null;
  return h("div", {}, zone, known, file.name ? h("p", { class: "brand", id: "file-name" }, file.name) : null);
}

const table = (head, rows, attributes = {}) => h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": attributes.label }, h("table", { id: attributes.id }, h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => (cell instanceof Node && cell.tagName === "TD" ? cell : h("td", {}, cell))))))));

function drawColumns(about) {
  const change = (changes) => {
    Object.assign(file.options, changes);
    file.verdict = null;
    describe();
  };
  const setKind = (name, kind) => {
    const types = { ...file.options.types };
    const drop = file.options.drop.filter((other) => other !== name);
    delete types[name];
    if (kind === "left out") drop.push(name);
    else types[name] = kind;
    change({ types, drop });
  };
  const names = about.columns.map(({ name }) => name);
  const labels = about.labels.slice(0, 12).map(({ label, rows }) => `${label} (${count(rows)})`).join(", ");
  const target = about.target === null ? null : h("label", {}, "Labels are in ", h("select", { "data-key": "target", id: "target", onchange: (event) => change({ target: event.target.value }) }, [about.target, ...names].map((name) => h("option", { value: name, selected: name === about.target }, name))), about.target_reason ? h("span", { class: "hint" }, ` ${about.target_reason}`) : null);
  const kinds = about.columns.slice(0, 200).map(({ name, kind }) => [name, h("select", { "aria-label": `Kind of ${name}`, "data-key": `kind-${name}`, onchange: (event) => setKind(name, event.target.value) }, ["number", "word", "text", "left out"].map((each) => h("option", { value: each, selected: each === kind }, each))), ...(about.preview ? about.preview.rows.map((row) => row[about.preview.names.indexOf(name)] ?? "") : [])]);
  const lines = about.preview ? about.preview.lines.map((line) => `line ${line}`) : [];
  return h("div", {},
    h("p", { class: "line" }, target, ` ${about.is_whole ? "" : "In the first "}${plural(about.rows, "row")}: ${labels}${about.n_labels > 12 ? ", …" : ""}`),
    about.notes.map((note) => h("p", { class: "hint" }, note)),
    about.columns.length ? h("details", { open: about.columns.length <= 12 }, h("summary", { "data-key": "columns" }, `${plural(about.columns.length, "column")}, as they are read`), table(["column", "kind", ...lines], kinds, { id: "columns-table", label: "Columns" })) : null,
    drawRejects(about));
}

function drawRejects({ rejects, n_rejects }) {
  if (!n_rejects) return null;
  return h("details", { open: true }, h("summary", { "data-key": "rejects" }, `${plural(n_rejects, "row")} cannot be read, and ${n_rejects === 1 ? "is" : "are"} left out`), table(["line", "why"], rejects.map(({ line, reason }) => [String(line), reason]), { id: "rejects-table", label: "Rows that cannot be read" }));
}

function drawActions(running) {
  return h("p", { class: "buttons" },
    button("Is it separable?", () => startJob("certify"), { class: "primary", id: "certify", disabled: running, "data-key": "certify" }),
    h("label", {}, "Rule ", h("select", { "data-key": "file-rule", id: "file-rule", onchange: (event) => (file.rule = event.target.value) }, RULE_NAMES.map((name) => h("option", { value: name, selected: name === file.rule }, name)))),
    h("label", {}, "Passes ", h("input", { type: "number", min: 1, max: 100, value: file.passes, id: "file-passes", "data-key": "passes", onchange: (event) => (file.passes = Number(event.target.value)) })),
    button("Learn", () => startJob("learn"), { class: "primary", id: "learn", disabled: running, "data-key": "learn" }),
    running ? button("Cancel", () => postJson(`api/files/${file.id}/cancel`, {}), { id: "cancel", "data-key": "cancel" }) : null);
}

function drawProgress() {
  const { kind, progress } = file.job;
  if (kind === "certify") {
    const fewest = progress.fewest ? ` The best line errs on ${progress.fewest[0]} to ${progress.fewest[1]} rows so far.` : "";
    return h("p", { class: "line", id: "progress" }, `${progress.stage ?? "Starting"} …${fewest}`);
  }
  const points = progress.points ?? [];
  const words = points.length ? `${plural(points.at(-1)[0], "example")}, ${plural(points.at(-1)[1], "mistake")} …` : "Reading, and on the first run compiling the learner, which takes up to a minute …";
  return h("div", {}, h("p", { class: "line", id: "progress" }, words), points.length > 1 ? drawRunChart([...file.runs, { rule: file.rule, passes: file.passes, points }]) : null);
}

const drawRuns = () => h("div", {}, h("h3", {}, "Mistakes against examples"), drawRunChart(file.runs));

function drawRunChart(runs) {
  const shown = runs.slice(-LINE_CLASSES.length);
  return drawChart({
    title: "Mistakes against examples, for each run",
    x: { name: "examples", min: 0, max: Math.max(...shown.map(({ points }) => points.at(-1)[0])) },
    y: { name: "mistakes", min: 0, max: 1.08 * Math.max(1, ...shown.map(({ points }) => points.at(-1)[1])) },
    lines: shown.map(({ rule, passes, points }, i) => ({ name: passes > 1 ? `${rule} ×${passes}` : rule, class: LINE_CLASSES[i], points: [[0, 0], ...points.map(([t, k]) => [t, k])] })),
  });
}

function drawLearned(learned) {
  const facts = [["mistakes", count(learned.mistakes)], ["examples", count(learned.examples)], ["share", `${num((100 * learned.mistakes) / learned.examples, 3)} %`], ["margin at most", num(learned.margin_at_most)]];
  if (learned.vote_bound) facts.push(["bound of the vote", num(learned.vote_bound)], ["best of pool", learned.best_candidate]);
  return [
    h("dl", { class: "facts", id: "learned" }, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    drawRejects(learned),
    drawConfusion(learned.confusion),
    h("h3", {}, "Heaviest features"),
    h("div", { class: "pair" }, learned.heaviest.slice(0, 6).map(({ label, features }) => h("div", {}, h("p", { class: "hint" }, `for ${label}`), table(["feature", "weight"], features.map(([name, weight]) => [name, num(weight)]), { label: `Heaviest features for ${label}` })))),
    h("h3", {}, "The same in Python, and on the command line"),
    h("pre", { tabindex: 0, id: "file-python" }, h("code", {}, learned.python)),
    h("pre", { tabindex: 0, id: "file-command" }, h("code", {}, learned.command)),
    h("p", {}, h("a", { href: `api/files/${file.id}/model`, download: true, id: "model" }, "Download the model")),
  ];
}

function drawConfusion({ labels, cells, rows, is_whole }) {
  if (labels.length > 30) return h("p", { class: "hint" }, `${labels.length} labels are too many for a table of confusions.`);
  const cellOf = (label, prediction) => cells.find((cell) => cell.label === label && cell.prediction === prediction);
  const body = labels.map((label) => [`is ${label}`, ...labels.map((prediction) => {
    const cell = cellOf(label, prediction);
    if (!cell) return "0";
    return h("button", { type: "button", class: label === prediction ? "right" : "wrong", "aria-label": `${cell.rows} rows with label ${label}, predicted ${prediction}`, "data-key": `cell-${label}-${prediction}`, onclick: () => {
      file.cell = cell;
      drawFile();
    } }, count(cell.rows));
  })]);
  const lines = file.cell ? h("p", { class: "line", id: "cell-lines" }, `${plural(file.cell.rows, "row")} with label ${file.cell.label}, predicted ${file.cell.prediction}: lines ${file.cell.lines.join(", ")}${file.cell.rows > file.cell.lines.length ? ", …" : ""}`) : null;
  return h("div", {}, h("h3", {}, `Predictions of the learned model${is_whole ? "" : `, first ${count(rows)} rows`}`), table(["", ...labels.map((label) => `as ${label}`)], body, { id: "confusion", label: "Confusion matrix" }), lines);
}

function drawFileVerdict(verdict) {
  const parts = [h("h3", {}, `Verdict: ${plural(verdict.rows, "row")}, ${plural(verdict.columns, "column")} of numbers, labels ${verdict.target ?? ""}`), verdict.notes.map((note) => h("p", { class: "hint" }, note))];
  if (verdict.verdicts.length > 1) {
    parts.push(table(["question", "verdict", "margin or rows"], verdict.verdicts.map((each) => [`${each.positive} against ${each.negative}`, each.separable ? "SEPARABLE" : "NOT SEPARABLE", each.separable ? `γ = ${num(each.margin)}` : `${plural(each.n_rows, "row")} prove it`]), { id: "file-verdicts", label: "Verdicts" }));
  } else {
    const [only] = verdict.verdicts;
    parts.push(h("p", { class: `word ${only.separable ? "yes" : "no"}`, id: "file-verdict-word" }, only.separable ? "SEPARABLE" : "NOT SEPARABLE"));
    if (only.separable) parts.push(h("p", {}, `Margin γ = ${num(only.margin)}, R = ${num(only.radius)}: a perceptron makes at most ${only.bound === null ? "a finite number of" : num(only.bound, 6)} mistakes. Nearest rows: ${only.support.map(({ line }) => `line ${line}`).join(", ")}.`));
  }
  const worst = verdict.verdicts.find((each) => !each.separable);
  if (worst) parts.push(...drawClash(worst));
  if (verdict.fewest) {
    const { lower, upper, wrong } = verdict.fewest;
    parts.push(h("p", { id: "fewest" }, lower === upper ? `The best line errs on exactly ${plural(upper, "row")}: this is proved.` : `The best line errs on at least ${count(lower)} and at most ${count(upper)} rows.`, ` Such as ${wrong.map(({ line }) => `line ${line}`).join(", ")}${upper > wrong.length ? ", …" : ""}.`));
  }
  if (verdict.plane) parts.push(h("figure", {}, h("figcaption", {}, `Across: distance from the boundary of the best half-space found. Up: ${verdict.plane.axes[1].includes("variance") ? "direction of the largest remaining variance" : verdict.plane.axes[1] || "nothing"}. ${verdict.plane.points.length < verdict.plane.n_rows ? `${count(verdict.plane.points.length)} of ${count(verdict.plane.n_rows)} rows.` : ""}`), h("canvas", { id: "file-plane", width: 1040, height: 560, role: "img", "aria-label": "Rows projected on the best direction and on that of the largest remaining variance" })));
  parts.push(h("p", { class: "check holds" }, "✓ Each proof was checked in Python by independent code, in exact arithmetic."));
  return parts;
}

function drawClash({ positive, negative, clash, identical, n_rows }) {
  const parts = [];
  if (identical.length) parts.push(h("p", { id: "identical" }, `Identical rows with opposite labels: ${identical.map(([one, other]) => `line ${one.line} (${one.label}) and line ${other.line} (${other.label})`).join("; ")}.`));
  const differs = (at) => new Set(clash.rows.map((row) => row.cells[at])).size > 1;
  parts.push(h("p", {}, `${plural(n_rows, "row")} that no line gets all right (${positive} against ${negative}); ${clash.n_differing ? `cells that differ are marked; ${clash.n_same} other columns are alike` : "they are alike in all columns"}.`),
    table(["line", "label", "λ", ...clash.columns], clash.rows.map((row) => [String(row.line), row.label, row.multiplier.length > 9 ? `${row.multiplier[0]}.${row.multiplier.slice(1, 4)}e${row.multiplier.length - 1}` : row.multiplier, ...row.cells.map((cell, at) => h("td", { class: differs(at) ? "differs" : null }, cell))]), { id: "clash", label: "Rows that clash" }));
  return parts;
}

function drawCloud(canvas, { points, normal, offset }) {
  const pen = canvas.getContext("2d");
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const ranges = [0, 1].map((axis) => points.map((p) => p[axis]).concat(0)).map((values) => [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))]);
  const at = (value, axis, size) => 24 + ((value - ranges[axis][0]) / (ranges[axis][1] - ranges[axis][0] || 1)) * (size - 48);
  pen.fillStyle = color("--card");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.strokeStyle = color("--ink");
  pen.lineWidth = 3;
  pen.beginPath();
  const yOf = (x) => (Math.abs(normal[1]) > 1e-12 ? -(normal[0] * x + offset) / normal[1] : null);
  if (yOf(0) === null) [ranges[1][0], ranges[1][1]].forEach((y, i) => pen[i ? "lineTo" : "moveTo"](at(-offset / (normal[0] || 1), 0, canvas.width), canvas.height - at(y, 1, canvas.height)));
  else ranges[0].forEach((x, i) => pen[i ? "lineTo" : "moveTo"](at(x, 0, canvas.width), canvas.height - at(yOf(x), 1, canvas.height)));
  pen.stroke();
  pen.globalAlpha = points.length > 500 ? 0.6 : 0.9;
  for (const [x, y, side] of points) {
    const [px, py] = [at(x, 0, canvas.width), canvas.height - at(y, 1, canvas.height)];
    pen.fillStyle = color(side > 0 ? "--plus" : "--minus");
    if (side > 0) {
      pen.beginPath();
      pen.arc(px, py, 5, 0, 7);
      pen.fill();
    } else pen.fillRect(px - 4.5, py - 4.5, 9, 9);
  }
}
