// Panels that show where the weights come from: weight space, votes, the sum over examples, and descents.

import { count, h, num, s, sign, vector } from "./dom.js";
import { clipHalfPlane, contourLines } from "./geometry.js";
import { alphaAt, cellsOf, survivors, weightsAt } from "./record.js";

const SIDE = 340;

function square(title, low, side) {
  const svg = s("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, class: "plane small", role: "img", "aria-label": title });
  svg.append(s("title", {}, title));
  return { svg, px: ([x, y]) => [((x - low[0]) / side) * SIDE, SIDE - ((y - low[1]) / side) * SIDE] };
}

const asPoints = (points) => points.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" ");

export function drawWeights({ record, at }) {
  const { events, settings, points, verdict } = record;
  if (record.fields || settings.fit_intercept) return [h("p", {}, "With a bias, or a kernel, the space of weights has more than two dimensions. Switch the bias off to see it.")];
  if (!events) return [h("p", {}, "No points yet.")];
  const reach = 1.25 * Math.max(1, ...events.w.map(([a, b]) => Math.max(Math.abs(a), Math.abs(b))));
  const { svg, px } = square("Weight space: a line for each point, the cone of solutions, and the path of w", [-reach, -reach], 2 * reach);
  const corners = [[-reach, -reach], [reach, -reach], [reach, reach], [-reach, reach]];
  let cone = corners;
  for (const [x1, x2, y] of points) if (cone.length) cone = clipHalfPlane(cone, [y * x1, y * x2], 0);
  const isEmpty = !verdict?.separable || !cone.length;
  if (!isEmpty) svg.append(s("polygon", { points: asPoints(cone.map(px)), class: "cone" }));
  svg.append(s("path", { d: `M0 ${SIDE / 2}H${SIDE}M${SIDE / 2} 0V${SIDE}`, class: "axis" }), s("text", { x: SIDE - 18, y: SIDE / 2 - 6, class: "name" }, "w₁"), s("text", { x: SIDE / 2 + 6, y: 14, class: "name" }, "w₂"));
  const current = at >= 0 ? events.row[at] : -1;
  points.forEach(([x1, x2, y], row) => {
    const length = Math.hypot(x1, x2);
    if (!length) return;
    const far = [(-x2 / length) * 2 * reach, (x1 / length) * 2 * reach];
    const [[ax, ay], [bx, by]] = [px(far), px(far.map((v) => -v))];
    svg.append(s("line", { x1: ax, y1: ay, x2: bx, y2: by, class: `constraint ${y > 0 ? "plus" : "minus"}${row === current ? " current" : ""}` }));
    // A tick on the side where this point is right.
    const foot = far.map((v) => v * 0.3);
    const [[tx, ty], [ux, uy]] = [px(foot), px([foot[0] + (y * x1 * 0.07 * reach) / length, foot[1] + (y * x2 * 0.07 * reach) / length])];
    svg.append(s("line", { x1: tx, y1: ty, x2: ux, y2: uy, class: `constraint tick ${y > 0 ? "plus" : "minus"}` }));
  });
  const hops = [[0, 0]];
  for (let i = 0; i <= at; i++) if (events.step[i]) hops.push(events.w[i]);
  svg.append(s("polyline", { points: asPoints(hops.map(px)), class: "path" }));
  hops.forEach((w, i) => svg.append(s("circle", { cx: px(w)[0], cy: px(w)[1], r: i === hops.length - 1 ? 5 : 3, class: "hop" })));
  const words = isEmpty
    ? "The cone of solutions is empty: no w is on the right side of all lines."
    : "Every w in the shaded cone gets all points right. A mistake on a point moves w towards the right side of its line.";
  return [svg, h("p", { class: "line", id: "cone" }, words)];
}

