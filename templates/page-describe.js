// What the page says: about a step or a gap, about the schedules, and its legend.

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
