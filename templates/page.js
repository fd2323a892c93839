// What the reader does: zoom, move, hover, follow, compare. page-tools.js has the rest:
// select, find, link, save.

const byId = (id) => document.getElementById(id);
const canvas = byId("view"), map = byId("map"), tip = byId("tip");
const painter = new Painter(canvas), mapPainter = new Painter(map);
const scene = {
  schedules: [], rows: [], height: 0, view: { from: 0, to: 1, top: 0 },
  microbatch: null, paths: [], critical: false, criticalPaths: [], transfers: false, memory: false,
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
// where the rank is idle; null outside.
function hit(x, y) {
  if (x < nameWidth || x > painter.right || y < axisHeight) return null;
  const at = y - axisHeight + scene.view.top;
  const r = lowerBound(scene.rows.length, (k) => scene.rows[k].bottom > at);
  const row = scene.rows[r];
  if (!row || row.y > at) return null;
  const time = timeAt(x);
  return time < row.schedule.from || time > row.schedule.to ? null
    : { r, row, index: stepAt(row.lane, time), time, inMemory: scene.memory && at >= row.memoryY };
}

const escapes = { "<": "&lt;", "&": "&amp;", ">": "&gt;", '"': "&quot;" };
const escapeHtml = (text) => String(text).replace(/[<&>"]/g, (c) => escapes[c]);

// The waits whose marks are under the pointer.
function waitsAt(waits, time) {
  const reach = timeAt(4) - timeAt(0), found = [];
  for (let i = lowerBound(waits.n, (k) => waits.time[k] >= time - reach); i < waits.n && waits.time[i] <= time + reach; ++i)
    found.push(waitName(waits, i));
  return found;
}

// What is known about a step, a gap, or the memory of a rank at a time: {head, lines,
// source}; lines are [name, value].
function describe({ row, index, gap, inMemory, time }) {
  const { lane, schedule } = row;
  const head = (row.letter ? row.letter + ", " : "") + "rank " + lane.rank, lines = [];
  const add = (name, value) => lines.push([name, String(value)]);
  const addTimes = (from, to) => add("time", `${timeText(from)} to ${timeText(to)} (${timeText(to - from)})`);
  if (inMemory) {
    add("time", timeText(time));
    add("in use", timeText(memoryAt(lane, time)));
    add("peak", timeText(lane.peak));
    if (lane.limit !== undefined) add("limit", timeText(lane.limit));
    return { head: head + ": memory", lines };
  }
  const waits = time === undefined ? [] : waitsAt(lane.waits, time);
  if (gap) {
    addTimes(...itemTimes(schedule, lane, { index, gap }));
    lines.push(...whyIdle(schedule, lane, index));
    if (waits.length) add("over", waits.join(", "));
    return { head: head + ": idle", lines };
  }
  const kind = lane.kind[index];
  add("what", kindNames[kind] + (schedule.most > 1 ? `, chunk ${chunkName(schedule, lane, index)}` : ""));
  addTimes(lane.start[index], lane.end[index]);
  const others = [];
  for (let i = lane.first[index]; i < lane.stop[index]; ++i) if (i !== index) others.push(stepName(lane, i));
  if (others.length) add("together with", others.join(", "));
  const phase = schedule.phases[lane.phase[index]];
  if (phase) add("phase", phase);
  if (lane.critical[index]) add("", "on the critical path");
  if (waits.length) add("over", waits.join(", "));
  const source = schedule.sources[lane.source[index]];
  if (source) add("from", source[0]);
  return { head: `${head}: ${stepName(lane, index)}`, lines, source: source?.[1] };
}

// The same as markup, and as text to be read out.
function descriptionHtml({ head, lines, source }) {
  return `<b>${escapeHtml(head)}</b><table>`
    + lines.map(([name, value]) => `<tr><td>${name}</td><td>${escapeHtml(value)}</td></tr>`).join("")
    + `</table>` + (source ? `<code>${escapeHtml(source)}</code>` : "");
}

function descriptionText({ head, lines }) {
  return `${head}; ${lines.map(([name, value]) => (name ? `${name} ${value}` : value)).join("; ")}`;
}

// Shows a description beside a point of the canvas.
function showTip(found, x, y) {
  tip.hidden = false;
  tip.innerHTML = descriptionHtml(describe(found));
  const { offsetWidth, offsetHeight } = tip;
  tip.style.left = Math.max(4, x + 16 + offsetWidth > painter.width ? x - 12 - offsetWidth : x + 16) + "px";
  tip.style.top = Math.max(4, y + 18 + offsetHeight > painter.height ? y - 12 - offsetHeight : y + 18) + "px";
}

function hover(x, y) {
  const found = hit(x, y);
  scene.cursor = x >= nameWidth && x <= painter.right ? x : null;
  scene.phaseRow = found?.row ?? null;
  if (found) showTip({ ...found, ...itemAt(found.row.lane, found.time) }, x, y);
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
    const ends = path.map(([r, i]) => scene.rows[r].lane.end[i]);
    const start = scene.rows[path[0][0]].lane.start[path[0][1]];
    return `${name}micro-batch ${microbatch}: ${path.length} steps, time ${timeText(start)} to ${timeText(Math.max(...ends))}`;
  }).join("; ") + " (Escape shows all again)";
  redraw();
  noteState();
}

function help() {
  return "Wheel: zoom. Drag: move. Click a step: follow its micro-batch. Keys: + - 0, arrows, / to find, "
    + "Shift and arrows to select, Enter to follow, c, t, m, l.";
}

function toggle(name, value = !scene[name]) {
  const button = byId(name === "rankByRank" ? "layout" : name);
  if (button.disabled) return;
  scene[name] = value;
  noteState();
  button.setAttribute("aria-pressed", value);
  if (name === "memory" || name === "rankByRank") arrange();
  else redraw();
}

// Lays the rows out again, after something about them changed.
function arrange() {
  const withPhases = scene.schedules.some((schedule) => schedule.lanes.some((lane) => phasesOf(schedule, lane).length));
  axisHeight = 26 + (withPhases ? phaseHeight : 0);
  sideWidth = painter.width < 560 ? 8 : scene.schedules.some((schedule) => schedule.lanes.some((lane) => lane.limit !== undefined)) ? 96 : 68;
  scene.phaseRow = null;
  const { rows, height } = layOut(scene.schedules, scene.rankByRank, scene.memory, painter.height - axisHeight);
  scene.rows = rows;
  scene.height = height;
  scene.criticalPaths = scene.schedules.map((schedule) => {
    const rowOf = new Map();
    rows.forEach((row, r) => { if (row.schedule === schedule) rowOf.set(row.lane.rank, r); });
    return schedule.critical.map(([rank, i]) => [rowOf.get(rank), i]).filter(([r]) => r !== undefined);
  });
  overview = null;
  setView(scene.view.from, scene.view.to);
  follow(scene.microbatch);
  if (scene.told) tellSelected();
}

function heads() {
  const [first] = scene.schedules;
  byId("heads").innerHTML = scene.schedules.map((schedule) => {
    const params = Object.entries(schedule.params).map(([name, value]) => `${name} = ${value}`).join(", ");
    const change = 100 * (schedule.makespan / first.makespan - 1);
    return `<div>${scene.schedules.length > 1 ? `<span class="tag">${schedule.letter}</span>` : ""}`
      + `<b>${escapeHtml(schedule.name)}</b><i>${escapeHtml(schedule.sizes)}${params ? "; " + escapeHtml(params) : ""}</i>`
      + `<em>makespan ${timeText(schedule.makespan)}`
      + (schedule !== first && first.makespan ? ` (${change > 0 ? "+" : ""}${change.toFixed(1)} %)` : "")
      + `</em>${schedule.bubble ? `<em>bubble ${schedule.bubble}</em>` : ""}<i>${escapeHtml(schedule.costs)}</i></div>`;
  }).join("");
  ranksTable();
  const parts = scene.schedules.filter((schedule) => schedule.shown).map((schedule) => schedule.shown);
  byId("shown").hidden = !parts.length;
  byId("shown").textContent = parts.length ? "Not all is shown: " + parts.join("; ") + ". --window=A:B shows another part." : "";
  const kinds = new Map();
  for (const schedule of scene.schedules)
    for (const lane of schedule.lanes)
      for (const text of [lane.kind, lane.fsdp?.kind ?? ""])
        for (const kind of "FBIWURGT") if (text.includes(kind)) kinds.set(kind, painter.kindColors(schedule, kind)[0]);
  const waits = scene.schedules.flatMap((schedule) => schedule.lanes.map((lane) => lane.waits.kind)).join("");
  const marks = [[/[FB]/, "var(--act)", "wait for a send"], [/G/, kinds.get("G"), "wait for a reduction"]]
    .filter(([kind]) => kind.test(waits))
    .map(([, color, text]) => `<span class="mark" style="--swatch:${color}">${text}</span>`);
  byId("legend").innerHTML = [..."FBIWURGT"].filter((kind) => kinds.has(kind))
    .map((kind) => `<span style="--swatch:${kinds.get(kind)}">${"FBIW".includes(kind) ? kind + " " : ""}${kindNames[kind]}</span>`)
    .concat(chunkLegend(), marks).join("");
  byId("transfers").disabled = !scene.schedules.some((schedule) => schedule.transfers.n);
  byId("memory").disabled = !scene.schedules.some((schedule) => schedule.lanes.some((lane) => lane.memory));
  byId("critical").disabled = !scene.schedules.some((schedule) => schedule.critical.length);
  byId("layout").hidden = scene.schedules.length < 2;
}

// The shades of chunks, and the frame of overlaps.
function chunkLegend() {
  const items = [], most = scene.schedules.reduce((a, b) => (a.most >= b.most ? a : b));
  if (most.most > 1) {
    const kind = [..."FBIW"].find((kind) => most.lanes.some((lane) => lane.kind.includes(kind)));
    const colors = painter.kindColors(most, kind).slice(0, -1), n = colors.length;
    const stripes = colors.map((color, k) => `${color} ${100 * k / n}% ${100 * (k + 1) / n}%`).join(", ");
    const last = most.most <= 26 ? String.fromCharCode(96 + most.most) : "." + (most.most - 1);
    items.push(`<span class="shades" style="--swatch:linear-gradient(90deg, ${stripes})">chunks a${most.most > 2 ? " to " : ", "}${last}</span>`);
  }
  if (scene.schedules.some((schedule) => schedule.lanes.some((lane) => lane.first.some((first, i) => first !== i))))
    items.push(`<span class="pair">overlap</span>`);
  items.push(`<span class="idle">idle</span>`);
  return items;
}

// The ranks as a table for screen readers.
function ranksTable() {
  const cell = (text) => `<td>${escapeHtml(text)}</td>`;
  byId("ranks").innerHTML = `<caption>Ranks</caption><tr><th>rank</th><th>steps</th><th>idle</th><th>memory peak</th></tr>`
    + scene.schedules.flatMap((schedule) => schedule.lanes.slice(0, 256).map((lane) =>
      `<tr><th>${scene.schedules.length > 1 ? schedule.letter + " " : ""}${lane.rank}</th>${cell(lane.n)}${cell(schedule.idle(lane))}${cell(timeText(lane.peak))}</tr>`)).join("");
}

// Shows the schedules of `blocks`, texts of JSON.
function show(blocks) {
  scene.schedules = blocks.map((text, i) => {
    const schedule = readSchedule(JSON.parse(text));
    schedule.letter = String.fromCharCode(65 + i);
    for (const [rank, i] of schedule.critical) {
      const lane = schedule.lanes[rank];
      lane.critical.fill(1, lane.first[i], lane.stop[i]);
    }
    return schedule;
  });
  // Curves of several schedules have one scale.
  const scale = Math.max(...scene.schedules.map((schedule) => schedule.memoryScale));
  for (const schedule of scene.schedules) schedule.memoryScale = scale;
  scene.selected = null;
  scene.told = false;
  heads();
  arrange();
  fit();
}

const blocksOf = (text) => [...text.matchAll(/<script type="application\/json" class="pipec-schedule">\n([^]*?)<\/script>/g)]
  .map((match) => match[1]);
const ownBlock = document.querySelector(".pipec-schedule").textContent;

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
  painter.resize();
  arrange();
  paint();
}