export function drawVotes(state) {
  const { record, at } = state;
  if (record.fields || !record.events) return [h("p", {}, "Votes are drawn for lines.")];
  if (!record.run.is_complete) return [h("p", {}, "This run is too long: the record keeps only a part of its weight vectors.")];
  const voters = survivors(record, at);
  if (!voters.length) return [h("p", {}, "No example yet, no votes. Press →.")];
  const total = voters.reduce((sum, each) => sum + each.survived, 0);
  const strip = s("svg", { viewBox: "0 0 520 46", class: "strip", role: "img", "aria-label": `${voters.length} weight vectors, by the number of examples each survived` });
  let x = 0;
  voters.forEach((voter, k) => {
    const width = (voter.survived / total) * 520;
    strip.append(s("rect", { x: x.toFixed(2), y: 4, width: Math.max(0.5, width - 0.8).toFixed(2), height: 26, class: k % 2 ? "voter odd" : "voter" }, s("title", {}, `w = ${vector(voter.w)}, survived ${voter.survived}`)));
    if (width > 22) strip.append(s("text", { x: (x + width / 2).toFixed(1), y: 43, "text-anchor": "middle", class: "tick" }, String(voter.survived)));
    x += width;
  });
  const { view } = state;
  const n = 61;
  const values = [];
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; i++) {
      const p = [view.x + (i / (n - 1)) * view.side, view.y + (j / (n - 1)) * view.side];
      values.push(voters.reduce((sum, { w, b, survived }) => sum + survived * (w[0] * p[0] + w[1] * p[1] + b >= 0 ? 1 : -1), 0) / total);
    }
  }
  const { svg, px } = square("The plane, shaded by the net vote, with the last and the averaged line", [view.x, view.y], view.side);
  const unit = SIDE / (n - 1);
  const level = (v) => Math.min(4, Math.floor(Math.abs(v) * 5));
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; ) {
      const shade = [values[j * n + i] > 0, level(values[j * n + i])];
      let end = i + 1;
      while (end < n && values[j * n + end] > 0 === shade[0] && level(values[j * n + end]) === shade[1]) end++;
      svg.append(s("rect", { x: ((i - 0.5) * unit).toFixed(2), y: (SIDE - (j + 0.5) * unit).toFixed(2), width: ((end - i) * unit).toFixed(2), height: unit.toFixed(2), class: `vote ${shade[0] ? "plus" : "minus"} v${shade[1]}` }));
      i = end;
    }
  }
  for (const [name, { w, b }] of [["last", weightsAt(record, at, "last")], ["averaged", weightsAt(record, at, "averaged")]]) {
    const length = Math.hypot(...w);
    if (!length) continue;
    const foot = w.map((v) => (-b * v) / length ** 2);
    const along = [-w[1] / length, w[0] / length].map((v) => 2 * view.side * v);
    const [[x1, y1], [x2, y2]] = [px([foot[0] - along[0], foot[1] - along[1]]), px([foot[0] + along[0], foot[1] + along[1]])];
    svg.append(s("line", { x1, y1, x2, y2, class: `answer ${name}` }));
  }
  record.points.forEach((p) => {
    const [px1, py1] = px(p);
    svg.append(p[2] > 0 ? s("circle", { cx: px1, cy: py1, r: 4, class: "dot plus" }) : s("rect", { x: px1 - 3.5, y: py1 - 3.5, width: 7, height: 7, class: "dot minus" }));
  });
  return [
    strip,
    svg,
    h("p", { class: "key" }, h("span", { class: "swatch last" }), "last ", h("span", { class: "swatch averaged" }), "averaged ", h("span", { class: "swatch voted" }), "net vote (darker: more agree)"),
    h("p", { class: "line", id: "votes-line" }, errorWords(record, at, voters)),
  ];
}

