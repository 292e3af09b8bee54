// The controls around the plane: transport, settings, tools, and the keys that do the same.

import { button, count, h, num, plural, replace, s, sign } from "./dom.js";
import { lastEvent } from "./record.js";

export const SPEEDS = [[1, "1 per second"], [2, "2 per second"], [5, "5 per second"], [20, "20 per second"], [100, "100 per second"], [0, "at once"]];

export function drawTransport(host, state) {
  const { record, at, playing, actions } = state;
  const last = lastEvent(record);
  const disabled = last < 0;
  const tick = (text, label, key, act) => button(text, act, { "aria-label": label, title: `${label} (${key})`, "data-key": label, disabled });
  const range = h("input", {
    type: "range", min: -1, max: Math.max(last, 0), step: 1, value: at, id: "timeline", "aria-label": "Example", "data-key": "timeline", disabled,
    "aria-valuetext": at < 0 ? "before the first example" : `example ${record.events?.t[at]}`,
    oninput: (event) => actions.goTo(Number(event.target.value)),
  });
  replace(host,
    h("div", { class: "buttons" },
      tick("|←", "To the start", "Home", () => actions.goTo(-1)),
      tick("«", "Previous mistake", "Shift ←", () => actions.jump(-1)),
      tick("←", "One example back", "←", () => actions.step(-1)),
      button(playing ? "Pause" : "Play", actions.togglePlay, { id: "play", class: "primary", title: "Space", "data-key": "play", disabled }),
      tick("→", "One example forward", "→", () => actions.step(1)),
      tick("»", "Next mistake", "Shift →", () => actions.jump(1)),
      tick("→|", "To the end", "End", () => actions.goTo(last)),
      h("label", { class: "speed" }, h("span", { class: "unseen" }, "Speed"), h("select", { id: "speed", title: "[ and ]", "data-key": "speed", onchange: (event) => actions.set({ speed: Number(event.target.value) }) }, SPEEDS.map(([value, text]) => h("option", { value, selected: value === state.speed }, text))))),
    h("div", { class: "timeline" }, range, drawTicks(record, last)),
    h("p", { class: "where", id: "where" }, last < 0 ? "no examples" : at < 0 ? `before the first of ${plural(record.run.examples, "example")}` : `example ${count(record.events.t[at])} of ${count(record.run.examples)} · ${plural(record.events.k[at], "mistake")}${record.run.is_complete ? "" : " · the record keeps a part of the events"}`));
}

function drawTicks(record, last) {
  const svg = s("svg", { viewBox: "0 0 1000 10", preserveAspectRatio: "none", class: "ticks", "aria-hidden": "true" });
  if (last < 0) return svg;
  const indices = [];
  record.events.mistake.forEach((mistake, i) => mistake && indices.push(i));
  const stride = Math.ceil(indices.length / 500) || 1;
  for (let i = 0; i < indices.length; i += stride) {
    const x = (((indices[i] + 1) / (last + 1)) * 1000).toFixed(1);
    svg.append(s("path", { d: `M${x} 0V10`, class: "tick-mark" }));
  }
  return svg;
}

const OPTIONS = {
  rule: [["perceptron", "perceptron"], ["margin", "margin"], ["passive-aggressive", "passive-aggressive"], ["passive-aggressive-I", "passive-aggressive I"], ["passive-aggressive-II", "passive-aggressive II"]],
  hypothesis: [["last", "last"], ["averaged", "averaged"], ["voted", "voted"], ["pocket", "pocket"]],
  ties: [["mistake", "a tie is a mistake"], ["positive", "a tie is +"], ["negative", "a tie is −"]],
  order: [["given", "as given"], ["shuffled", "shuffled"], ["random", "at random"], ["worst", "worst first"]],
  kernel: [["linear", "a line"], ["poly", "(γ⟨x,z⟩ + c)^d"], ["rbf", "exp(−γ|x − z|²)"], ["laplacian", "exp(−γ Σ|x − z|)"]],
};

