// The page: what its controls do, and how it starts.

import { actionOfKey, drawHelp, SPEEDS } from "./controls.js";
import { byId, h, prefersStill, replace } from "./dom.js";
import { draw, drawPlane, plane } from "./drawing.js";
import { showFileView } from "./file_view.js";
import { turn } from "./plane.js";
import { stepWords } from "./proof_panels.js";
import { lastEvent, nextMistake } from "./record.js";
import { fetchLesson, fetchScene, listScenes, makeRecord } from "./server.js";
import { decodeState } from "./share.js";
import { embedded, OWN, query, say, state, summary, view } from "./state.js";

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
    const { x, y, side } = plane.view;
    const point = at ?? [x + side / 2, y + side / 2].map((v) => Number(v.toPrecision(3)));
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
  visit,
  openLessonStep,
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
