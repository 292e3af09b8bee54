// Charts of lines, with names at their ends.

import { num, s } from "./dom.js";
import { niceStep } from "./geometry.js";

const WIDTH = 520;
const HEIGHT = 300;
const PAD = { left: 52, right: 100, top: 16, bottom: 40 };

// axes: {x: {name, max, min, log}, y: {...}}; lines: [{name, points, class, dots}]; at: x of the cursor.
export function drawChart({ title, x, y, lines, at, onpick }) {
  const [sx, sy] = [scaleOf(x, PAD.left, WIDTH - PAD.right), scaleOf(y, HEIGHT - PAD.bottom, PAD.top)];
  const svg = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": title });
  svg.append(s("title", {}, title));
  for (const tick of ticksOf(x)) svg.append(s("line", { x1: sx(tick), x2: sx(tick), y1: PAD.top, y2: HEIGHT - PAD.bottom, class: "grid" }), text(sx(tick), HEIGHT - PAD.bottom + 18, num(tick), "middle", "tick"));
  for (const tick of ticksOf(y)) svg.append(s("line", { x1: PAD.left, x2: WIDTH - PAD.right, y1: sy(tick), y2: sy(tick), class: "grid" }), text(PAD.left - 7, sy(tick) + 4, num(tick), "end", "tick"));
  svg.append(text((PAD.left + WIDTH - PAD.right) / 2, HEIGHT - 6, x.name, "middle", "name"), text(6, 12, y.name, "start", "name"));
  if (at !== undefined && at !== null && inside(x, at)) svg.append(s("line", { x1: sx(at), x2: sx(at), y1: PAD.top, y2: HEIGHT - PAD.bottom, class: "cursor" }));
  const names = [];
  for (const line of lines) {
    const points = line.points.filter(([px, py]) => inside(x, px) && Number.isFinite(py) && (!y.log || py > 0));
    if (!points.length) continue;
    const clip = ([px, py]) => [sx(px), Math.max(PAD.top - 4, Math.min(HEIGHT - PAD.bottom, sy(py)))];
    const d = points.map(clip).map(([px, py], i) => (i && line.stairs ? `H${px.toFixed(1)}V${py.toFixed(1)}` : `${i ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`)).join("");
    svg.append(s("path", { d, class: `curve ${line.class}` }));
    if (line.dots) points.forEach((p, i) => svg.append(s("circle", { cx: clip(p)[0].toFixed(1), cy: clip(p)[1].toFixed(1), r: onpick ? 6 : 3, class: `dot ${line.class}`, onclick: onpick ? () => onpick(i) : null })));
    names.push({ y: clip(points.at(-1))[1], line });
  }
  names.sort((a, b) => a.y - b.y);
  let below = -Infinity;
  for (const { y: at, line } of names) {
    below = Math.max(at + 4, below + 15);
    svg.append(text(WIDTH - PAD.right + 6, below, line.name, "start", `line-name ${line.class}`));
  }
  return svg;
}

const text = (x, y, content, anchor, name) => s("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor, class: name }, content);
const inside = (axis, value) => value >= axis.min && value <= axis.max;

function scaleOf({ min, max, log }, from, to) {
  const f = log ? Math.log10 : (v) => v;
  const [a, b] = [f(min), f(max)];
  return (value) => from + ((f(log ? Math.max(value, 1e-300) : value) - a) / (b - a || 1)) * (to - from);
}

function ticksOf({ min, max, log }) {
  if (log) {
    const [a, b] = [Math.ceil(Math.log10(min) - 1e-9), Math.floor(Math.log10(max) + 1e-9)];
    const stride = Math.max(1, Math.ceil((b - a) / 6));
    const found = [];
    for (let power = a; power <= b; power += stride) found.push(Number(`1e${power}`));
    return found;
  }
  const step = niceStep(max - min, 5);
  const found = [];
  for (let k = Math.ceil(min / step - 1e-9); k * step <= max * (1 + 1e-9); k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}