export function drawSettings(host, state) {
  const { record, actions, live } = state;
  const { settings } = record;
  if (!live) {
    const words = [`rule ${settings.rule}`, settings.kernel === "linear" ? (settings.fit_intercept ? "with a bias" : "no bias") : `kernel ${settings.kernel}`, `ties: ${settings.ties}`, `order: ${settings.order}`];
    return replace(host, h("h2", {}, "Settings"), h("p", { class: "line" }, words.join(" · ")));
  }
  const select = (name, title) => h("label", {}, `${title} `, h("select", { "data-key": name, name, onchange: (event) => actions.change({ [name]: event.target.value }) }, OPTIONS[name].map(([value, text]) => h("option", { value, selected: settings[name] === value }, text))));
  const number = (name, title, step = "any") => h("label", {}, `${title} `, h("input", { type: "number", step, "data-key": name, name, value: settings[name], onchange: (event) => actions.change({ [name]: Number(event.target.value) }) }));
  const curved = settings.kernel !== "linear";
  return replace(host, h("h2", {}, "Settings"), h("form", { class: "form", onsubmit: (event) => event.preventDefault() },
    select("rule", "Rule"), settings.rule === "margin" ? number("beta", "β") : null,
    select("hypothesis", "Answers"),
    curved ? null : h("label", { class: "tickbox" }, h("input", { type: "checkbox", "data-key": "bias", name: "fit_intercept", checked: settings.fit_intercept, onchange: (event) => actions.change({ fit_intercept: event.target.checked }) }), " bias"),
    select("ties", "Ties"), select("order", "Order"),
    ["shuffled", "random"].includes(settings.order) ? number("seed", "seed", 1) : null,
    number("passes", "At most passes", 1),
    select("kernel", "Boundary"),
    curved ? number("gamma", "γ") : null, settings.kernel === "poly" ? [number("degree", "d", 1), number("coef0", "c")] : null));
}

export function drawTools(host, state) {
  const { editable, next, actions, guessFirst, guessing, guesses } = state;
  const parts = [];
  if (editable) {
    parts.push(h("fieldset", { class: "next" }, h("legend", {}, "Click to draw"), [1, -1].map((label) => h("label", {}, h("input", { type: "radio", name: "next", value: label, checked: next === label, "data-key": `next-${label}`, onchange: () => actions.set({ next: label }) }), ` ${sign(label)}`)), h("span", { class: "hint" }, "drag to move, Del to remove")));
  }
  parts.push(h("label", { class: "tickbox" }, h("input", { type: "checkbox", id: "guess-first", "data-key": "guess-first", checked: guessFirst, onchange: (event) => actions.setGuessFirst(event.target.checked) }), " Guess first"));
  if (guessFirst && guessing !== null && guessing !== undefined) {
    parts.push(h("p", { id: "guess" }, `Your guess for point ${guessing + 1}? `, [1, -1].map((label) => button(sign(label), () => actions.guess(label), { "data-key": `guess-${label}`, "aria-label": label > 0 ? "plus" : "minus" })), " "));
  }
  if (guessFirst) parts.push(h("p", { class: "hint", id: "guess-score" }, guesses.total ? `${count(guesses.right)} of ${count(guesses.total)} right; the perceptron: ${count(guesses.machine)}.` : "Go forward: the label is hidden until you have guessed."));
  replace(host, parts);
}

// What a key means, as a function of the actions; null for other keys.
export function actionOfKey(event, state) {
  const { actions, record } = state;
  const point = event.target.closest?.(".point");
  if (point && state.editable) {
    const row = Number(point.dataset.row);
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (moves[event.key]) return () => actions.nudge(row, moves[event.key], event.shiftKey);
    if (event.key === "Delete" || event.key === "Backspace") return () => actions.removePoint(row);
  }
  const inField = event.target.closest?.("input, select, textarea, pre, .scroll, dialog[open], summary");
  if (event.ctrlKey || event.metaKey || event.altKey || (inField && event.key !== "Escape")) return null;
  const isButton = event.target.closest?.("button, a");
  const table = {
    ArrowRight: () => (event.shiftKey ? actions.jump(1) : actions.step(1)),
    ArrowLeft: () => (event.shiftKey ? actions.jump(-1) : actions.step(-1)),
    Home: () => actions.goTo(-1),
    End: () => actions.goTo(lastEvent(record)),
    " ": isButton ? null : actions.togglePlay,
    "[": () => actions.faster(-1),
    "]": () => actions.faster(1),
    "+": () => (state.guessing !== null && state.guessing !== undefined ? actions.guess(1) : actions.set({ next: 1 })),
    "-": () => (state.guessing !== null && state.guessing !== undefined ? actions.guess(-1) : actions.set({ next: -1 })),
    "?": actions.help,
  };
  return table[event.key] ?? null;
}

const KEYS = [["→ ←", "one example forward, back"], ["Shift → ←", "next, previous mistake"], ["Home End", "to the start, to the end"], ["Space", "play, pause"], ["[ ]", "slower, faster"], ["+ −", "label of the next point, or your guess"], ["arrows on a point", "move it; with Shift ten times as far"], ["Del on a point", "remove it"], ["?", "this help"]];

export function drawHelp(dialog) {
  replace(dialog, h("h2", { id: "help-title" }, "Keys"), h("table", {}, h("tbody", {}, KEYS.map(([key, words]) => h("tr", {}, h("th", { scope: "row" }, key), h("td", {}, words))))), h("p", {}, "Everything that can be dragged can also be typed in the table of points. ", `Speeds: ${SPEEDS.map(([n]) => n || "at once").join(", ")}. Coordinates are shown with four digits, e.g. ${num(2 / 3)}.`), button("Close", () => dialog.close()));
}
