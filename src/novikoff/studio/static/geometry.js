// Half-planes, polygons and contour lines.

// The part of a polygon where w.x + b >= 0.
export function clipHalfPlane(polygon, [w1, w2], b) {
  const kept = [];
  polygon.forEach((p, i) => {
    const q = polygon[(i + 1) % polygon.length];
    const [f, g] = [p, q].map((c) => w1 * c[0] + w2 * c[1] + b);
    if (f >= 0) kept.push(p);
    if (f >= 0 !== g >= 0) kept.push([0, 1].map((axis) => p[axis] + (f / (f - g)) * (q[axis] - p[axis])));
  });
  return kept.length > 2 ? kept : [];
}

// Segments, in units of the grid, on which values on an n x n grid (row by row, upwards) reach a level.
export function contourLines(values, n, level) {
  const segments = [];
  const at = (x, y) => values[y * n + x] - level;
  for (let y = 0; y < n - 1; y++) {
    for (let x = 0; x < n - 1; x++) {
      const corners = [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1]];
      const cuts = [];
      corners.forEach(([px, py], i) => {
        const [qx, qy] = corners[(i + 1) % 4];
        const [f, g] = [at(px, py), at(qx, qy)];
        if (f < 0 !== g < 0) cuts.push([px + (f / (f - g)) * (qx - px), py + (f / (f - g)) * (qy - py)]);
      });
      for (let i = 0; i + 1 < cuts.length; i += 2) segments.push([cuts[i], cuts[i + 1]]);
    }
  }
  return segments;
}

// A number of the form 1, 2 or 5 times a power of ten, so that about n of them make the range.
export function niceStep(range, n) {
  const rough = range / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
}
