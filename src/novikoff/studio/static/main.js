// The page: one state, drawn anew after each change.

import { COMPARISONS, drawComparison } from "./compare.js";
import { actionOfKey, drawHelp, drawSettings, drawTools, drawTransport, SPEEDS } from "./controls.js";
import { button, byId, h, prefersStill, replace } from "./dom.js";
import { showFileView } from "./file_view.js";
import { drawDescent, drawReproduce, drawTable, drawTeachers, drawVotes, drawWeights } from "./more_panels.js";
import { Plane, turn, viewOf } from "./plane.js";
import { drawAcross, drawLedger, drawProof, drawSqueeze, stepWords } from "./proof_panels.js";
import { lastEvent, nextMistake } from "./record.js";
import { savePng, saveRecord, saveSvg } from "./save.js";
import { fetchLesson, fetchScene, listScenes, makePage, makeRecord } from "./server.js";
import { decodeState, encodeState, stateOf } from "./share.js";
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
const OWN = { name: "own", title: "Your points", text: "Click in the plane to draw points; drag them, or edit the table. The verdict and the run follow.", panels: ["verdict", "points", "squeeze", "ledger", "reproduce"], axis: "", question: "Will the perceptron stop making mistakes?" };

const query = new URLSearchParams(location.search);
const embedded = byId("bundle") ? JSON.parse(byId("bundle").textContent) : null;
const state = {
  bundle: null, variant: 0, record: null, at: -1, between: null, playing: false, speed: 2, next: 1,
  live: !embedded, editable: false, isOwn: false, isEmbed: query.get("embed") === "1", hide: new Set((query.get("hide") ?? "").split(",").filter(Boolean)),
  guessFirst: false, guessing: null, guesses: { right: 0, total: 0, machine: 0 }, hidden: false, awaitsAnswer: false, comparison: null, error: "", scenes: [], lesson: null, open: new Set(),
};
const plane = new Plane({ isEditable: () => state.editable, addPoint: (point) => actions.addPoint(point), movePoint: (...given) => actions.movePoint(...given), endMove: (row) => byId("plane").querySelector(`[data-row="${row}"]`)?.focus(), state: () => state });

const actions = {
  set(changes) {
    Object.assign(state, changes);
    draw();
  },
  goTo(at) {
    stop();
    state.guessing = null;
    show(Math.max(-1, Math.min(lastEvent(state.record), at)));
  },
  step(direction) {
    const target = state.at + direction;
    if (target < -1 || target > lastEvent(state.record)) return;
    stop();
    if (direction > 0 && state.guessFirst) return ask(target);
    advance(target);
  },
  jump(direction) {
    if (state.record.events) actions.goTo(nextMistake(state.record, state.at, direction));
  },
  togglePlay() {
    if (state.playing) return actions.goTo(state.at);
    if (state.at >= lastEvent(state.record)) state.at = -1;
    state.playing = true;
    draw();
    play();
  },
  faster(by) {
    const at = SPEEDS.findIndex(([value]) => value === state.speed);
    actions.set({ speed: SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at + by))][0] });
    say(`Speed ${SPEEDS.find(([value]) => value === state.speed)[1]}.`);
  },
  chooseVariant(index) {
    stop();
    choose(index);
    draw();
    say(summary());
  },
  change(changes) {
    const settings = { ...state.record.settings, ...changes };
    if (settings.kernel !== "linear") {
      settings.rule = "perceptron";
      if (settings.hypothesis === "pocket") settings.hypothesis = "averaged";
    }
    compute(state.record.points, settings);
  },
  addPoint(at) {
    const view = viewOf(state.record);
    const point = at ?? [view.x + view.side / 2, view.y + view.side / 2].map((v) => Number(v.toPrecision(3)));
    compute([...state.record.points, [...point, state.next]], state.record.settings);
  },
  movePoint(row, [x1, x2]) {
    compute(state.record.points.map((point, i) => (i === row ? [x1, x2, point[2]] : point)), state.record.settings);
  },
  nudge(row, [dx, dy], isFar) {
    const step = (plane.view.side / 120) * (isFar ? 10 : 1);
    const [x1, x2] = state.record.points[row];
    actions.movePoint(row, plane.snap([x1 + dx * step, x2 + dy * step]));
  },
  removePoint(row) {
    compute(state.record.points.filter((_, i) => i !== row), state.record.settings);
  },
  clearPoints: () => compute([], state.record.settings),
  setCell(row, column, text) {
    const value = Number(text);
    if (text === "" || !Number.isFinite(value)) return actions.set({ error: `${text || "nothing"} is no number.` });
    compute(state.record.points.map((point, i) => (i === row ? point.map((old, j) => (j === column ? value : old)) : point)), state.record.settings);
  },
  setGuessFirst(on) {
    Object.assign(state, { guessFirst: on, guessing: null, guesses: { right: 0, total: 0, machine: 0 }, hidden: on, awaitsAnswer: on });
    if (on) state.at = -1;
    draw();
  },
  guess(label) {
    const at = state.at + 1;
    const { row, guess } = state.record.events;
    const truth = state.record.points[row[at]][2];
    const { right, total, machine } = state.guesses;
    state.guesses = { right: right + (label === truth), total: total + 1, machine: machine + (guess[at] === truth) };
    state.guessing = null;
    say(label === truth ? "Right." : "Wrong.");
    advance(at);
  },
  answer(willStop) {
    const right = willStop === state.record.run.converged;
    Object.assign(state, { hidden: false, awaitsAnswer: false });
    draw();
    say(`${right ? "Right" : "No"}: ${summary()}`);
  },
  help: () => byId("help").showModal(),
};
state.actions = actions;

