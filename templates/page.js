// The state of the page, and what a reader does with it: zoom, move, hover, follow,
// compare. page-tools.js has the rest: select, find, link, save.

const byId = (id) => document.getElementById(id);
const canvas = byId("view"), map = byId("map"), tip = byId("tip");
const painter = new Painter(canvas), mapPainter = new Painter(map);
const scene = {
  schedules: [], rows: [], height: 0, view: { from: 0, to: 1, top: 0 },
  microbatch: null, paths: [], critical: false, criticalPaths: [], transfers: false, memory: false, curves: false,
  rankByRank: false, cursor: null, sparse: null, selected: null, told: false, phaseRow: null,
};
let overview = null, asked = false;

// Draws at the next frame, once for all that happened before it.
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    paint();
  });
}

function paint() {
  painter.paint(scene);
  paintMap();
  byId("sparse").hidden = !scene.sparse;
  if (scene.sparse)
    byId("sparse").textContent = `${scene.sparse.drawn} of ${scene.sparse.all} transfers in view are drawn; zoom in to see each`;
}

// The times that there are to see.
function extent() {
  const from = Math.min(...scene.schedules.map((schedule) => schedule.from));
  const to = Math.max(...scene.schedules.map((schedule) => schedule.to));
  return to > from ? [from, to] : [from, from + 1];
}

function setView(from, to, top) {
  const [least, most] = extent();
  const length = Math.min(Math.max(to - from, (most - least) * 1e-7), most - least);
  scene.view.from = Math.min(Math.max(from, least), most - length);
  scene.view.to = scene.view.from + length;
  const room = Math.max(0, scene.height - (painter.height - axisHeight));
  scene.view.top = Math.min(Math.max(top ?? scene.view.top, 0), room);
  redraw();
  noteState();
}

function timeAt(x) {
  const { from, to } = scene.view;
  return from + (x - nameWidth) / (painter.right - nameWidth) * (to - from);
}

function zoom(factor, x = nameWidth + (painter.right - nameWidth) / 2) {
  const at = timeAt(x), { from, to } = scene.view;
  setView(at - (at - from) * factor, at + (to - at) * factor);
}

function move(dx, dy) {
  const perPixel = (scene.view.to - scene.view.from) / (painter.right - nameWidth);
  setView(scene.view.from + dx * perPixel, scene.view.to + dx * perPixel, scene.view.top + dy);
}

function fit() {
  setView(...extent(), 0);
}

// The row and the step under a point of the canvas: {row, index}, index -1
// where the rank is idle, and with `side` of that lane; null outside.
function hit(x, y) {
  if (x < nameWidth || x > painter.right || y < axisHeight) return null;
  const at = y - axisHeight + scene.view.top;
  const r = lowerBound(scene.rows.length, (k) => scene.rows[k].bottom > at);
  const row = scene.rows[r];
  if (!row || row.y > at) return null;
  const time = timeAt(x);
  if (time < row.schedule.from || time > row.schedule.to) return null;
  const k = row.sideY.findIndex((y) => at >= y && at < y + sideHeight), side = row.lane.sides[k];
  const index = side ? sideStepAt(side, time, timeAt(3) - timeAt(0)) : -1;
  if (index >= 0) return { r, row, index, side, time, inMemory: false };
  return { r, row, index: stepAt(row.lane, time), time, inMemory: scene.memory && at >= row.memoryY };
}

// The item that `hit` has found.
const itemOf = ({ row, index, side, time }) => side ? { index, gap: false, side } : itemAt(row.lane, time);

// The micro-batch of an item; null if it has none.
function microbatchOf({ lane, index, gap, side }) {
  const m = gap ? -1 : (side ?? lane).microbatch?.[index] ?? -1;
  return m < 0 ? null : m;
}

function hover(x, y) {
  const found = hit(x, y);
  scene.cursor = x >= nameWidth && x <= painter.right ? x : null;
  scene.phaseRow = found?.row ?? null;
  if (found) showTip({ ...found, ...itemOf(found) }, x, y);
  else tip.hidden = true;
  redraw();
  return found;
}

function follow(microbatch) {
  scene.microbatch = microbatch;
  scene.paths = microbatch === null ? []
    : scene.schedules.map((schedule) => pathOf(scene.rows, schedule, microbatch));
  byId("find").value = microbatch ?? "";
  byId("status").textContent = microbatch === null ? help() : scene.schedules.map((schedule, k) => {
    const path = scene.paths[k];
    const name = scene.schedules.length > 1 ? schedule.letter + ": " : "";
    if (!path.length) return `${name}no micro-batch ${microbatch} here`;
    const ends = path.map(([, steps, i]) => steps.end[i]);
    const [, first, at] = path[0], start = first.start[at];
    return `${name}micro-batch ${microbatch}: ${path.length} steps, time ${timeText(start)} to ${timeText(Math.max(...ends))}`;
  }).join("; ") + " (Escape shows all again)";
  redraw();
  noteState();
}

function help() {
  if (matchMedia("(pointer: coarse)").matches)
    return "Tap a step: what it is; again: follow its micro-batch. Two fingers: zoom. Drag: move.";
  return "Wheel: zoom. Drag: move. Click a step: follow its micro-batch. Keys: + - 0, arrows, / to find, "
    + "Shift and arrows to select, Enter to follow, c, t, m, v, l.";
}

