// What the page says: about a step or a gap, about the schedules, and its legend.
// All of it is text, never markup.

const escapes = { "<": "&lt;", "&": "&amp;", ">": "&gt;", '"': "&quot;" };
// For a saved picture, which is a text.
const escapeHtml = (text) => String(text).replace(/[<&>"]/g, (c) => escapes[c]);

function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== null));
  return made;
}

// The waits whose marks are under the pointer.
function waitsAt(waits, time) {
  const reach = timeAt(4) - timeAt(0), found = [];
  for (let i = lowerBound(waits.n, (k) => waits.time[k] >= time - reach); i < waits.n && waits.time[i] <= time + reach; ++i)
    found.push(waitName(waits, i));
  return found;
}

// What is known about a step, a gap, or the memory of a rank at a time: {head, lines,
// source}; lines are [name, value].
function describe({ row, index, gap, side, inMemory, time }) {
  const { lane, schedule } = row;
  const head = (row.letter ? row.letter + ", " : "") + "rank " + lane.rank, lines = [];
  const add = (name, value) => lines.push([name, String(value)]);
  const addTimes = (from, to) => add("time", `${timeText(from)} to ${timeText(to)} (${timeText(to - from)})`);
  if (inMemory) {
    add("time", timeText(time));
    add("in use", exactSize(lane, levelAt(lane.memory, time)));
    add("peak", exactSize(lane, lane.peak));
    if (lane.limit !== undefined) add("limit", exactSize(lane, lane.limit));
    if (lane.host) {
      add("on the host", exactSize(lane, levelAt(lane.host, time)));
      add("peak there", exactSize(lane, lane.hostPeak));
    }
    return { head: head + ": memory", lines };
  }
  if (side && !side.left) {
    add("what", kindNames[side.kind[index]]);
    addTimes(side.start[index], side.end[index]);
    return { head: `${head}: ${stepName(side, index)}`, lines };
  }
  const waits = time === undefined || side ? [] : waitsAt(lane.waits, time);
  if (gap) {
    addTimes(...itemTimes(schedule, lane, { index, gap }));
    lines.push(...whyIdle(schedule, lane, index));
    if (waits.length) add("over", waits.join(", "));
    return { head: head + ": idle", lines };
  }
  const steps = side ?? lane, kind = steps.kind[index];
  add("what", kindNames[kind] + (schedule.most > 1 ? `, chunk ${chunkName(schedule, steps, index)}` : ""));
  if (side) add("stream", side.name);
  addTimes(steps.start[index], steps.end[index]);
  const others = [];
  for (let i = steps.first[index]; i < steps.stop[index]; ++i) if (i !== index) others.push(stepName(steps, i));
  if (others.length) add("together with", others.join(", "));
  const phase = schedule.phases[steps.phase[index]];
  if (phase) add("phase", phase);
  if (steps.critical[index]) add("", "on the critical path");
  if (waits.length) add("over", waits.join(", "));
  const source = schedule.sources[steps.source[index]];
  if (source) add("from", source[0]);
  return { head: `${head}: ${stepName(steps, index)}`, lines, source: source?.[1] };
}

// The same as elements, and as text to be read out.
function descriptionElements({ head, lines, source }) {
  return [element("b", "", head),
    element("table", "", ...lines.map(([name, value]) => element("tr", "", element("td", "", name), element("td", "", value)))),
    ...source ? [element("code", "", source)] : []];
}

function descriptionText({ head, lines }) {
  return `${head}; ${lines.map(([name, value]) => (name ? `${name} ${value}` : value)).join("; ")}`;
}

// Shows a description beside a point of the canvas.
function showTip(found, x, y) {
  tip.hidden = false;
  tip.replaceChildren(...descriptionElements(describe(found)));
  const { offsetWidth, offsetHeight } = tip;
  tip.style.left = Math.max(4, x + 16 + offsetWidth > painter.width ? x - 12 - offsetWidth : x + 16) + "px";
  tip.style.top = Math.max(4, y + 18 + offsetHeight > painter.height ? y - 12 - offsetHeight : y + 18) + "px";
}

// The cost of a forward through all stages. Those of backwards also differ between
// schedules of one model.
const forwardOf = ({ lanes, microbatches }) =>
  lanes.flatMap(stepsOf).reduce((sum, steps) => sum + steps.forward, 0) / microbatches;

// Why two makespans cannot be compared; empty if they can.
function otherWork(first, second) {
  const sizes = [["ranks", "ranks"], ["microbatches", "micro-batches"]].filter(([size]) => first[size] !== second[size])
    .map(([size, name]) => `${first[size]} and ${second[size]} ${name}`);
  const [one, other] = [first, second].map(forwardOf);
  if (!sizes.length && first.stages !== second.stages && !first.shown && !second.shown && Math.abs(one - other) > 1e-4 * one)
    sizes.push(`a forward through all stages takes ${timeText(one)} and ${timeText(other)}`);
  return sizes.join(", ");
}

