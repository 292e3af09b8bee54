// Reads records: the weights after an event, the survivors of a run, scores on a grid. Nothing is learned here.

const START = { w: [0, 0], b: 0 };

// The weights after the event `at`, or before the first for -1, by which the hypothesis answers.
export function weightsAt(record, at, hypothesis) {
  const events = record.events;
  if (!events || !events.w || at < 0) return START;
  if (hypothesis === "averaged") return { w: events.mean_w[at], b: events.mean_b[at] };
  if (hypothesis === "pocket") return { w: events.pocket_w[at], b: events.pocket_b[at] };
  return { w: events.w[at], b: events.b[at] };
}

export const lastEvent = (record) => (record.events ? record.events.t.length - 1 : -1);

export function nextMistake(record, at, direction) {
  const { mistake } = record.events;
  for (let i = at + direction; i >= 0 && i < mistake.length; i += direction) if (mistake[i]) return i;
  return direction > 0 ? mistake.length - 1 : -1;
}

// The weight vectors of a run up to an event, each with the number of examples it survived.
export function survivors(record, at) {
  const events = record.events;
  const found = [{ w: START.w, b: 0, from: 0, survived: 0 }];
  for (let i = 0; i <= at; i++) {
    if (events.step[i]) {
      found.at(-1).survived = events.t[i] - 1 - found.at(-1).from;
      found.push({ w: events.w[i], b: events.b[i], from: events.t[i] - 1, survived: 0 });
    }
  }
  found.at(-1).survived = (at >= 0 ? events.t[at] : 0) - found.at(-1).from;
  return found.filter((each) => each.survived > 0);
}

// The sum of steps on each row up to an event; of a thinned record that of the whole run.
export function alphaAt(record, at) {
  if (!record.run.is_complete) return record.alpha;
  const alpha = record.points.map(() => 0);
  for (let i = 0; i <= at; i++) alpha[record.events.row[i]] += record.events.step[i];
  return alpha;
}

// f = sum alpha_i y_i K(x_i, .) on the grid of the record.
export function kernelScores(record, at) {
  const { rows, values, n } = record.fields;
  const alpha = alphaAt(record, at);
  if (!alpha.some(Boolean)) return null;
  const scores = new Array(n * n).fill(0);
  rows.forEach((row, k) => {
    const factor = alpha[row] * record.points[row][2];
    if (factor) for (let i = 0; i < scores.length; i++) scores[i] += factor * values[k][i];
  });
  return scores;
}

// Runs of cells of one sign, as [x, y, width, isPositive].
export function cellsOf(values, n) {
  const cells = [];
  for (let y = 0; y < n; y++) {
    let start = 0;
    for (let x = 1; x <= n; x++) {
      const positive = values[y * n + start] > 0;
      if (x === n || values[y * n + x] > 0 !== positive) {
        cells.push([start, y, x - start, positive]);
        start = x;
      }
    }
  }
  return cells;
}
