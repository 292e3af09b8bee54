// The verdict in words, its proof written out, and what this page found when it checked it.

import { count, h, num, plural, sign } from "./dom.js";
import { checkCertificate } from "./exact.js";

const short = (text) => (text.length > 9 ? `${text[0]}.${text.slice(1, 4)}·10${[...String(text.length - 1)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]).join("")}` : text);

export function drawVerdict({ record }) {
  const { verdict } = record;
  if (!verdict) return [h("p", { class: "word none", id: "verdict-word" }, "NO QUESTION YET"), h("p", {}, "Both labels are needed: draw a + and a −.")];
  return [
    h("p", { class: `word ${verdict.separable ? "yes" : "no"}`, id: "verdict-word" }, verdict.separable ? "SEPARABLE" : "NOT SEPARABLE"),
    ...(verdict.separable ? separableWords(record) : witnessWords(record)),
    drawCheck(record),
  ];
}

function drawCheck(record) {
  const { state, why } = checkCertificate(record);
  const words = {
    holds: "✓ Checked again in this page, in exact arithmetic: a third checker, which shares no code with the search or with Python's checker.",
    refused: `✗ REFUSED: this page has checked the certificate, and it does not hold for these points: ${why}.`,
    unchecked: `Checked by Python in exact arithmetic. Not checked in this page: ${why}.`,
  };
  return h("p", { class: `check ${state}`, id: "check", "data-state": state }, words[state]);
}

function separableWords(record) {
  const { verdict, bound, settings, run } = record;
  const space = verdict.in_feature_space ? " in the feature space of the kernel" : settings.fit_intercept ? "" : " through the origin";
  const kind = verdict.in_feature_space ? "A half-space" : "A line";
  const facts = [
    ["margin γ", num(Number(verdict.margin_lower))],
    ["radius R", num(verdict.radius)],
    ["R²", num(verdict.radius ** 2)],
  ];
  if (bound) facts.push([bound.theorem === "novikoff" ? "bound (R/γ)²" : "bound on updates", bound.value < 1e15 ? num(bound.value, 6) : num(bound.value)]);
  if (run) facts.push(["mistakes made", count(run.mistakes)]);
  return [
    h("p", {}, `${kind}${space} has every point on its side. ${verdict.support.length === 1 ? "Point" : "Points"} ${verdict.support.map((row) => row + 1).join(", ")} (ringed) ${verdict.support.length === 1 ? "decides" : "decide"} how wide the band around the best one is.`),
    h("dl", { class: "facts" }, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
  ];
}

function witnessWords(record) {
  const { verdict, points, bound, run } = record;
  const terms = verdict.rows.map((row, at) => ({ row, multiplier: verdict.multipliers[at], point: points[row] }));
  const parts = [h("p", {}, `${plural(terms.length, "ringed point")} prove it: each times its label and its multiplier, they add up to exactly 0. Any w would need a positive product with each of them, hence with their sum, which is 0.`)];
  if (verdict.in_feature_space) {
    parts.push(h("p", { class: "sum" }, terms.map(({ row, multiplier }) => `${short(multiplier)} × point ${row + 1}`).join(" + ")));
  } else {
    const show = ([x1, x2]) => `(${num(x1)}, ${num(x2)}${verdict.constant ? " | 1" : ""})`;
    const body = terms.map(({ row, multiplier, point }) => h("tr", {}, h("td", {}, String(row + 1)), h("td", { title: multiplier }, short(multiplier)), h("td", {}, sign(point[2])), h("td", {}, show(point))));
    parts.push(h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Rows of the witness" }, h("table", { id: "witness" },
      h("thead", {}, h("tr", {}, ["point", "λ", "y", "x"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, body),
      h("tfoot", {}, h("tr", {}, h("th", { scope: "row", colspan: 3 }, "Σ λ·y·x"), h("td", { id: "witness-sum" }, `= (0, 0${verdict.constant ? " | 0" : ""})`))))));
    if (terms.every(({ multiplier }) => multiplier.length < 5)) parts.push(h("p", { class: "sum", id: "sum" }, `${terms.map(({ multiplier, point }, at) => `${point[2] > 0 ? (at ? "+ " : "") : "− "}${multiplier}·${show(point)}`).join(" ")} = (0, 0${verdict.constant ? " | 0" : ""})`));
  }
  const facts = [];
  if (bound) facts.push(["at most, in one pass", plural(bound.mistakes, "mistake")]);
  if (bound?.freund_schapire?.D) facts.push(["deviation D", num(bound.freund_schapire.D)]);
  if (run) facts.push(["mistakes made", count(run.mistakes)]);
  parts.push(h("dl", { class: "facts" }, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))));
  return parts;
}
