// The state of the page, and what is said about it.

import { byId } from "./dom.js";
import { viewOf } from "./plane.js";

export const OWN = { name: "own", title: "Your points", text: "Click in the plane to draw points; drag them, or edit the table. The verdict and the run follow.", panels: ["verdict", "points", "squeeze", "ledger", "reproduce"], axis: "", question: "Will the perceptron stop making mistakes?" };

export const query = new URLSearchParams(location.search);
export const embedded = byId("bundle") ? JSON.parse(byId("bundle").textContent) : null;
export const state = {
  bundle: null, variant: 0, record: null, at: -1, between: null, playing: false, speed: 2, next: 1,
  live: !embedded, editable: false, isOwn: false, isEmbed: query.get("embed") === "1", hide: new Set((query.get("hide") ?? "").split(",").filter(Boolean)),
  guessFirst: false, guessing: null, guesses: { right: 0, total: 0, machine: 0 }, hidden: false, awaitsAnswer: false, comparison: null, error: "", scenes: [], lesson: null, open: new Set(),
};

export const view = () => ({ ...state, hypothesis: state.record.settings.hypothesis === "voted" ? "last" : state.record.settings.hypothesis, view: viewOf(state.record) });

let saying = 0;
export function say(text) {
  clearTimeout(saying);
  saying = setTimeout(() => (byId("live").textContent = text), 80);
}

export function summary() {
  const { verdict, run } = state.record;
  if (!verdict) return "Both labels are needed for a verdict.";
  return `${verdict.separable ? "Separable" : "Not separable"}. ${run.mistakes} mistakes in ${run.passes} passes${run.converged ? "" : ", and it has not stopped"}.`;
}
