// Panels that show the theorem: the squeeze, the proof line by line, the ledger, and mistakes across variants.

import { drawChart } from "./chart.js";
import { count, h, num, plural, sign, vector } from "./dom.js";
import { lastEvent } from "./record.js";

// The first event with each number of updates: its index in the record.
function updatesOf(record) {
  const { step } = record.events;
  const found = [];
  for (let i = 0; i < step.length; i++) if (step[i]) found.push(i);
  return found;
}

// The perceptron's own k: every step is 1, so that the sum of steps is the number of updates.
const isPerceptron = (record) => record.settings.rule === "perceptron";
const stepName = (record) => (isPerceptron(record) ? "k" : "Στ");

// The sum of steps after each event; for the perceptron the number of updates.
function stepSums(record) {
  if (isPerceptron(record)) return record.events.updates;
  let total = 0;
  return record.events.step.map((step) => (total += step));
}

export function drawSqueeze({ record, at }) {
  const { events, bound, verdict } = record;
  if (!events || !record.run.updates) return [h("p", {}, "The run made no mistake, so there is nothing to squeeze.")];
  if (!isPerceptron(record) && !record.run.is_complete) return [h("p", {}, "This run is too long to be drawn whole for this rule.")];
  const gamma = verdict?.separable && bound ? bound.margin : null;
  const radius = bound?.radius ?? record.run.radius;
  const indices = updatesOf(record);
  const sums = stepSums(record);
  const last = Math.max(...indices.map((i) => sums[i]));
  const meets = gamma !== null && isPerceptron(record) && bound.value <= 6 * last;
  const max = meets ? bound.value * 1.06 : last * 1.06;
  const grid = Array.from({ length: 81 }, (_, i) => (i / 80) * max);
  const lines = [{ name: "‖w‖", class: "norm", dots: indices.length < 60, points: [[0, 0], ...indices.map((i) => [sums[i], events.norm[i]])] }];
  if (events.progress) lines.push({ name: "⟨w,u⟩", class: "progress", dots: indices.length < 60, points: [[0, 0], ...indices.map((i) => [sums[i], events.progress[i]])] });
  if (isPerceptron(record)) lines.push({ name: "√k·R", class: "upper", points: grid.map((k) => [k, Math.sqrt(k) * radius]) });
  if (gamma !== null) lines.push({ name: isPerceptron(record) ? "k·γ" : "γ·Στ", class: "lower", points: grid.map((k) => [k, k * gamma]) });
  const highest = Math.max(...lines.flatMap((line) => line.points.map((p) => p[1])));
  const now = at >= 0 ? sums[at] : 0;
  const chart = drawChart({
    title: "The squeeze: k times gamma, the product of w and u, the length of w, and root k times R, against the number of mistakes k",
    x: { name: isPerceptron(record) ? "mistakes k" : "sum of steps", min: 0, max },
    y: { name: "length", min: 0, max: highest * 1.05 },
    lines,
    at: now,
  });
  return [chart, h("p", { class: "line", id: "squeeze-line" }, squeezeLine(record, at, now, gamma, radius, meets))];
}

function squeezeLine(record, at, now, gamma, radius, meets) {
  const { events, bound } = record;
  const norm = at >= 0 ? events.norm[at] : 0;
  if (gamma === null) {
    return `At k = ${count(now)}: ‖w‖ = ${num(norm)} ≤ √k·R = ${num(Math.sqrt(now) * radius)}. No γ > 0 pushes ⟨w,u⟩ up, because no line separates these points, and the run need not stop.`;
  }
  const progress = events.progress ? ` ≤ ⟨w,u⟩ = ${num(at >= 0 ? events.progress[at] : 0)}` : "";
  if (!isPerceptron(record)) return `At Στ = ${num(now)}: γ·Στ = ${num(now * gamma)}${progress} ≤ ‖w‖ = ${num(norm)}.`;
  const where = meets ? `The outer two meet at k = (R/γ)² = ${num(bound.value)}: more mistakes are impossible.` : `The outer two meet at k = (R/γ)² = ${num(bound.value)}, far to the right.`;
  return `At k = ${count(now)}: k·γ = ${num(now * gamma)}${progress} ≤ ‖w‖ = ${num(norm)} ≤ √k·R = ${num(Math.sqrt(now) * radius)}. ${where}`;
}

