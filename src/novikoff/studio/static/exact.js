// Checks certificates in exact arithmetic. Every double is an integer times a power of two; sums and products of such
// numbers are again. Nothing is rounded, and no code is shared with the program that made the certificate.

const BITS = new DataView(new ArrayBuffer(8));

// [n, e] is n * 2^e, with an integer n of any size.
export function exactly(value) {
  if (typeof value === "string") throw new Error(`${value} is no double`);
  if (!Number.isFinite(value)) throw new Error("a number is not finite");
  BITS.setFloat64(0, value);
  const bits = BITS.getBigUint64(0);
  const power = Number((bits >> 52n) & 0x7ffn);
  const mantissa = (bits & 0xfffffffffffffn) | (power ? 1n << 52n : 0n);
  return [bits >> 63n ? -mantissa : mantissa, (power || 1) - 1075];
}

export function add([n, e], [m, f]) {
  return e <= f ? [n + (m << BigInt(f - e)), e] : [(n << BigInt(e - f)) + m, f];
}
export const times = ([n, e], [m, f]) => [n * m, e + f];
const ZERO = [0n, 0];
const sum = (terms) => terms.reduce(add, ZERO);
const signOf = ([n]) => (n > 0n ? 1 : n < 0n ? -1 : 0);
const compare = (a, b) => signOf(add(a, [-b[0], b[1]]));

// A rational p/q as {p, q}, each n * 2^e: doubles, integers as strings, and fractions "p/q".
function rational(value) {
  if (typeof value !== "string") return { p: exactly(value), q: [1n, 0] };
  const [p, q] = value.split("/");
  return { p: [BigInt(p), 0], q: [BigInt(q ?? "1"), 0] };
}

// Integers in the same proportions as some rationals, and the common denominator that was multiplied by.
function proportional(values) {
  const all = values.map(rational);
  const q = all.reduce((product, each) => (each.q[0] === 1n ? product : times(product, each.q)), [1n, 0]);
  return { q, numbers: all.map((each) => (each.q[0] === 1n ? times(each.p, q) : [(each.p[0] * q[0]) / each.q[0], each.p[1] + q[1]])) };
}

const power = (base, n) => (n === 0 ? [1n, 0] : times(base, power(base, n - 1)));

// Inner products of points: in the plane with its constant coordinate, or those of a polynomial kernel.
function products(verdict, settings) {
  const constant = exactly(verdict.constant);
  const dot = (x, z) => sum([times(x[0], z[0]), times(x[1], z[1])]);
  if (!verdict.in_feature_space) return (x, z) => add(dot(x, z), constant);
  if (settings.kernel !== "poly") return null;
  const [gamma, coef0] = [exactly(settings.gamma), exactly(settings.coef0)];
  return (x, z) => power(add(times(gamma, dot(x, z)), coef0), settings.degree);
}

function require(holds, claim) {
  if (!holds) throw new Error(claim);
}

function checkWitness(verdict, rows, labels, inner) {
  const chosen = verdict.rows;
  require(chosen.length > 0 && chosen.length === verdict.multipliers.length, "rows and multipliers do not match");
  require(new Set(chosen).size === chosen.length && chosen.every((row) => rows[row]), "rows are wrong");
  const multipliers = verdict.multipliers.map((text) => [BigInt(text), 0]);
  require(multipliers.every((value) => signOf(value) > 0), "a multiplier is not positive");
  const signed = chosen.map((row, at) => times(multipliers[at], [BigInt(labels[row]), 0]));
  // Zero is the only vector with the squared length 0, in the plane and in feature space.
  const squared = sum(chosen.flatMap((r, i) => chosen.map((q, j) => times(times(signed[i], signed[j]), inner(rows[r], rows[q])))));
  require(signOf(squared) === 0, "the rows do not cancel");
}

function checkSeparator(verdict, rows, labels, inner) {
  const lower = rational(verdict.margin_lower);
  const upper = rational(verdict.margin_upper);
  require(signOf(lower.p) > 0, "the margin is not positive");
  const { numbers } = proportional([...verdict.w, verdict.b]);
  const weights = numbers.slice(0, -1);
  const bias = numbers.at(-1);
  let scores;
  let squared;
  if (verdict.in_feature_space) {
    require(weights.length === rows.length, "there is not one weight for each row");
    const used = rows.map((_, row) => row).filter((row) => signOf(weights[row]));
    scores = rows.map((x) => sum(used.map((row) => times(weights[row], inner(rows[row], x)))));
    squared = sum(used.map((row) => times(weights[row], scores[row])));
  } else {
    require(weights.length === 2, "there are not two weights");
    require(verdict.constant !== 0 || signOf(bias) === 0, "there is a bias without a constant coordinate");
    scores = rows.map((x) => sum([times(weights[0], x[0]), times(weights[1], x[1]), times(bias, exactly(verdict.constant))]));
    squared = sum([...weights, bias].map((value) => times(value, value)));
  }
  const least = times(times(lower.p, lower.p), squared);
  scores.forEach((score, row) => {
    require(signOf(score) === labels[row], `point ${row + 1} is not on its side`);
    require(compare(times(times(score, score), times(lower.q, lower.q)), least) >= 0, `point ${row + 1} is nearer than the margin`);
  });
  checkNearest(verdict, rows, labels, inner, upper);
  const radius = exactly(verdict.radius);
  rows.forEach((x, row) => {
    require(compare(inner(x, x), times(radius, radius)) <= 0, `point ${row + 1} is longer than the radius`);
  });
}

// The point sum multipliers * y * x of the support rows is at most margin_upper from 0: no separator has more.
function checkNearest(verdict, rows, labels, inner, upper) {
  const chosen = verdict.support;
  require(chosen.length > 0 && chosen.length === verdict.multipliers.length && chosen.every((row) => rows[row]), "support rows are wrong");
  const { numbers } = proportional(verdict.multipliers);
  require(numbers.every((value) => signOf(value) >= 0), "a multiplier is negative");
  const total = sum(numbers);
  require(signOf(total) > 0, "all multipliers are 0");
  const signed = chosen.map((row, at) => times(numbers[at], [BigInt(labels[row]), 0]));
  const squared = sum(chosen.flatMap((r, i) => chosen.map((q, j) => times(times(signed[i], signed[j]), inner(rows[r], rows[q])))));
  const most = times(times(upper.p, upper.p), times(total, total));
  require(compare(times(squared, times(upper.q, upper.q)), most) <= 0, "a larger margin may be possible");
}

// {state: "holds" | "refused" | "unchecked", why}
export function checkCertificate(record) {
  const { verdict, points, settings } = record;
  const inner = products(verdict, settings);
  if (!inner) return { state: "unchecked", why: "values of this kernel are not rational numbers" };
  try {
    const rows = points.map(([x1, x2]) => [exactly(x1), exactly(x2)]);
    const labels = points.map((point) => point[2]);
    require(labels.every((label) => label === 1 || label === -1), "a label is wrong");
    (verdict.separable ? checkSeparator : checkWitness)(verdict, rows, labels, inner);
    return { state: "holds", why: "" };
  } catch (error) {
    return { state: "refused", why: error.message };
  }
}