function toggle(name, value = !scene[name]) {
  const button = byId(name === "rankByRank" ? "layout" : name);
  if (button.disabled) return;
  scene[name] = value;
  noteState();
  button.setAttribute("aria-pressed", value);
  if (["memory", "curves", "rankByRank"].includes(name)) arrange();
  else redraw();
}

// Lays the rows out again, after something about them changed.
function arrange() {
  const withPhases = scene.schedules.some((schedule) => schedule.lanes.some((lane) => phasesOf(schedule, lane).length));
  axisHeight = 26 + (withPhases ? phaseHeight : 0);
  const letters = scene.schedules.flatMap((schedule) => schedule.lanes.map((lane) => scene.memory ? peakText(lane).length : 0));
  sideWidth = painter.width < 560 ? 8 : Math.max(68, 16 + Math.ceil(6.5 * letters.reduce((a, b) => Math.max(a, b), 0)));
  scene.phaseRow = null;
  const { rows, height } = layOut(scene, painter.height - axisHeight);
  scene.rows = rows;
  scene.height = height;
  scene.criticalPaths = scene.schedules.map((schedule) => {
    const rowOf = new Map();
    rows.forEach((row, r) => { if (row.schedule === schedule) rowOf.set(row.lane.rank, r); });
    return schedule.critical.filter(([rank]) => rowOf.has(rank))
      .map(([rank, i]) => [rowOf.get(rank), ...stepIn(schedule.lanes[rank], i)]);
  });
  overview = null;
  setView(scene.view.from, scene.view.to);
  follow(scene.microbatch);
  if (scene.told) tellSelected();
}

// The first schedule, for comparison with that of a file.
let ownBlock = null;

// Shows the schedules of `blocks`, JSON as text or as objects.
function show(blocks) {
  ownBlock = blocks[0];
  scene.schedules = blocks.map((text, i) => {
    const schedule = readSchedule(text);
    schedule.letter = String.fromCharCode(65 + i);
    for (const [rank, index] of schedule.critical) {
      const [steps, i] = stepIn(schedule.lanes[rank], index);
      steps.critical.fill(1, steps.first[i], steps.stop[i]);
    }
    return schedule;
  });
  // The memory of several schedules has one scale.
  for (const name of ["memoryScale", "heatScale"]) {
    const scale = Math.max(...scene.schedules.map((schedule) => schedule[name]));
    for (const schedule of scene.schedules) schedule[name] = scale;
  }
  scene.selected = null;
  scene.told = false;
  heads();
  arrange();
  fit();
}

const blocksOf = (text) => [...text.matchAll(/<script type="application\/json" class="pipec-schedule">\n([^]*?)<\/script>/g)]
  .map((match) => match[1]);

async function compareWith(file) {
  const blocks = blocksOf(await file.text());
  try {
    if (!blocks.length) throw new Error("no schedule in it");
    show([ownBlock, blocks[0]]);
  } catch (error) {
    byId("status").textContent = `${file.name} is not a page of pipec: ${error.message}`;
  }
}

// The whole in a strip, with the part that is shown.
function paintMap() {
  const [from, to] = extent();
  const { g } = mapPainter;
  if (!overview) {
    mapPainter.resize();
    const rows = scene.rows.length;
    const bands = Math.min(rows, mapPainter.height);
    g.fillStyle = mapPainter.colors.lane;
    g.fillRect(0, 0, mapPainter.width, mapPainter.height);
    mapPainter.x = (time) => (time - from) / (to - from) * mapPainter.width;
    mapPainter.t0 = from;
    mapPainter.t1 = to;
    const plain = { microbatch: null, critical: false };
    for (let band = 0; band < bands; ++band) {
      const row = scene.rows[Math.floor(band * rows / bands)];
      const y = band * mapPainter.height / bands;
      mapPainter.paintSteps(plain, row, y, mapPainter.height / bands - (bands < 12 ? 0.5 : 0));
    }
    overview = document.createElement("canvas");
    overview.width = Math.max(map.width, 1);
    overview.height = Math.max(map.height, 1);
    overview.getContext("2d").drawImage(map, 0, 0);
  }
  g.globalAlpha = 1;
  g.drawImage(overview, 0, 0, mapPainter.width, mapPainter.height);
  const a = (scene.view.from - from) / (to - from) * mapPainter.width;
  const b = (scene.view.to - from) / (to - from) * mapPainter.width;
  g.fillStyle = mapPainter.colors.page;
  g.globalAlpha = 0.7;
  g.fillRect(0, 0, a, mapPainter.height);
  g.fillRect(b, 0, mapPainter.width - b, mapPainter.height);
  g.globalAlpha = 1;
  g.strokeStyle = mapPainter.colors.accent;
  g.lineWidth = 2;
  g.strokeRect(a + 1, 1, Math.max(b - a - 2, 2), mapPainter.height - 2);
}

// Called between layout and the frame that shows it, so this frame must have the
// picture already.
function resize() {
  // A status with another number of lines changes the size, and stays.
  const said = byId("status").textContent;
  painter.resize();
  arrange();
  if (said) byId("status").textContent = said;
  paint();
}
