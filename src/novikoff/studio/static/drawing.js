// Draws the page from its state, anew after each change.

import { COMPARISONS, drawComparison } from "./compare.js";
import { drawSettings, drawTools, drawTransport } from "./controls.js";
import { button, byId, h, replace } from "./dom.js";
import { drawDescent, drawReproduce, drawTable, drawTeachers, drawVotes, drawWeights } from "./more_panels.js";
import { Plane } from "./plane.js";
import { drawAcross, drawLedger, drawProof, drawSqueeze, stepWords } from "./proof_panels.js";
import { savePng, saveRecord, saveSvg } from "./save.js";
import { makePage, makeRecord } from "./server.js";
import { encodeState, stateOf } from "./share.js";
import { OWN, say, state, view } from "./state.js";
import { drawVerdict } from "./verdict.js";

const PANELS = {
  squeeze: ["The squeeze", drawSqueeze],
  proof: ["The proof, line by line", drawProof],
  ledger: ["Ledger", drawLedger],
  across: ["As the gap closes", drawAcross],
  weights: ["Weight space", drawWeights],
  votes: ["Votes", drawVotes],
  teachers: ["Which points taught it", drawTeachers],
  descent: ["Descent on a loss", drawDescent],
  points: ["Points", drawTable],
  reproduce: ["The same in Python", drawReproduce],
};

export const plane = new Plane({ isEditable: () => state.editable, addPoint: (point) => state.actions.addPoint(point), movePoint: (...given) => state.actions.movePoint(...given), endMove: (row) => byId("plane").querySelector(`[data-row="${row}"]`)?.focus(), state: () => state });

export function drawPlane(shown) {
  const key = document.activeElement?.closest?.(".point")?.dataset.row;
  plane.draw({ ...shown, hypothesis: view().hypothesis });
  if (key !== undefined) plane.svg.querySelector(`[data-row="${key}"]`)?.focus({ preventScroll: true });
}

export function draw() {
  if (!state.record) return;
  drawPlane(view());
  const now = view();
  const isHidden = (name) => state.hide.has(name);
  drawPlaces();
  drawIntro();
  if (!isHidden("transport")) drawTransport(byId("transport"), now);
  if (!isHidden("tools") && !state.isEmbed) drawTools(byId("tools"), now);
  if (!isHidden("verdict")) replace(byId("verdict"), state.awaitsAnswer ? [h("p", {}, state.bundle.scene.question), button("It will stop", () => state.actions.answer(true), { "data-key": "yes" }), " ", button("It will never stop", () => state.actions.answer(false), { "data-key": "no" })] : drawVerdict(now));
  if (!isHidden("step")) replace(byId("step"), h("h2", {}, "This example"), stepWords(now).map((text) => h("p", {}, text)));
  if (!isHidden("settings") && !state.isEmbed) drawSettings(byId("settings"), now);
  if (!isHidden("panels")) drawPanels(now);
}

function drawPlaces() {
  const { bundle, scenes } = state;
  const parts = [];
  if (scenes.length && !state.isEmbed) {
    parts.push(h("label", {}, h("span", { class: "unseen" }, "Scene"), h("select", { id: "scene", "data-key": "scene", onchange: (event) => state.actions.visit(event.target.value) }, [...scenes, ...(state.isOwn ? [OWN] : [])].map(({ name, title }) => h("option", { value: name, selected: name === bundle.scene.name }, title)))));
  }
  replace(byId("places"), parts);
  if (state.isEmbed) return;
  const save = h("details", { class: "menu" }, h("summary", { "data-key": "save" }, "Save"), h("div", {}, saveButtons()));
  replace(byId("actions"), state.live ? button("Share", share, { id: "share", "data-key": "share" }) : null, save, button("?", state.actions.help, { "aria-label": "Help: keys", "data-key": "help" }));
}

