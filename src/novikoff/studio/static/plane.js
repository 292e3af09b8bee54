// The plane: points, half-planes, the weights and their update, the margin band, the radius.

import { num, prefersStill, s, sign } from "./dom.js";
import { clipHalfPlane, contourLines, niceStep } from "./geometry.js";
import { cellsOf, kernelScores, weightsAt } from "./record.js";

const SIZE = 600;

// What part of the plane to show: all points and the origin, and half as much again.
export function viewOf(record) {
  const fields = record.fields;
  if (fields) return { x: fields.from[0], y: fields.from[1], side: fields.to[0] - fields.from[0] };
  const shown = record.points.map(([x1, x2]) => [x1, x2]);
  if (record.half_space) {
    const { w, b } = record.half_space;
    const length = w[0] ** 2 + w[1] ** 2;
    shown.push([(-w[0] * b) / length + w[0], (-w[1] * b) / length + w[1]]);
  }
  shown.push([0, 0]);
  if (shown.length === 1) shown.push([-1, -1], [1, 1]);
  const low = [0, 1].map((axis) => Math.min(...shown.map((p) => p[axis])));
  const high = [0, 1].map((axis) => Math.max(...shown.map((p) => p[axis])));
  const side = 1.5 * Math.max(high[0] - low[0], high[1] - low[1], 1e-9);
  return { x: (low[0] + high[0] - side) / 2, y: (low[1] + high[1] - side) / 2, side };
}