// How many points each hypothesis gets wrong now.
function errorWords(record, at, voters) {
  const wrong = (score) => record.points.filter((p) => (score(p) >= 0 ? 1 : -1) !== p[2]).length;
  const linear = ({ w, b }) => (p) => w[0] * p[0] + w[1] * p[1] + b;
  const vote = (p) => voters.reduce((sum, voter) => sum + voter.survived * (linear(voter)(p) >= 0 ? 1 : -1), 0);
  const parts = [["last", wrong(linear(weightsAt(record, at, "last")))], ["averaged", wrong(linear(weightsAt(record, at, "averaged")))], ["voted", wrong(vote)]];
  return `Wrong on these ${count(record.points.length)} points: ${parts.map(([name, n]) => `${name} ${n}`).join(", ")}. ${voters.length} weight vectors vote.`;
}

export function drawTeachers({ record, at }) {
  if (!record.events) return [h("p", {}, "No points yet.")];
  const alpha = alphaAt(record, at);
  const most = Math.max(1, ...alpha);
  const n = record.points.length;
  const width = Math.max(4, Math.min(40, 500 / n));
  const svg = s("svg", { viewBox: `0 0 520 190`, class: "chart", role: "img", "aria-label": "The sum of steps on each point, with its label as the sign" });
  svg.append(s("line", { x1: 0, x2: 520, y1: 95, y2: 95, class: "axis" }));
  alpha.forEach((value, row) => {
    const label = record.points[row][2];
    const height = (value / most) * 72;
    const x = 10 + (row * 500) / n;
    svg.append(s("rect", { x: x.toFixed(1), y: (label > 0 ? 95 - height : 95).toFixed(1), width: (0.8 * width).toFixed(1), height: height.toFixed(1), class: `bar ${label > 0 ? "plus" : "minus"}` }, s("title", {}, `point ${row + 1}: α = ${num(value)}`)));
    if (n <= 24) svg.append(s("text", { x: (x + 0.4 * width).toFixed(1), y: label > 0 ? 110 : 88, "text-anchor": "middle", class: "tick" }, String(row + 1)));
    if (value && n <= 24) svg.append(s("text", { x: (x + 0.4 * width).toFixed(1), y: label > 0 ? 90 - height : 107 + height, "text-anchor": "middle", class: "name" }, num(value)));
  });
  const used = alpha.map((value, row) => [value, row]).filter(([value]) => value);
  const name = record.fields ? "f" : "w";
  const term = ([value, row]) => `${record.points[row][2] > 0 ? "+" : "−"} ${value === 1 ? "" : `${num(value)}·`}${record.fields ? `K(x${row + 1}, ·)` : vector(record.points[row].slice(0, 2))}`;
  const terms = used.slice(0, 8).map(term).join(" ");
  const whole = record.run.is_complete ? "" : " (of the whole run)";
  const result = record.events.w && used.length ? ` = ${vector(weightsAt(record, record.run.is_complete ? at : record.events.t.length - 1, "last").w)}` : "";
  return [svg, h("p", { class: "line", id: "teachers-line" }, `${name} = Σ αᵢyᵢ${record.fields ? "K(xᵢ, ·)" : "xᵢ"}${whole} = ${terms || "0"}${used.length > 8 ? ` … (${used.length} points)` : ""}${result}`)];
}

const SOLVERS = [["gd", "gradient descent"], ["newton", "Newton"], ["sgd", "stochastic gradient"], ["stochastic-newton", "stochastic Newton"]];