function ask(target) {
  state.guessing = state.record.events.row[target];
  draw();
  say(`Point ${state.guessing + 1}: plus or minus?`);
}

function advance(target) {
  const from = state.at;
  const turns = state.record.events.step[Math.max(target, from)] && state.record.settings.hypothesis === "last";
  show(target);
  if (!turns) return;
  const isStill = () => state.at === target && !state.playing;
  turn(state.record, from, target, (between) => isStill() && drawPlane({ ...view(), between }), () => isStill() && drawPlane(view()));
}

function show(at) {
  state.at = at;
  draw();
  if (!state.playing) say(stepWords(view()).join(" "));
}

let timer = 0;
function stop() {
  clearTimeout(timer);
  state.playing = false;
}

function play() {
  const last = lastEvent(state.record);
  if (!state.playing) return;
  if (state.speed === 0 || state.at >= last) {
    stop();
    return show(last);
  }
  // Above 20 per second several examples share a frame.
  const hop = state.speed > 20 ? Math.round(state.speed / 20) : 1;
  if (state.at + hop >= last) stop();
  show(Math.min(last, state.at + hop));
  if (state.playing) timer = setTimeout(play, (1000 * hop) / state.speed);
}

// One request at a time, and after it only the newest of those that were wanted meanwhile.
let wanted = null;
let isComputing = false;
async function compute(points, settings) {
  stop();
  if (!state.live) return;
  wanted = { points, settings };
  adopt({ ...state.record, points });
  if (isComputing) return;
  isComputing = true;
  while (wanted) {
    const request = wanted;
    wanted = null;
    try {
      const record = await makeRecord(request.points, request.settings);
      if (!wanted) adopt(record, true);
    } catch (error) {
      if (!wanted) actions.set({ error: error.message, record: state.known });
    }
  }
  isComputing = false;
}