//--- Mouse, touch and keys

let drag = null;
canvas.addEventListener("pointerdown", (event) => {
  const bar = event.offsetX > painter.width - 10 ? painter.scrollBar(scene) : null;
  drag = { x: event.offsetX, y: event.offsetY, moved: bar !== null, bar };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  if (!drag) {
    hover(event.offsetX, event.offsetY);
    return;
  }
  if (drag.bar) {
    move(0, (event.offsetY - drag.y) * drag.bar.perPixel);
    drag.y = event.offsetY;
    return;
  }
  if (!drag.moved && Math.hypot(event.offsetX - drag.x, event.offsetY - drag.y) < 4) return;
  drag.moved = true;
  canvas.classList.add("moving");
  tip.hidden = true;
  move(drag.x - event.offsetX, drag.y - event.offsetY);
  drag.x = event.offsetX;
  drag.y = event.offsetY;
});
canvas.addEventListener("pointerup", (event) => {
  canvas.classList.remove("moving");
  if (drag && !drag.moved) {
    const found = hit(event.offsetX, event.offsetY);
    select(found && !found.inMemory ? { lane: found.row.lane, ...itemAt(found.row.lane, found.time) } : null, true);
    follow(found && found.index >= 0 ? found.row.lane.microbatch[found.index] : null);
  }
  drag = null;
});
canvas.addEventListener("pointercancel", () => { drag = null; });
canvas.addEventListener("pointerleave", () => {
  tip.hidden = true;
  scene.cursor = null;
  redraw();
});
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const pixels = event.deltaMode ? 30 : 1;
  const besides = event.offsetX < nameWidth || event.offsetX > painter.right;
  if (besides && scene.height > painter.height - axisHeight) move(0, event.deltaY * pixels);
  else if (event.shiftKey) move((event.deltaX || event.deltaY) * pixels, 0);
  else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX * pixels, 0);
  else zoom(Math.exp(event.deltaY * pixels * 0.0015), event.offsetX);
  hover(event.offsetX, event.offsetY);
}, { passive: false });
canvas.addEventListener("dblclick", (event) => zoom(0.25, event.offsetX));