export function drawDescent(state) {
  const { descent } = state.record;
  const [low, side] = [descent.from, descent.to[0] - descent.from[0]];
  const { svg, px } = square("Contours of the loss over two weights, and the paths of four solvers from w = 0", low, side);
  const unit = SIDE / (descent.n - 1);
  const [least, most] = [Math.min(...descent.values), Math.max(...descent.values)];
  for (let k = 1; k <= 12; k++) {
    const level = least + (most - least) * (k / 12) ** 2;
    svg.append(s("path", { d: contourLines(descent.values, descent.n, level).map(([p, q]) => `M${(p[0] * unit).toFixed(1)} ${(SIDE - p[1] * unit).toFixed(1)}L${(q[0] * unit).toFixed(1)} ${(SIDE - q[1] * unit).toFixed(1)}`).join(""), class: "contour" }));
  }
  const shown = state.descentShare ?? 1;
  for (const [name] of SOLVERS) {
    const path = descent.paths[name].slice(0, 1 + Math.round(shown * (descent.paths[name].length - 1)));
    svg.append(s("polyline", { points: asPoints(path.map(px)), class: `solver ${name}` }));
    if (path.length < 40) path.forEach((p) => svg.append(s("circle", { cx: px(p)[0].toFixed(1), cy: px(p)[1].toFixed(1), r: 2.6, class: `solver-dot ${name}` })));
  }
  const [mx, my] = px(descent.minimum);
  svg.append(s("path", { d: `M${mx - 6} ${my - 6}L${mx + 6} ${my + 6}M${mx - 6} ${my + 6}L${mx + 6} ${my - 6}`, class: "minimum" }), s("circle", { cx: px([0, 0])[0], cy: px([0, 0])[1], r: 4, class: "hop" }));
  return [
    svg,
    h("ul", { class: "key" }, SOLVERS.map(([name, words]) => h("li", {}, h("span", { class: `swatch solver ${name}` }), `${words}: ${count(descent.paths[name].length - 1)} ${name === "sgd" ? "examples" : name === "stochastic-newton" ? "passes" : "iterations"}`))),
    h("label", { class: "line" }, "how far ", h("input", { type: "range", min: 0, max: 1, step: 0.02, value: shown, "data-key": "descent", oninput: (event) => state.actions.set({ descentShare: Number(event.target.value) }) })),
    h("p", { class: "line", id: "descent-line" }, `Minimum at w = ${vector(descent.minimum)}, marked ×. All start at w = 0.`),
  ];
}

export function drawTable(state) {
  const { record, actions, editable } = state;
  const cell = (row, axis) => {
    const value = record.points[row][axis];
    if (!editable) return num(value, 6);
    return h("input", { type: "number", step: "any", value, "aria-label": `x${axis + 1} of point ${row + 1}`, "data-key": `cell-${row}-${axis}`, onchange: (event) => actions.setCell(row, axis, event.target.value) });
  };
  const rows = record.points.map((point, row) => h("tr", {},
    h("th", { scope: "row" }, String(row + 1)),
    h("td", {}, cell(row, 0)), h("td", {}, cell(row, 1)),
    h("td", {}, editable ? h("select", { "aria-label": `Label of point ${row + 1}`, "data-key": `label-${row}`, onchange: (event) => actions.setCell(row, 2, event.target.value) }, h("option", { value: "1", selected: point[2] > 0 }, "+"), h("option", { value: "-1", selected: point[2] < 0 }, "−")) : sign(point[2])),
    editable ? h("td", {}, h("button", { type: "button", "aria-label": `Delete point ${row + 1}`, "data-key": `delete-${row}`, onclick: () => actions.removePoint(row) }, "×")) : null));
  const table = h("table", { id: "points-table" }, h("caption", { class: "unseen" }, "All points, in the order in which they come"), h("thead", {}, h("tr", {}, ["point", "x₁", "x₂", "label", ...(editable ? [""] : [])].map((name) => (name ? h("th", { scope: "col" }, name) : h("td"))))), h("tbody", {}, rows));
  const tools = editable ? h("p", {}, h("button", { type: "button", onclick: () => actions.addPoint(), "data-key": "add" }, "Add a point"), " ", h("button", { type: "button", onclick: () => actions.clearPoints(), "data-key": "clear" }, "Remove all points")) : null;
  return [h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Points" }, table), tools];
}

export function drawReproduce({ record }) {
  const block = (name, text) => [h("h3", {}, name), h("pre", { tabindex: 0 }, h("code", {}, text)), h("button", { type: "button", "data-key": `copy-${name}`, onclick: (event) => navigator.clipboard?.writeText(text).then(() => (event.target.textContent = "Copied"), () => {}) }, "Copy")];
  return [...block("Python", record.python), ...block("Command line", record.command)];
}