// Shows another record of the user's own; while it is computed only its points are new.
function adopt(record, isComplete = false) {
  if (!state.isOwn) Object.assign(state, { isOwn: true, bundle: { scene: OWN, variants: [{ label: "your points", parameter: null, record }] }, variant: 0 });
  Object.assign(state, { error: "", comparison: null });
  if (!isComplete) {
    drawPlane({ ...view(), record, hidden: true, at: -1, between: state.at >= 0 && state.record.events?.w ? { w: state.record.events.w[state.at], b: state.record.events.b[state.at] } : undefined });
    state.record = record.points.length === state.record.points.length ? { ...state.record, points: record.points } : { ...state.record, points: record.points, events: null, run: null, verdict: null, bound: null };
    return;
  }
  Object.assign(state, { record, known: record });
  state.bundle.variants[0].record = record;
  state.at = lastEvent(record);
  draw();
  say(summary());
}

function summary() {
  const { verdict, run } = state.record;
  if (!verdict) return "Both labels are needed for a verdict.";
  return `${verdict.separable ? "Separable" : "Not separable"}. ${run.mistakes} mistakes in ${run.passes} passes${run.converged ? "" : ", and it has not stopped"}.`;
}

function choose(index) {
  state.variant = index;
  state.record = state.known = state.bundle.variants[index].record;
  Object.assign(state, { at: lastEvent(state.record), guessing: null, comparison: null, descentShare: 1, hidden: state.guessFirst, awaitsAnswer: state.guessFirst });
}

function openBundle(bundle, index = 0, at = null) {
  stop();
  Object.assign(state, { bundle, isOwn: false, error: "", editable: state.live });
  choose(Math.min(index, bundle.variants.length - 1));
  if (Number.isInteger(at)) state.at = Math.max(-1, Math.min(lastEvent(state.record), at));
  state.open = new Set(bundle.scene.panels);
  document.title = `${bundle.scene.title} · novikoff studio`;
  draw();
}

const view = () => ({ ...state, hypothesis: state.record.settings.hypothesis === "voted" ? "last" : state.record.settings.hypothesis, view: plane.view });

let saying = 0;
function say(text) {
  clearTimeout(saying);
  saying = setTimeout(() => (byId("live").textContent = text), 80);
}

function drawPlane(shown) {
  const key = document.activeElement?.closest?.(".point")?.dataset.row;
  plane.draw({ ...shown, hypothesis: view().hypothesis });
  if (key !== undefined) plane.svg.querySelector(`[data-row="${key}"]`)?.focus({ preventScroll: true });
}

function draw() {
  if (!state.record) return;
  drawPlane(view());
  const now = view();
  const isHidden = (name) => state.hide.has(name);
  drawPlaces();
  drawIntro();
  if (!isHidden("transport")) drawTransport(byId("transport"), now);
  if (!isHidden("tools") && !state.isEmbed) drawTools(byId("tools"), now);
  if (!isHidden("verdict")) replace(byId("verdict"), state.awaitsAnswer ? [h("p", {}, state.bundle.scene.question), button("It will stop", () => actions.answer(true), { "data-key": "yes" }), " ", button("It will never stop", () => actions.answer(false), { "data-key": "no" })] : drawVerdict(now));
  if (!isHidden("step")) replace(byId("step"), h("h2", {}, "This example"), stepWords(now).map((text) => h("p", {}, text)));
  if (!isHidden("settings") && !state.isEmbed) drawSettings(byId("settings"), now);
  if (!isHidden("panels")) drawPanels(now);
}

function drawPlaces() {
  const { bundle, scenes } = state;
  const parts = [];
  if (scenes.length && !state.isEmbed) {
    parts.push(h("label", {}, h("span", { class: "unseen" }, "Scene"), h("select", { id: "scene", "data-key": "scene", onchange: (event) => visit(event.target.value) }, [...scenes, ...(state.isOwn ? [OWN] : [])].map(({ name, title }) => h("option", { value: name, selected: name === bundle.scene.name }, title)))));
  }
  replace(byId("places"), parts);
  if (state.isEmbed) return;
  const save = h("details", { class: "menu" }, h("summary", { "data-key": "save" }, "Save"), h("div", {}, saveButtons()));
  replace(byId("actions"), state.live ? button("Share", share, { id: "share", "data-key": "share" }) : null, save, button("?", actions.help, { "aria-label": "Help: keys", "data-key": "help" }));
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
        actions.set({ error: error.message });
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
    parts.push(h("div", { class: "variants", role: "group", "aria-label": "Variants" }, bundle.variants.map(({ label }, i) => button(label, () => actions.chooseVariant(i), { "aria-pressed": String(i === variant), "data-key": `variant-${i}` }))));
  }
  if (state.live && !state.isEmbed && state.record.events) parts.push(h("div", { class: "questions", role: "group", "aria-label": "Questions" }, COMPARISONS.map((each) => button(each.question, () => compareWith(each), { "data-key": each.question }))));
  if (state.comparison) parts.push(drawComparison(state.comparison, () => actions.set({ comparison: null })));
  replace(byId("intro"), parts);
}

