// Questions that are answered by two runs side by side.

import { button, count, h, num, plural } from "./dom.js";
import { Plane } from "./plane.js";
import { lastEvent } from "./record.js";

const verdictOf = ({ verdict }) => (verdict === null ? "no verdict" : verdict.separable ? "separable" : "not separable");
const runOf = ({ run }) => `${plural(run.mistakes, "mistake")}, ${run.converged ? `stopped after ${plural(run.passes, "pass", "passes")}` : "not stopped"}`;

async function pair(labels, records, answer) {
  return { runs: records.map((record, i) => ({ label: labels[i], record })), answer };
}

const linear = (settings, changes) => ({ ...settings, kernel: "linear", hypothesis: settings.hypothesis, ...changes });

export const COMPARISONS = [
  {
    question: "Why a bias?",
    async run(record, make) {
      const both = await Promise.all([false, true].map((fit) => make(record.points, linear(record.settings, { fit_intercept: fit }))));
      const [without, having] = both.map((each) => Boolean(each.verdict?.separable));
      const answer = having && !without ? "Only a line that may leave the origin separates these points: the bias is needed." : having ? "These points can be separated through the origin, too; the bias only widens the choice." : "Not even a bias helps here: no line separates these points.";
      return pair(["without a bias", "with a bias"], both, answer);
    },
  },
  {
    question: "Why did it not stop?",
    async run(record, make) {
      const both = await Promise.all([10, 100].map((passes) => make(record.points, { ...record.settings, passes })));
      const separable = record.verdict?.separable;
      const answer = separable ? `It does stop: the points are separable, so it makes at most ${record.bound ? count(record.bound.mistakes) : "a finite number of"} mistakes.` : `The witness forbids it: every pass must err on one of points ${(record.verdict?.rows ?? []).map((row) => row + 1).join(", ")}, whatever w is. The certified margin ‖w‖/k falls, ${both.map((each) => num(each.events?.margin.at(-1))).join(" then ")}.`;
      return pair(["10 passes", "100 passes"], both, answer);
    },
  },
  {
    question: "How bad can the order make it?",
    async run(record, make) {
      const orders = ["given", "worst"];
      const both = await Promise.all(orders.map((order) => make(record.points, { ...record.settings, order })));
      const bound = record.verdict?.separable && record.bound ? ` No order can make it more than ${count(record.bound.mistakes)}.` : " No bound over many passes holds: the points are not separable.";
      return pair(["as given", "worst first"], both, `${both.map(({ run }) => plural(run.mistakes, "mistake")).join(" against ")}.${bound}`);
    },
  },
  {
    question: "What if I scale by 100?",
    async run(record, make) {
      const scaled = record.points.map(([x1, x2, y]) => [100 * x1, 100 * x2, y]);
      const both = await Promise.all([record.points, scaled].map((points) => make(points, record.settings)));
      const same = both[0].run.mistakes === both[1].run.mistakes;
      const answer = record.settings.fit_intercept && record.settings.kernel === "linear" ? "With a bias the constant coordinate stays 1 while all others grow: another problem, with another margin and radius." : same ? "Nothing changes: every score is multiplied by a positive number." : "Here the scale matters.";
      return pair(["× 1", "× 100"], both, answer);
    },
  },
  {
    question: "Does it overfit?",
    async run(record, make) {
      const [seen, unseen] = [0, 1].map((rest) => record.points.filter((_, i) => i % 2 === rest));
      const settings = { ...linear(record.settings, {}), kernel: "linear" };
      const both = await Promise.all(["last", "averaged"].map((hypothesis) => make(seen, { ...settings, hypothesis })));
      const wrong = (each, name, points) => points.filter(([x1, x2, y]) => {
        const i = lastEvent(each);
        const [w, b] = name === "last" ? [each.events.w[i], each.events.b[i]] : [each.events.mean_w[i], each.events.mean_b[i]];
        return (w[0] * x1 + w[1] * x2 + b >= 0 ? 1 : -1) !== y;
      }).length;
      const words = ["last", "averaged"].map((name, i) => `${name}: ${wrong(both[i], name, seen)} of ${seen.length} wrong among the points it learned from, ${wrong(both[i], name, unseen)} of ${unseen.length} among the others`);
      return pair(["last", "averaged"], both, `Learned from every second point. ${words.join("; ")}.`);
    },
  },
];

export function drawComparison({ runs, answer }, close) {
  const still = { isEditable: () => false, state: () => null };
  return h("section", { class: "comparison card", id: "comparison", "aria-label": "Two runs side by side" },
    h("p", { class: "answer", id: "answer" }, answer),
    h("div", { class: "pair" }, runs.map(({ label, record }) => {
      const mini = new Plane(still);
      mini.hover = () => {};
      mini.draw({ record, at: lastEvent(record), hypothesis: record.settings.hypothesis === "averaged" ? "averaged" : "last", editable: false });
      return h("figure", {}, h("figcaption", {}, h("strong", {}, label), `: ${verdictOf(record)}; ${record.run ? runOf(record) : "no points"}`), mini.svg);
    })),
    button("Close", close, { "data-key": "close-comparison" }));
}