export function drawProof(state) {
  const { record, at } = state;
  const { events, verdict, bound } = record;
  if (!events || !record.run.updates) return [h("p", {}, "No mistakes, no proof needed.")];
  if (!isPerceptron(record) || !record.run.is_complete) return [h("p", {}, "The lines of the proof are shown for the perceptron's own rule, and for runs that are recorded whole.")];
  const indices = updatesOf(record);
  const gamma = verdict?.separable && bound ? bound.margin : null;
  const radius = bound?.radius ?? record.run.radius;
  const current = indices.findLastIndex((i) => i <= at);
  const first = Math.max(0, Math.min(current - 5, indices.length - 10));
  const rows = indices.slice(first, first + 10).map((i, offset) => {
    const k = first + offset;
    const before = k ? indices[k - 1] : -1;
    const squares = [before >= 0 ? events.norm[before] ** 2 : 0, events.norm[i] ** 2];
    const cells = [h("th", { scope: "row" }, count(k + 1)), h("td", {}, `${events.row[i] + 1}`)];
    if (gamma !== null && events.progress) {
      const along = [before >= 0 ? events.progress[before] : 0, events.progress[i]];
      cells.push(h("td", {}, `${num(along[0])} → ${num(along[1])}, up by ${num(along[1] - along[0])} ≥ γ = ${num(gamma)}`));
    }
    cells.push(h("td", {}, `${num(squares[0])} → ${num(squares[1])}, ${squares[1] >= squares[0] ? "up" : "down"} by ${num(Math.abs(squares[1] - squares[0]))}${squares[1] >= squares[0] ? ` ≤ R² = ${num(radius ** 2)}` : ""}`));
    return h("tr", { "aria-current": k === current ? "true" : null }, cells);
  });
  const head = ["mistake k", "point", ...(gamma !== null && events.progress ? ["⟨w,u⟩"] : []), "‖w‖²"];
  const why = gamma === null
    ? "Each mistake has y⟨w,x⟩ ≤ 0, so ‖w + yx‖² = ‖w‖² + 2y⟨w,x⟩ + ‖x‖² ≤ ‖w‖² + R². That half of the proof always holds. The other half needs a u with y⟨u,x⟩ ≥ γ > 0 for every point, and there is none."
    : `Each mistake adds y·x to w. So ⟨w,u⟩ grows by y⟨u,x⟩ ≥ γ. And since y⟨w,x⟩ ≤ 0 on a mistake, ‖w + yx‖² = ‖w‖² + 2y⟨w,x⟩ + ‖x‖² ≤ ‖w‖² + R². After k mistakes: k·γ ≤ ⟨w,u⟩ ≤ ‖w‖ ≤ √k·R, hence k ≤ (R/γ)² = ${num(bound.value)}.`;
  return [
    h("p", {}, why),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The proof, mistake by mistake" }, h("table", { id: "proof-table" }, h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows))),
  ];
}

export function drawLedger({ record, at, compare }) {
  const { events, bound, run } = record;
  if (!events) return [h("p", {}, "No examples yet.")];
  const lines = [{ name: "mistakes", class: "norm", stairs: true, points: [[0, 0], ...events.t.map((t, i) => [t, events.k[i]])] }];
  if (compare) lines.push({ name: compare.label, class: "other", stairs: true, points: [[0, 0], ...compare.record.events.t.map((t, i) => [t, compare.record.events.k[i]])] });
  const shows = bound && bound.value <= 8 * Math.max(run.mistakes, 1);
  const examples = Math.max(run.examples, compare?.record.run.examples ?? 0);
  if (shows && bound.passes === "any") lines.push({ name: "bound", class: "upper", points: [[0, bound.value], [examples, bound.value]] });
  if (shows && bound.passes !== "any") lines.push({ name: "1 pass", class: "upper", points: [[0, bound.value], [record.points.length, bound.value]] });
  const top = Math.max(...lines.flatMap((line) => line.points.map((p) => p[1])), 1);
  const t = at >= 0 ? events.t[at] : 0;
  const ledger = drawChart({
    title: "Mistakes against examples, with the bound as a ceiling",
    x: { name: "examples", min: 0, max: Math.max(examples, 1) },
    y: { name: "mistakes", min: 0, max: top * 1.08 },
    lines,
    at: t,
  });
  const claims = [`${plural(run.mistakes, "mistake")} on ${plural(run.examples, "example")} in ${plural(run.passes, "pass", "passes")}`];
  if (bound) claims.push(bound.passes === "any" ? `at most ${count(bound.mistakes)} in any order, over any number of passes` : `at most ${count(bound.mistakes)} in one pass`);
  return [ledger, h("p", { class: "line", id: "ledger-line" }, `${claims.join("; ")}.`), ...drawMargin(record, t, at)];
}