export class Plane {
  constructor(actions) {
    this.actions = actions;
    this.svg = s("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "plane", role: "group", "aria-label": "Points of two classes in the plane" });
    this.svg.append(s("title", {}, "Points of two classes in the plane"));
    this.layers = {};
    for (const name of ["regions", "axes", "band", "witness", "boundary", "arrows", "points", "hover"]) {
      this.layers[name] = s("g", { class: name });
      this.svg.append(this.layers[name]);
    }
    this.view = { x: -1, y: -1, side: 2 };
    this.frozen = false;
    this.svg.addEventListener("pointerdown", (event) => this.press(event));
    this.svg.addEventListener("pointermove", (event) => this.hover(event));
    this.svg.addEventListener("focusin", (event) => this.hover(event));
    this.svg.addEventListener("pointerleave", () => this.layers.hover.replaceChildren());
  }

  px([x1, x2]) {
    const { x, y, side } = this.view;
    return [((x1 - x) / side) * SIZE, SIZE - ((x2 - y) / side) * SIZE];
  }

  fromEvent(event) {
    const box = this.svg.getBoundingClientRect();
    const { x, y, side } = this.view;
    return [x + ((event.clientX - box.left) / box.width) * side, y + (1 - (event.clientY - box.top) / box.height) * side];
  }

  // Coordinates of a new or dragged point, rounded to what the mouse can tell.
  snap(point) {
    const step = niceStep(this.view.side, 240);
    return point.map((value) => Number((Math.round(value / step) * step).toPrecision(12)));
  }

  corners() {
    const { x, y, side } = this.view;
    return [[x, y], [x + side, y], [x + side, y + side], [x, y + side]];
  }

  polygon(points, attributes) {
    return s("polygon", { points: points.map((p) => this.px(p).map((v) => v.toFixed(2)).join(",")).join(" "), ...attributes });
  }

  line(from, to, attributes) {
    const [[x1, y1], [x2, y2]] = [this.px(from), this.px(to)];
    return s("line", { x1: x1.toFixed(2), y1: y1.toFixed(2), x2: x2.toFixed(2), y2: y2.toFixed(2), ...attributes });
  }

  // The part of the line w.x + b = level within the view.
  boundary([w1, w2], b, level, attributes) {
    const ends = [];
    const corners = this.corners();
    corners.forEach((p, i) => {
      const q = corners[(i + 1) % 4];
      const [f, g] = [p, q].map((c) => w1 * c[0] + w2 * c[1] + b - level);
      if (f < 0 !== g < 0) ends.push([0, 1].map((axis) => p[axis] + (f / (f - g)) * (q[axis] - p[axis])));
    });
    return ends.length === 2 ? this.line(ends[0], ends[1], attributes) : null;
  }

  draw(state) {
    const { record } = state;
    if (!this.frozen) this.view = viewOf(record);
    for (const layer of Object.values(this.layers)) layer.replaceChildren();
    this.drawAxes(record);
    const now = state.between ?? weightsAt(record, state.at, state.hypothesis);
    if (record.fields) this.drawField(state);
    else this.drawHalfPlanes(now);
    if (record.half_space) this.drawRegion(record.half_space);
    this.drawVerdict(state);
    this.drawUpdate(state, now);
    this.drawPoints(state);
  }

  drawAxes(record) {
    const { x, y, side } = this.view;
    const step = niceStep(side, 8);
    const axes = this.layers.axes;
    const fits = (at, from) => at - from > 0.02 * side && from + side - at > 0.04 * side;
    for (let at = Math.ceil(x / step) * step; at <= x + side; at += step) {
      const near = Math.abs(at) < step / 2;
      axes.append(this.line([at, y], [at, y + side], { class: near ? "axis" : "grid" }));
      if (!near && fits(at, x)) axes.append(this.label([at, Math.min(Math.max(0, y), y + side)], num(at), { dy: 16, "text-anchor": "middle", class: "tick" }));
    }
    for (let at = Math.ceil(y / step) * step; at <= y + side; at += step) {
      const near = Math.abs(at) < step / 2;
      axes.append(this.line([x, at], [x + side, at], { class: near ? "axis" : "grid" }));
      if (!near && fits(at, y)) axes.append(this.label([Math.min(Math.max(0, x), x + side), at], num(at), { dx: -6, dy: 4, "text-anchor": "end", class: "tick" }));
    }
    axes.append(this.label([x + side, Math.max(0, y)], "x₁", { dx: -18, dy: -8, class: "name" }));
    axes.append(this.label([Math.max(0, x), y + side], "x₂", { dx: 10, dy: 20, class: "name" }));
    if (record.run && record.points.length && !record.fields) {
      // In the plane; the constant coordinate adds 1 to the square of R.
      const radius = Math.max(...record.points.map((p) => Math.hypot(p[0], p[1])));
      const [cx, cy] = this.px([0, 0]);
      axes.append(s("circle", { cx, cy, r: (radius / side) * SIZE, class: "radius" }));
      const at = [-0.7071 * radius, -0.7071 * radius];
      axes.append(this.label(at, record.settings.fit_intercept ? "√(R² − 1)" : "R", { dx: -8, dy: 14, "text-anchor": "end", class: "tick" }));
    }
  }

  label(at, text, attributes) {
    const [x, y] = this.px(at);
    return s("text", { x: x.toFixed(1), y: y.toFixed(1), ...attributes }, text);
  }

  drawHalfPlanes({ w, b }) {
    if (!w[0] && !w[1]) return;
    const positive = clipHalfPlane(this.corners(), w, b);
    const negative = clipHalfPlane(this.corners(), w.map((v) => -v), -b);
    if (positive.length) this.layers.regions.append(this.polygon(positive, { class: "side plus" }));
    if (negative.length) this.layers.regions.append(this.polygon(negative, { class: "side minus" }));
    const line = this.boundary(w, b, 0, { class: "line" });
    if (line) this.layers.boundary.append(line);
  }

  drawRegion({ w, b }) {
    const inside = clipHalfPlane(this.corners(), w, b);
    this.layers.regions.append(this.polygon(inside, { class: "given" }));
    const line = this.boundary(w, b, 0, { class: "given-line" });
    if (line) this.layers.boundary.append(line);
    const length = w[0] ** 2 + w[1] ** 2;
    const foot = [(-w[0] * b) / length, (-w[1] * b) / length];
    this.layers.arrows.append(this.line([0, 0], foot, { class: "distance" }));
    this.arrow(foot, [foot[0] + w[0], foot[1] + w[1]], "given-arrow", `w = ${"(" + w.map((v) => num(v)).join(", ") + ")"}`);
    this.layers.arrows.append(this.label([foot[0] / 2, foot[1] / 2], num(Math.abs(b) / Math.sqrt(length), 3), { dx: 6, dy: 14, class: "name" }));
  }

  drawField(state) {
    const scores = kernelScores(state.record, state.at);
    if (!scores) return;
    const { n } = state.record.fields;
    for (const [x, y, width, positive] of cellsOf(scores, n)) {
      const unit = SIZE / (n - 1);
      this.layers.regions.append(s("rect", { x: ((x - 0.5) * unit).toFixed(1), y: (SIZE - (y + 0.5) * unit).toFixed(1), width: (width * unit + 0.3).toFixed(1), height: (unit + 0.3).toFixed(1), class: positive ? "side plus" : "side minus" }));
    }
    this.layers.boundary.append(this.curve(scores, n, 0, "line"));
  }

  curve(values, n, level, name) {
    const unit = SIZE / (n - 1);
    const d = contourLines(values, n, level).map(([p, q]) => `M${(p[0] * unit).toFixed(1)} ${(SIZE - p[1] * unit).toFixed(1)}L${(q[0] * unit).toFixed(1)} ${(SIZE - q[1] * unit).toFixed(1)}`).join("");
    return s("path", { d, class: name });
  }

  drawVerdict(state) {
    const { record } = state;
    const { verdict } = record;
    if (!verdict || state.hidden) return;
    const band = this.layers.band;
    if (verdict.separable && record.fields) {
      if (record.fields.best) {
        for (const level of [0, verdict.margin_lower, -verdict.margin_lower]) band.append(this.curve(record.fields.best, record.fields.n, level, level ? "edge" : "best"));
      }
    } else if (verdict.separable && typeof verdict.margin_lower === "number") {
      // Not the distance in the plane: the constant coordinate counts in the length of w.
      const within = clipHalfPlane(clipHalfPlane(this.corners(), verdict.w, verdict.b + verdict.margin_lower), verdict.w.map((v) => -v), verdict.margin_lower - verdict.b);
      if (within.length) band.append(this.polygon(within, { class: "band" }));
      for (const level of [verdict.margin_lower, -verdict.margin_lower]) {
        const edge = this.boundary(verdict.w, verdict.b, level, { class: "edge" });
        if (edge) band.append(edge);
      }
      const best = this.boundary(verdict.w, verdict.b, 0, { class: "best" });
      if (best) band.append(best);
    } else if (!verdict.separable && !record.fields) {
      this.drawWitness(verdict, record);
    }
  }

  drawWitness(verdict, record) {
    const layer = this.layers.witness;
    const at = verdict.rows.map((row) => record.points[row]);
    if (!verdict.constant) {
      for (const [x1, x2] of at) layer.append(this.line([0, 0], [x1, x2], { class: "witness-line" }));
      return;
    }
    for (const label of [1, -1]) {
      const hull = at.filter((point) => point[2] === label);
      if (hull.length > 2) layer.append(this.polygon(around(hull), { class: "witness-hull" }));
      else if (hull.length === 2) layer.append(this.line(hull[0], hull[1], { class: "witness-line" }));
    }
    if (verdict.meeting) {
      const [x, y] = this.px(verdict.meeting);
      layer.append(s("path", { d: `M${x - 9} ${y}H${x + 9}M${x} ${y - 9}V${y + 9}`, class: "meeting" }));
      layer.append(this.label(verdict.meeting, "in both hulls", { dx: 12, dy: -8, class: "name" }));
    }
  }

  // w from the origin; on a mistake the old w and y x, tip to tail.
  drawUpdate(state, now) {
    const { record, at } = state;
    if (record.fields || !record.events) return;
    const longest = Math.max(...record.events.w.map(([a, b]) => Math.hypot(a, b)), 1e-300);
    const { x, y, side } = this.view;
    const room = 0.9 * Math.max(0.12 * side, Math.min(-x, -y, x + side, y + side));
    const power = 10 ** Math.floor(Math.log10(room / longest));
    const scale = longest <= room ? 1 : [5, 2, 1].find((factor) => factor * power * longest <= room) * power;
    if (scale !== 1) this.layers.arrows.append(this.label([x, y], `w is drawn × ${num(scale)}`, { dx: 10, dy: -12, class: "tick" }));
    const shrink = (w) => w.map((v) => scale * v);
    const event = at >= 0 ? record.events.step[at] : 0;
    if (event && state.hypothesis === "last") {
      const before = weightsAt(record, at - 1, "last");
      const old = this.boundary(before.w, before.b, 0, { class: "line old" });
      if (old) this.layers.boundary.prepend(old);
      if (before.w[0] || before.w[1]) this.arrow([0, 0], shrink(before.w), "old-arrow");
      const row = record.points[record.events.row[at]];
      const [from, to] = [before, weightsAt(record, at, "last")].map(({ w }) => shrink(w));
      this.arrow(from, to, "ghost-arrow");
      this.layers.arrows.append(this.label([(from[0] + to[0]) / 2, (from[1] + to[1]) / 2], row[2] > 0 ? "+x" : "−x", { dx: 9, dy: 5, class: "arrow-name ghost-arrow-name" }));
    }
    if (now.w[0] || now.w[1]) this.arrow([0, 0], shrink(now.w), "w-arrow", "w");
    else this.layers.arrows.append(s("circle", { cx: this.px([0, 0])[0], cy: this.px([0, 0])[1], r: 4, class: "w-dot" }), this.label([0, 0], "w = 0", { dx: 22, dy: 26, class: "arrow-name" }));
  }

  arrow(from, to, name, text) {
    const [[x1, y1], [x2, y2]] = [this.px(from), this.px(to)];
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length < 1) return;
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const head = Math.min(13, 0.6 * length);
    const [bx, by] = [x2 - head * ux, y2 - head * uy];
    const points = [[x2, y2], [bx - 0.42 * head * uy, by + 0.42 * head * ux], [bx + 0.42 * head * uy, by - 0.42 * head * ux]];
    this.layers.arrows.append(
      s("line", { x1: x1.toFixed(1), y1: y1.toFixed(1), x2: bx.toFixed(1), y2: by.toFixed(1), class: name }),
      s("polygon", { points: points.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" "), class: `${name} head` }),
    );
    if (text) {
      const anchor = ux < -0.3 ? "end" : "start";
      this.layers.arrows.append(s("text", { x: (x2 + 9 * ux + (anchor === "end" ? -3 : 3)).toFixed(1), y: (y2 + 9 * uy + 4).toFixed(1), "text-anchor": anchor, class: `arrow-name ${name}-name` }, text));
    }
  }

  drawPoints(state) {
    const { record, at } = state;
    const current = at >= 0 && record.events ? record.events.row[at] : state.guessing ?? -1;
    const verdict = state.hidden ? null : record.verdict;
    const ringed = new Set(verdict ? (verdict.separable ? verdict.support : verdict.rows) : []);
    record.points.forEach((point, row) => this.layers.points.append(this.mark(state, point, row, current === row, ringed.has(row))));
  }

  mark(state, [x1, x2, label], row, isCurrent, isRinged) {
    const [x, y] = this.px([x1, x2]);
    const hidden = state.guessing === row;
    const mistake = isCurrent && state.at >= 0 && state.record.events.mistake[state.at];
    const group = s("g", {
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
      class: `point ${hidden ? "unknown" : label > 0 ? "plus" : "minus"}${isCurrent ? " current" : ""}${mistake ? " mistake" : ""}`,
      tabindex: state.editable ? 0 : -1,
      role: state.editable ? "button" : "img",
      "data-row": row,
      "data-key": `point-${row}`,
      "aria-label": `Point ${row + 1}: (${num(x1)}, ${num(x2)}), label ${hidden ? "unknown" : sign(label)}${isRinged ? ", part of the proof" : ""}${isCurrent ? ", current example" : ""}`,
    });
    if (isCurrent) group.append(s("circle", { r: 19, class: "halo" }));
    if (isRinged) group.append(s("circle", { r: 14.5, class: "ring" }));
    if (hidden) group.append(s("circle", { r: 9.5, class: "body" }), s("text", { y: 5, "text-anchor": "middle", class: "glyph-text" }, "?"));
    else if (label > 0) group.append(s("circle", { r: 9, class: "body" }), s("path", { d: "M-5 0H5M0 -5V5", class: "glyph" }));
    else group.append(s("rect", { x: -8, y: -8, width: 16, height: 16, class: "body" }), s("path", { d: "M-5 0H5", class: "glyph" }));
    if (state.record.points.length <= 12) group.append(s("text", { x: 12, y: -11, class: "number" }, String(row + 1)));
    return group;
  }

  press(event) {
    if (!this.actions.isEditable() || event.button) return;
    const mark = event.target.closest(".point");
    if (mark) this.drag(event, Number(mark.dataset.row));
    else this.actions.addPoint(this.snap(this.fromEvent(event)));
  }

  drag(event, row) {
    event.preventDefault();
    this.frozen = true;
    this.svg.setPointerCapture(event.pointerId);
    const move = (moved) => this.actions.movePoint(row, this.snap(this.fromEvent(moved)));
    const end = () => {
      this.frozen = false;
      this.svg.removeEventListener("pointermove", move);
      this.actions.endMove(row);
    };
    this.svg.addEventListener("pointermove", move);
    this.svg.addEventListener("pointerup", end, { once: true });
  }

  // The projection of a point on w, where the pointer is over one.
  hover(event) {
    const layer = this.layers.hover;
    layer.replaceChildren();
    const mark = event.target.closest?.(".point");
    const state = this.actions.state();
    if (!mark || state.record.fields || !state.record.events) return;
    const point = state.record.points[Number(mark.dataset.row)];
    if (!point) return;
    const { w, b } = weightsAt(state.record, state.at, state.hypothesis);
    const length = Math.hypot(...w);
    if (!length) return;
    const along = (w[0] * point[0] + w[1] * point[1]) / length;
    const foot = w.map((v) => (along * v) / length);
    layer.append(this.line([0, 0], foot, { class: "projection" }), this.line(point, foot, { class: "projection thin" }));
    layer.append(this.label(foot, `⟨w,x⟩/‖w‖ = ${num(along, 3)}${b ? `, with the bias ${num(along + b / length, 3)}` : ""}`, { dx: 8, dy: 16, class: "name" }));
  }
}

// The corners of a few points in the order of their angles about their mean.
function around(points) {
  const mean = [0, 1].map((axis) => points.reduce((total, p) => total + p[axis], 0) / points.length);
  return [...points].sort((p, q) => Math.atan2(p[1] - mean[1], p[0] - mean[0]) - Math.atan2(q[1] - mean[1], q[0] - mean[0]));
}

// Weights between two events, while the line turns.
export function turn(record, from, to, show, done) {
  const [before, after] = [weightsAt(record, from, "last"), weightsAt(record, to, "last")];
  if (prefersStill() || record.fields) return done();
  const start = performance.now();
  const frame = (now) => {
    const t = Math.min(1, (now - start) / 320);
    const eased = t * t * (3 - 2 * t);
    const mix = (a, b) => a + eased * (b - a);
    if (t >= 1) return done();
    show({ w: before.w.map((value, i) => mix(value, after.w[i])), b: mix(before.b, after.b) });
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}