function heads() {
  const [first] = scene.schedules;
  byId("heads").replaceChildren(...scene.schedules.map((schedule) => {
    const { letter, name, sizes, params, makespan, bubble, costs } = schedule;
    const change = 100 * (makespan / first.makespan - 1), other = otherWork(first, schedule);
    return element("div", "", scene.schedules.length > 1 ? element("span", "tag", letter) : null, element("b", "", name),
      element("i", "", [sizes, params.map(([name, value]) => `${name} = ${value}`).join(", ")].filter(Boolean).join("; ")),
      element("em", "", `makespan ${timeText(makespan)}`
        + (schedule !== first && first.makespan && !other ? ` (${change > 0 ? "+" : ""}${change.toFixed(1)} %)` : "")),
      other ? element("em", "alert", `not the same work: ${other}`) : null,
      bubble ? element("em", "", `bubble ${bubble}`) : null, element("i", "", costs));
  }));
  ranksTable();
  const parts = scene.schedules.filter((schedule) => schedule.shown).map((schedule) => schedule.shown);
  byId("shown").hidden = !parts.length;
  byId("shown").textContent = parts.length ? "Not all is shown: " + parts.join("; ") + ". --window=A:B shows another part." : "";
  const kinds = new Map();
  for (const schedule of scene.schedules)
    for (const lane of schedule.lanes)
      for (const text of [lane.kind, ...lane.sides.map((side) => side.kind)])
        for (const kind of Object.keys(kindNames)) if (text.includes(kind)) kinds.set(kind, painter.kindColors(schedule, kind)[0]);
  const withBars = scene.schedules.some((schedule) => painter.kindColors(schedule, [...kinds.keys()][0]).length > 2);
  const waits = scene.schedules.flatMap((schedule) => schedule.lanes.map((lane) => lane.waits.kind)).join("");
  const marks = [[/[FB]/, "var(--act)", "wait for a send"], [/G/, kinds.get("g"), "wait for a reduction"],
    [/O/, kinds.get("o"), "wait for a copy"]]
    .filter(([kind]) => kind.test(waits)).map(([, color, text]) => legendItem("mark", color, text));
  const withHost = scene.schedules.find((schedule) => schedule.lanes.some((lane) => lane.host));
  byId("legend").replaceChildren(...Object.keys(kindNames).filter((kind) => kinds.has(kind))
    .map((kind) => legendItem("", kinds.get(kind), (computeKinds.includes(kind) ? kind + " " : "") + kindNames[kind],
      withBars && kindBars[kind])),
  ...chunkLegend(kinds), ...marks,
  ...withHost ? [legendItem("line", painter.kindColors(withHost, "l")?.[0], "memory on the host")] : []);
  byId("transfers").disabled = !scene.schedules.some((schedule) => schedule.transfers.n);
  byId("memory").disabled = byId("curves").disabled = !scene.schedules.some((schedule) => schedule.lanes.some((lane) => lane.memory));
  byId("critical").disabled = !scene.schedules.some((schedule) => schedule.critical.length);
  byId("layout").hidden = scene.schedules.length < 2;
}

function legendItem(className, swatch, text, bar = null) {
  const item = element("span", className, text);
  if (swatch) item.style.setProperty("--swatch", swatch);
  if (bar) {
    const [from, to] = bar.map((part) => 14 * part);
    item.dataset.bar = bar;
    item.style.setProperty("--stripes", `linear-gradient(${stripeColor}, ${stripeColor}) ${from}px 8px / ${to - from}px ${barHeight}px no-repeat`);
  }
  return item;
}

// The shades of chunks or slices, and the frame of overlaps.
function chunkLegend(kinds) {
  const items = [], shaded = ({ most, slices }) => most > 1 ? most : slices;
  const most = scene.schedules.reduce((a, b) => (shaded(a) >= shaded(b) ? a : b));
  if (shaded(most) > 1) {
    const kind = [...computeKinds].find((kind) => most.lanes.flatMap(stepsOf).some((steps) => steps.kind.includes(kind)));
    const colors = painter.kindColors(most, kind).slice(0, -1), n = colors.length;
    const shades = colors.map((color, k) => `${color} ${100 * k / n}% ${100 * (k + 1) / n}%`).join(", ");
    const nameOf = (k) => most.most < 2 ? k : k < 26 ? String.fromCharCode(97 + k) : "." + k, last = shaded(most) - 1;
    const item = legendItem("shades", `linear-gradient(90deg, ${shades})`,
      `${most.most > 1 ? "chunks" : "slices"} ${nameOf(0)}${last > 1 ? " to " : ", "}${nameOf(last)}`);
    item.style.setProperty("--stripes", colors.flatMap((color, k) => Array.from({ length: k }, (_, line) =>
      `linear-gradient(${stripeColor}, ${stripeColor}) ${100 * k / (n - 1)}% ${stripePitch * line + 1.5}px / ${100 / n}% 1px no-repeat`)).join(", "));
    items.push(item);
  }
  if (scene.schedules.some((schedule) => schedule.lanes.some((lane) => lane.first.some((first, i) => first !== i)))) {
    const [one, other = one] = [...computeKinds].filter((kind) => kinds.has(kind)).map((kind) => kinds.get(kind));
    items.push(legendItem("pair", `linear-gradient(90deg, ${one} 50%, ${other} 50%)`, "overlap"));
  }
  items.push(legendItem("idle", null, "idle"));
  if (scene.schedules.some(({ transfers }) => transfers.n))
    items.push(legendItem("line", "var(--act)", "activations"), legendItem("line", "var(--grad)", "gradients"));
  return items;
}

// The ranks as a table for screen readers.
function ranksTable() {
  const row = (kinds, cells) => element("tr", "", ...cells.map((cell, i) => element(kinds[i] ?? "td", "", String(cell))));
  const withHost = scene.schedules.some((schedule) => schedule.lanes.some((lane) => lane.host));
  byId("ranks").replaceChildren(element("caption", "", "Ranks"),
    row(Array(5).fill("th"), ["rank", "steps", "idle", "memory peak", ...withHost ? ["peak on the host"] : []]),
    ...scene.schedules.flatMap((schedule) => schedule.lanes.slice(0, 256).map((lane) => row(["th"],
      [(scene.schedules.length > 1 ? schedule.letter + " " : "") + lane.rank, countSteps(lane), schedule.idle(lane), sizeText(lane, lane.peak),
        ...withHost ? [sizeText(lane, lane.hostPeak ?? 0)] : []]))));
}