const mapMove = (event) => {
  const [from, to] = extent();
  const half = (scene.view.to - scene.view.from) / 2;
  const at = from + event.offsetX / mapPainter.width * (to - from);
  setView(at - half, at + half);
};
map.addEventListener("pointerdown", (event) => {
  map.setPointerCapture(event.pointerId);
  mapMove(event);
});
map.addEventListener("pointermove", (event) => { if (event.buttons) mapMove(event); });

const keys = {
  "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), 0: fit,
  ArrowLeft: () => move(-80, 0), ArrowRight: () => move(80, 0), ArrowUp: () => move(0, -40), ArrowDown: () => move(0, 40),
  PageUp: () => move(0, axisHeight - painter.height), PageDown: () => move(0, painter.height - axisHeight),
  c: () => toggle("critical"), t: () => toggle("transfers"), m: () => toggle("memory"),
  l: () => scene.schedules.length > 1 && toggle("rankByRank"), "/": () => byId("search").focus(),
  Escape: () => {
    select(null);
    follow(null);
  },
};
const selectingKeys = {
  ArrowLeft: () => selectNext(-1), ArrowRight: () => selectNext(1), ArrowUp: () => selectRow(-1), ArrowDown: () => selectRow(1),
};
document.addEventListener("keydown", (event) => {
  // The search of the browser finds nothing on a canvas.
  if ((event.ctrlKey || event.metaKey) && event.key === "f" && document.activeElement !== byId("search")) {
    event.preventDefault();
    byId("search").focus();
    byId("search").select();
    return;
  }
  if (event.target instanceof HTMLInputElement && event.key !== "Escape") return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  // Enter is for the button that has the focus, if one has.
  const action = event.shiftKey && event.key in selectingKeys ? selectingKeys[event.key]
    : event.key === "Enter" && event.target === canvas ? followSelected : keys[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});
byId("in").onclick = () => zoom(0.7);
byId("out").onclick = () => zoom(1 / 0.7);
byId("fit").onclick = fit;
byId("critical").onclick = () => toggle("critical");
byId("transfers").onclick = () => toggle("transfers");
byId("memory").onclick = () => toggle("memory");
byId("layout").onclick = () => toggle("rankByRank");
byId("savesvg").onclick = saveSvg;
byId("savepng").onclick = savePng;
byId("search").onkeydown = (event) => {
  if (event.key === "Enter") findNext(event.shiftKey ? -1 : 1);
  if (event.key === "Escape") canvas.focus();
};
byId("find").oninput = (event) => follow(event.target.value === "" ? null : Number(event.target.value));
byId("open").onchange = (event) => {
  if (event.target.files[0]) compareWith(event.target.files[0]);
  event.target.value = "";
};
const main = document.querySelector("main");
addEventListener("dragover", (event) => {
  event.preventDefault();
  main.classList.add("drop");
});
addEventListener("dragleave", (event) => { if (!event.relatedTarget) main.classList.remove("drop"); });
addEventListener("drop", (event) => {
  event.preventDefault();
  main.classList.remove("drop");
  if (event.dataTransfer.files[0]) compareWith(event.dataTransfer.files[0]);
});
new ResizeObserver(resize).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  painter.recolor();
  mapPainter.recolor();
  overview = null;
  heads();
  redraw();
});

painter.resize();
show([...document.querySelectorAll(".pipec-schedule")].map((element) => element.textContent));
toggle("memory", !byId("memory").disabled && scene.rows.length <= 8);
toggle("transfers", !byId("transfers").disabled);
usualShown = shownToggles();
addEventListener("hashchange", applyHash);
applyHash();
// For tests and for the console of the browser.
window.pipec = {
  scene, setView, fit, zoom, hit, follow, toggle, compareWith, timeAt, select, findNext, pictureSvg, nameWidth,
  get axisHeight() { return axisHeight; },
  get right() { return painter.right; },
};