async function compareWith(question) {
  try {
    actions.set({ comparison: await question.run(state.record, makeRecord), error: "" });
    say(state.comparison.answer);
  } catch (error) {
    actions.set({ error: error.message });
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
  const go = (at) => openLessonStep(at);
  return h("div", { class: "lesson", id: "lesson" },
    h("p", { class: "brand" }, `${lesson.title}, ${lesson.at + 1} of ${lesson.steps.length}`),
    step.question ? h("p", { class: "question" }, step.question) : null,
    h("p", {}, button("← Back", () => go(lesson.at - 1), { disabled: lesson.at === 0, "data-key": "lesson-back" }), " ", button("Next →", () => go(lesson.at + 1), { disabled: lesson.at === lesson.steps.length - 1, "data-key": "lesson-next" })));
}

async function openLessonStep(at) {
  state.lesson.at = at;
  const { scene, variant } = state.lesson.steps[at];
  openBundle(await fetchScene(scene), variant ?? 0);
}

async function visit(name) {
  try {
    openBundle(await fetchScene(name));
    history.replaceState(null, "", `?scene=${encodeURIComponent(name)}`);
  } catch (error) {
    actions.set({ error: error.message });
  }
}

async function openShared(shared) {
  if (shared.s) return openBundle(await fetchScene(shared.s), shared.i ?? 0, shared.at);
  const record = await makeRecord(shared.p, shared.c);
  openBundle({ scene: OWN, variants: [{ label: "your points", parameter: null, record }] }, 0, shared.at);
  state.isOwn = true;
  draw();
}

async function start() {
  document.documentElement.classList.toggle("embed", state.isEmbed);
  for (const name of state.hide) document.documentElement.classList.add(`hide-${name}`);
  if (prefersStill()) document.documentElement.classList.add("still");
  byId("plane").append(plane.svg);
  drawHelp(byId("help"));
  document.addEventListener("keydown", (event) => {
    if (!state.record || byId("help").open) return;
    const act = actionOfKey(event, state);
    if (!act) return;
    event.preventDefault();
    act();
  });
  if (embedded) return openBundle(embedded, 0);
  const waiting = setTimeout(() => replace(byId("intro"), h("p", { class: "text", role: "status" }, "Getting ready. The first time on a machine this compiles the learner's loops, which takes up to a minute.")), 700);
  try {
    const [scenes, lesson, shared] = await Promise.all([listScenes(), fetchLesson(), decodeState(location.hash).catch((error) => error)]);
    state.scenes = scenes;
    if (lesson) {
      state.lesson = { ...lesson, at: 0 };
      await openLessonStep(0);
    } else if (shared && !(shared instanceof Error)) {
      await openShared(shared);
    } else {
      openBundle(await fetchScene(query.get("scene") ?? "cmu"));
    }
    if (shared instanceof Error) actions.set({ error: shared.message });
  } catch (error) {
    replace(byId("intro"), h("h1", {}, "novikoff studio"), h("p", { class: "error", role: "alert" }, error.message), h("p", {}, state.scenes.map(({ name, title }) => h("a", { href: `?scene=${name}` }, title, " "))));
  }
  clearTimeout(waiting);
  if (!state.isEmbed) showFileView(byId("file"));
}

start();