function drawMargin(record, t, at) {
  const { events, verdict } = record;
  // Later examples can only make the margin smaller, so that the least bound so far holds.
  let least = Infinity;
  const points = events.t.map((x, i) => [x, (least = Math.min(least, events.margin[i] ?? Infinity))]).filter(([, m]) => m > 0 && m < Infinity);
  if (points.length < 2) return [];
  const lines = [{ name: "γ ≤", class: "progress", stairs: true, points }];
  const gamma = verdict?.separable ? Number(verdict.margin_lower) : null;
  if (gamma) lines.push({ name: "γ", class: "lower", points: [[0, gamma], [record.run.examples, gamma]] });
  const all = lines.flatMap((line) => line.points.map((p) => p[1]));
  const chart = drawChart({
    title: "The certified bound of the margin against examples",
    x: { name: "examples", min: 0, max: record.run.examples },
    y: { name: "margin", min: Math.max(Math.min(...all) / 1.3, Math.max(...all) / 1e5), max: Math.max(...all) * 1.3, log: Math.max(...all) > 30 * Math.min(...all) },
    lines,
    at: t,
  });
  const now = at >= 0 ? points.findLast(([x]) => x <= t)?.[1] ?? null : null;
  const words = now === null ? "After the first mistake the run itself certifies a bound of the margin: ‖w‖ / k." : now < 1e-9 ? "The weights came back to 0: the points of these mistakes, times their labels, cancel, and no line separates them." : `No line separates what was seen by more than the least ‖w‖ / k so far, ${num(now)}.`;
  return [chart, h("p", { class: "line" }, words)];
}

export function drawAcross(state) {
  const { bundle } = state;
  const all = bundle.variants.filter((variant) => variant.parameter !== null);
  const points = (value) => all.map((variant) => [variant.parameter, value(variant.record)]);
  const lines = [
    { name: "bound", class: "upper", dots: true, points: points((record) => record.bound?.value ?? NaN) },
    { name: "mistakes", class: "norm", dots: true, points: points((record) => record.run.mistakes) },
  ];
  const values = lines.flatMap((line) => line.points.map((p) => p[1])).filter(Number.isFinite);
  const parameters = all.map((variant) => variant.parameter);
  const here = bundle.variants[state.variant].parameter;
  return [
    drawChart({
      title: `Bound and mistakes against the ${bundle.scene.axis}, both on logarithmic axes`,
      x: { name: bundle.scene.axis, min: Math.min(...parameters) / 1.2, max: Math.max(...parameters) * 1.2, log: true },
      y: { name: "mistakes", min: Math.min(...values) / 1.5, max: Math.max(...values) * 1.5, log: true },
      lines,
      at: here,
    }),
    h("label", { class: "line" }, `${bundle.scene.axis} `, h("input", {
      type: "range", min: 0, max: all.length - 1, step: 1, value: all.indexOf(bundle.variants[state.variant]), "data-key": "across",
      "aria-valuetext": `${bundle.scene.axis} ${num(here)}`,
      oninput: (event) => state.actions.chooseVariant(bundle.variants.indexOf(all[event.target.value])),
    }), ` ${num(here)}: ${plural(state.record.run.mistakes, "mistake")}, bound ${num(state.record.bound?.value)}`),
  ];
}

// The score of an example, term by term.
export function stepWords(state) {
  const { record, at, hypothesis } = state;
  if (!record.events) return ["There are no points yet."];
  if (at < 0) return ["Before the first example: w = 0."];
  const e = record.events;
  const [x1, x2, label] = record.points[e.row[at]];
  const x = record.settings.fit_intercept && !record.fields ? `(${num(x1)}, ${num(x2)} | 1)` : vector([x1, x2]);
  const tie = e.score[at] === 0;
  const words = [`Example ${count(e.t[at])} (pass ${e.pass[at]}): point ${e.row[at] + 1}, x = ${x}, label ${sign(label)}.`];
  words.push(tie ? `The score is exactly 0: a tie${record.settings.ties === "mistake" ? ", which counts as a mistake" : ""}.` : `The score ⟨w,x⟩${record.settings.fit_intercept && !record.fields ? " + b" : ""} is ${num(e.score[at])}: the guess is ${sign(e.guess[at])}.`);
  const hasStep = e.step[at] !== 0;
  if (e.mistake[at]) words.push(`Mistake number ${count(e.k[at])}.`);
  else words.push(hasStep ? "Right, but nearer than the rule wants." : "Right: nothing changes.");
  if (hasStep && e.w) words.push(`w ← w ${label > 0 ? "+" : "−"} ${e.step[at] === 1 ? "" : `${num(e.step[at])}·`}x = ${vector(e.w[at])}${record.settings.fit_intercept ? `, b = ${num(e.b[at])}` : ""}.`);
  else if (hasStep) words.push(`f ← f ${label > 0 ? "+" : "−"} K(x, ·), ‖f‖ = ${num(e.norm[at])}.`);
  if (at === lastEvent(record)) words.push(record.run.converged ? "The last pass made no mistake: every point is on its side." : "The run was stopped here; it was still making mistakes.");
  if (hypothesis !== "last" && e.w) words.push(`The plane shows the hypothesis “${hypothesis}”.`);
  return words;
}