function saveButtons() {
  const name = `novikoff-${state.bundle.scene.name}`;
  const found = [
    button("Picture (SVG)", () => saveSvg(plane.svg, name)),
    button("Picture (PNG)", () => savePng(plane.svg, name)),
    button("Record (JSON)", () => saveRecord(state.record, name)),
  ];
  if (state.live) {
    found.push(button("Page (HTML)", async () => {
      const request = state.isOwn ? { points: state.record.points, settings: state.record.settings } : { scene: state.bundle.scene.name };
      try {
        const url = URL.createObjectURL(await makePage(request));
        h("a", { href: url, download: `${name}.html` }).click();
      } catch (error) {
        state.actions.set({ error: error.message });
      }
    }, { id: "save-page" }));
  }
  return found;
}

async function share() {
  const fragment = await encodeState(stateOf(state));
  history.replaceState(null, "", `#${fragment}`);
  await navigator.clipboard?.writeText(location.href).catch(() => {});
  say("The address of this page now holds what it shows, and was copied.");
  byId("share").textContent = "Link is in the address bar";
}

function drawIntro() {
  const { bundle, variant, error, lesson } = state;
  const parts = [];
  if (lesson) parts.push(drawLesson());
  parts.push(h("h1", {}, bundle.scene.title));
  if (error) parts.push(h("p", { class: "error", role: "alert" }, error));
  parts.push(h("p", { class: "text" }, lesson?.steps[lesson.at].text || bundle.scene.text));
  if (bundle.variants.length > 1) {
    parts.push(h("div", { class: "variants", role: "group", "aria-label": "Variants" }, bundle.variants.map(({ label }, i) => button(label, () => state.actions.chooseVariant(i), { "aria-pressed": String(i === variant), "data-key": `variant-${i}` }))));
  }
  if (state.live && !state.isEmbed && state.record.events) parts.push(h("div", { class: "questions", role: "group", "aria-label": "Questions" }, COMPARISONS.map((each) => button(each.question, () => compareWith(each), { "data-key": each.question }))));
  if (state.comparison) parts.push(drawComparison(state.comparison, () => state.actions.set({ comparison: null })));
  replace(byId("intro"), parts);
}

async function compareWith(question) {
  try {
    state.actions.set({ comparison: await question.run(state.record, makeRecord), error: "" });
    say(state.comparison.answer);
  } catch (error) {
    state.actions.set({ error: error.message });
  }
}

function drawPanels(now) {
  const usable = Object.entries(PANELS).filter(([name]) => (name !== "across" || state.bundle.scene.axis) && (name !== "descent" || state.record.descent));
  const order = [...state.bundle.scene.panels, ...Object.keys(PANELS)];
  usable.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  replace(byId("panels"), usable.map(([name, [title, render]]) => h("details", { class: "panel", id: `panel-${name}`, open: state.open.has(name), ontoggle: (event) => togglePanel(name, event.target.open) }, h("summary", { "data-key": `panel-${name}` }, h("h2", {}, title)), state.open.has(name) ? h("div", { class: "inside" }, render(now)) : null)));
}

function togglePanel(name, isOpen) {
  if (state.open.has(name) === isOpen) return;
  state.open[isOpen ? "add" : "delete"](name);
  draw();
}

function drawLesson() {
  const { lesson } = state;
  const step = lesson.steps[lesson.at];
  const go = (at) => state.actions.openLessonStep(at);
  return h("div", { class: "lesson", id: "lesson" },
    h("p", { class: "brand" }, `${lesson.title}, ${lesson.at + 1} of ${lesson.steps.length}`),
    step.question ? h("p", { class: "question" }, step.question) : null,
    h("p", {}, button("← Back", () => go(lesson.at - 1), { disabled: lesson.at === 0, "data-key": "lesson-back" }), " ", button("Next →", () => go(lesson.at + 1), { disabled: lesson.at === lesson.steps.length - 1, "data-key": "lesson-next" })));
}
