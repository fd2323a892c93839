// The schedules of the page: what the blocks of JSON say, as arrays to search.
//
// A lane is a rank. Its compute steps are columns: k the kinds (F, B, I, W, R, U for
// UPDATE; in small letters when the step overlaps with the next one), s stages, c
// chunks, m micro-batches (-1: none), g the time since the end of the group before, d durations, o
// the duration of every overlap as a whole, p phases, l places in the source; rank
// and work are its number and the duration of its compute steps, limit its memory
// limit, over whether its peak exceeds the limit. w has an element per gap: q and i,
// the rank and the column of the step that it waits for (-1: not shown); p, the five
// parts of the wait in ticks and, if it is not 0, that for copies, or 0 if all of it
// is dependency; c, if it waits for copies, triples of a gap, 0 for out and 1 for in,
// and the column of the copy; and y, triples of a
// gap, the column of a step that would fit, and what the rank would then keep (-1:
// within its limit). fsdp has k (U unshard, R reshard, G reduce gradients, T reduce
// tied gradients, of group s), s, t the time since the start of the one before, and
// d; out and in have the same of copies to the host and from it (k O and L), with m.
// streams has the columns of the compute steps, k to l, and w for each stream of stages;
// where q and i or critical refer to a step, its steps follow those of the lane.
// waits has k (F and B for a send, G for a reduction, O for a copy), s, m and t as
// well, the time at which each is over. memory has what the rank keeps from a time
// on: t and v; host the same of what it has on the host, if any rank has.
// Here, the kinds of fsdp, out and in are in small letters.
// transfers are sends: k (F activations, B gradients), r and q the ranks, s, m, t and
// d. critical is the critical path: the rank and the index of each compute step on it.
// Of the schedule, name, sizes, costs, bubble and shown are as displayed, params pairs
// of a name and a value, an object in the block;
// ranks, stages, microbatches, phases and streams, the names of those; makespan, length, from and to in ticks;
// ticksPerUnit and memoryUnit; memoryInBytes, whether sizes are bytes; colors, the shades and the text color of each kind;
// sources, [place, line]. Times are ticks; here they become units of the costs.
function readSchedule(block) {
  const json = checkedSchedule(typeof block === "string" ? JSON.parse(block) : block), unit = json.ticksPerUnit;
  const schedule = {
    ...json, length: json.length / unit, makespan: json.makespan / unit,
    from: json.from / unit, to: json.to / unit,
    lanes: json.lanes.map((lane) => readLane(lane, json, unit)),
    transfers: readTransfers(json.transfers, unit),
  };
  schedule.most = schedule.lanes.reduce((most, lane) => Math.max(most, ...stepsOf(lane).map((steps) => steps.most)), 0);
  schedule.labelLetters = String(Math.max(0, schedule.microbatches - 1)).length
    + (schedule.slices > 1 ? 0.7 + String(schedule.slices - 1).length : 0)
    + (schedule.most < 2 ? 0 : schedule.most <= 26 ? 1 : 1 + String(schedule.most - 1).length);
  schedule.count = schedule.lanes.reduce((sum, lane) => sum + countSteps(lane), 0);
  schedule.memoryPeak = schedule.lanes.reduce((peak, lane) => Math.max(peak, lane.peak), 0);
  schedule.heatScale = schedule.lanes.reduce((scale, lane) => Math.max(scale, lane.hostPeak ?? 0), schedule.memoryPeak) || 1;
  // A limit far above all peaks would flatten the curves.
  schedule.memoryScale = schedule.lanes.reduce(
    (scale, lane) => Math.max(scale, lane.limit <= 2 * schedule.memoryPeak ? lane.limit : 0), schedule.heatScale);
  schedule.idle = (lane) => schedule.makespan ? `${(100 * (1 - lane.work / schedule.makespan)).toFixed(1)} %` : "";
  return schedule;
}

// Micro-batches and slices of units; without slices, a unit is a micro-batch.
function splitUnits(units, slices) {
  return slices === 1 ? { microbatch: units, slice: null }
    : { microbatch: units.map((m) => Math.floor(m / slices)), slice: units.map((m) => m < 0 ? -1 : m % slices) };
}

// The compute steps of a lane: of the rank itself, and of each stream of stages.
const stepsOf = (lane) => [lane, ...lane.streams];
const countSteps = (lane) => stepsOf(lane).reduce((sum, { n }) => sum + n, 0);

// The columns with the step at an index of the lane, and its index in them.
function stepIn(lane, index) {
  for (const steps of stepsOf(lane)) {
    if (index < steps.n) return [steps, index];
    index -= steps.n;
  }
  return null;
}

function readLane(json, schedule, unit) {
  const lane = {
    ...readSteps(json, schedule, unit), rank: json.rank, work: json.work / unit,
    limit: json.limit, over: json.over === true, inBytes: schedule.memoryInBytes,
  };
  lane.streams = json.streams.map((steps, k) =>
    ({ ...readSteps(steps, schedule, unit), key: `stream${k + 1}`, name: schedule.streams[k] }));
  lane.sides = [...["fsdp", "out", "in"].filter((name) => json[name]).map((name) => readSide(name, json[name], schedule, unit)),
    ...lane.streams.filter(({ n }) => n)];
  const peak = ({ value }) => value.reduce((a, b) => Math.max(a, b), 0);
  lane.memory = readMemory(json.memory, schedule, unit);
  lane.peak = peak(lane.memory);
  lane.host = json.host && readMemory(json.host, schedule, unit);
  lane.hostPeak = lane.host && peak(lane.host);
  lane.ready = new Map();
  for (let k = 0, y = json.w?.y ?? []; k < y.length; k += 3)
    lane.ready.set(y[k], { index: y[k + 1], held: y[k + 2] < 0 ? null : y[k + 2] / schedule.memoryUnit });
  // The copy that the step after a gap waits for: [side lane, index].
  lane.copies = new Map();
  for (let k = 0, c = json.w?.c ?? []; k < c.length; k += 3)
    lane.copies.set(c[k], [lane.sides.find(({ name }) => name === ["out", "in"][c[k + 1]]), c[k + 2]]);
  lane.waits = readWaits(json.waits ?? { k: "", s: [], m: [], t: [] }, schedule, unit);
  return lane;
}

// Compute steps and overlaps, which do not run at the same time.
function readSteps(json, schedule, unit) {
  const n = json.k.length;
  const lane = {
    n, forward: 0, most: 0,
    kind: json.k.toUpperCase(), stage: json.s, chunk: json.c, ...splitUnits(json.m, schedule.slices),
    phase: json.p, source: json.l,
    // When the group of a step runs, and the part of it where the step is drawn.
    start: new Float64Array(n), end: new Float64Array(n),
    left: new Float64Array(n), right: new Float64Array(n),
    // The first step of the group, and the one after its last.
    first: new Uint32Array(n), stop: new Uint32Array(n),
    critical: new Uint8Array(n),
    // The number of the gap before a step, from 1 on; 0 without a gap.
    gap: new Uint32Array(n), why: json.w, narrowest: new Map(), unit,
  };
  let at = schedule.from, group = 0, overlap = 0, gaps = 0;
  for (let i = 0; i < n;) {
    let end = i + 1, sum = json.d[i];
    while (json.k[end - 1] > "Z") sum += json.d[end++];
    if (json.g[group] > 0) lane.gap[i] = ++gaps;
    const start = at + json.g[group++];
    at = start + (end - i > 1 ? json.o[overlap++] : json.d[i]);
    for (let done = 0, j = i; j < end; ++j) {
      const part = (x) => (start + (at - start) * (sum ? x / sum : 0)) / unit;
      lane.start[j] = start / unit;
      lane.end[j] = at / unit;
      lane.left[j] = sum ? part(done) : start / unit;
      done += json.d[j];
      if (lane.kind[j] === "F") lane.forward += json.d[j] / unit;
      lane.right[j] = j + 1 === end ? at / unit : part(done);
      lane.first[j] = i;
      lane.stop[j] = end;
      lane.most = Math.max(lane.most, lane.chunk[j] + 1);
    }
    i = end;
  }
  for (let i = 0; i < n; ++i) {
    const type = typeOfStep(lane, i), width = lane.right[i] - lane.left[i];
    if (!(lane.narrowest.get(type) <= width)) lane.narrowest.set(type, width);
  }
  return lane;
}

// The kinds of compute steps.
const computeKinds = "FBIWRU";

// A number for the kind, the chunk and the form of a step, which as a rule give its
// width: those of F are smaller than those of B, I and W.
function typeOfStep(lane, i) {
  return computeKinds.indexOf(lane.kind[i]) * 0x100000000 + 2 * lane.chunk[i] + (lane.stop[i] - lane.first[i] > 1);
}

// The collectives or copies of a lane below that of the compute steps; the lanes of
// streams have the columns of compute steps instead (readSteps).
function readSide(name, json, schedule, unit) {
  let at = schedule.from;
  const start = Float64Array.from(json.t, (gap) => (at += gap) / unit);
  return {
    key: name, name, n: json.k.length, kind: json.k.toLowerCase(), stage: json.s, ...json.m && splitUnits(json.m, schedule.slices), start,
    end: start.map((time, i) => time + json.d[i] / unit),
  };
}

function readWaits(json, schedule, unit) {
  let at = schedule.from;
  return {
    n: json.k.length, kind: json.k, stage: json.s, ...splitUnits(json.m, schedule.slices),
    time: Float64Array.from(json.t, (gap) => (at += gap) / unit),
  };
}

function readMemory(json, schedule, unit) {
  let at = schedule.from;
  const start = Float64Array.from(json.t, (gap) => (at += gap) / unit);
  const value = Float64Array.from(json.v, (level) => level / schedule.memoryUnit);
  return { n: start.length, start, value };
}

function readTransfers(json, unit) {
  let at = 0;
  const start = Float64Array.from(json.t, (gap) => (at += gap) / unit);
  return {
    n: json.k.length, kind: json.k, rank: json.r, peer: json.q, stage: json.s,
    microbatch: json.m, start, end: start.map((time, i) => time + json.d[i] / unit),
  };
}

// The first index of [0, n) for which `holds`, which once true stays true.
function lowerBound(n, holds) {
  let low = 0;
  while (low < n) {
    const middle = (low + n) >> 1;
    if (holds(middle)) n = middle;
    else low = middle + 1;
  }
  return low;
}

// The step of a lane that is drawn at a time; -1 where the rank is idle.
function stepAt(lane, time) {
  const i = lowerBound(lane.n, (k) => lane.right[k] > time);
  return i < lane.n && lane.left[i] <= time ? i : -1;
}

// The step of a side lane at a time, or the last collective or copy within `reach`
// before it; -1 if there is none.
function sideStepAt(side, time, reach) {
  if (side.left) return stepAt(side, time);
  const i = lowerBound(side.n, (k) => side.start[k] > time) - 1;
  return i >= 0 && Math.max(side.end[i], side.start[i] + reach) > time ? i : -1;
}

// What the rank keeps at a time, on the device or on the host.
function levelAt(memory, time) {
  const i = lowerBound(memory.n, (k) => memory.start[k] > time);
  return i ? memory.value[i - 1] : 0;
}

// An item of a lane is a step, or the gap before it: {index, gap}. The gap at index n
// is after the last step. {index, gap: false, side} is a step of a side lane.
function hasGap(schedule, lane, index) {
  return index < lane.n ? lane.gap[index] > 0 : schedule.to > (lane.n ? lane.end[lane.n - 1] : schedule.from);
}

function itemAt(lane, time) {
  const index = stepAt(lane, time);
  return index >= 0 ? { index, gap: false } : { index: lowerBound(lane.n, (k) => lane.left[k] > time), gap: true };
}

function itemTimes(schedule, lane, { index, gap, side }) {
  if (side) return [(side.left ?? side.start)[index], (side.right ?? side.end)[index]];
  if (!gap) return [lane.left[index], lane.right[index]];
  return [index ? lane.end[index - 1] : schedule.from, index < lane.n ? lane.start[index] : schedule.to];
}

// The item after one, or with -1 before; null at the ends.
function neighbour(schedule, lane, { index, gap, side }, direction) {
  if (side) return index + direction in side.start ? { index: index + direction, gap: false, side } : null;
  if (direction > 0) {
    if (gap) return index < lane.n ? { index, gap: false } : null;
    if (hasGap(schedule, lane, index + 1)) return { index: index + 1, gap: true };
    return index + 1 < lane.n ? { index: index + 1, gap: false } : null;
  }
  if (!gap && hasGap(schedule, lane, index)) return { index, gap: true };
  return index ? { index: index - 1, gap: false } : null;
}

// The chain of steps that the step after a gap waits for, back to the start of the
// gap: [lane, columns, index], latest first. It ends where it leaves what is shown.
function chainOf(schedule, lane, index, since, most) {
  const chain = [];
  const cause = (lane, steps, index) => {
    const first = steps.first[index], gap = steps.gap[first];
    if (!gap) return first ? [lane, steps, first - 1] : null;
    const rank = steps.why?.q[gap - 1] ?? -1;
    return rank < 0 ? null : [schedule.lanes[rank], ...stepIn(schedule.lanes[rank], steps.why.i[gap - 1])];
  };
  for (let at = cause(lane, lane, index); at && chain.length < most; at = cause(...at)) {
    chain.push(at);
    if (at[1].start[at[2]] <= since) break;
  }
  return chain;
}

const partNames = ["for other ranks to compute", "for the input to arrive", "for transfers that wait for each other",
  "for its own transfers and reductions", "for parameters", "for copies to and from the host"];

// Why a rank is idle: [name, text] for each line.
function whyIdle(schedule, lane, index) {
  const [from, to] = itemTimes(schedule, lane, { index, gap: true });
  if (index === lane.n) return [["", "all steps of the rank are done"]];
  const lines = [["before", stepName(lane, index)]];
  if (!lane.why) return lines;
  const gap = lane.gap[index] - 1, parts = lane.why.p[gap] || [(to - from) * lane.unit, 0, 0, 0, 0];
  const partName = (k) => k || !schedule.streams.length ? partNames[k] : "for other ranks and streams to compute";
  lines.push(["waits", parts.map((part, k) => part ? `${timeText(part / lane.unit)} ${partName(k)}` : "").filter(Boolean).join(", ")]);
  const [side, copy] = lane.copies.get(gap) ?? [];
  if (side) lines.push(["copy", `${stepName(side, copy)}, from ${timeText(side.start[copy])} to ${timeText(side.end[copy])}`]);
  chainOf(schedule, lane, index, from, 6).forEach(([other, steps, i], k) => {
    const where = other === lane ? "of this rank" : `of rank ${other.rank}`;
    lines.push([k ? "which waits for" : "for", `${stepName(steps, i)} ${where}, from ${timeText(steps.start[i])} to ${timeText(steps.end[i])}`]);
  });
  const ready = lane.ready.get(gap);
  if (ready) {
    const name = stepName(lane, ready.index);
    lines.push(["ready", ready.held === null ? `${name}, which would fit but comes later in the order of the rank`
      : `${name}, but the rank would keep ${sizeText(lane, ready.held)} with a limit of ${sizeText(lane, lane.limit)}`]);
  }
  return lines;
}

// The phases of a lane: {name, from, to}; none if there is only one.
function phasesOf(schedule, lane) {
  if (lane.phases) return lane.phases;
  const runs = [];
  for (let i = 0; i < lane.n; ++i) {
    const last = runs.at(-1);
    if (last?.phase === lane.phase[i]) last.to = lane.end[i];
    else runs.push({ phase: lane.phase[i], name: schedule.phases[lane.phase[i]] ?? "", from: lane.start[i], to: lane.end[i] });
  }
  return lane.phases = runs.length > 1 && schedule.phases.length ? runs : [];
}

// The steps or gaps that a search asks for: {lane, index, gap} in the order of their
// starts, gaps the longest first. `F s2 m3`, `B5` (of micro-batch 5), `B5.1` (of its
// slice 1), `OFFLOAD3`, `r1 W`, `idle`. A small r before a number is a rank, and a
// capital one an R if there are any.
// null for a search of another form.
function search(schedule, text) {
  const wanted = { kind: null, s: null, m: null, r: null, slice: null };
  const hasR = schedule.lanes.some((lane) => stepsOf(lane).some(({ kind }) => kind.includes("R")));
  let idle = false;
  for (const word of text.trim().split(/\s+/)) {
    const found = /^(?:(idle)|([a-z_]+?)(\d*)(?:(?<=\d)\.(\d+))?)$/i.exec(word);
    if (!found) return null;
    const name = found[2]?.toUpperCase(), kind = kindsByName[name];
    const isSize = /^[smr]$/i.test(name) && found[3] && !(found[2] === "R" && hasR);
    if (found[4] && (isSize ? name !== "M" : !kind)) return null;
    if (found[4]) wanted.slice = Number(found[4]);
    if (found[1]) idle = true;
    else if (isSize) wanted[name.toLowerCase()] = Number(found[3]);
    else if (kind) {
      wanted.kind = kind;
      if (found[3]) wanted.m = Number(found[3]);
    } else return null;
  }
  const items = [];
  const isWanted = (steps, index) => (wanted.kind === null || steps.kind[index] === wanted.kind)
    && (wanted.s === null || steps.stage[index] === wanted.s)
    && (wanted.m === null || steps.microbatch?.[index] === wanted.m)
    && (wanted.slice === null || steps.slice?.[index] === wanted.slice);
  for (const lane of schedule.lanes) {
    if (wanted.r !== null && wanted.r !== lane.rank) continue;
    for (let index = 0; index < lane.n; ++index) {
      if (idle && !lane.gap[index]) continue;
      if (isWanted(lane, index)) items.push({ lane, index, gap: idle });
    }
    // Without a kind, a search is for compute steps.
    const isCompute = wanted.kind === null || computeKinds.includes(wanted.kind);
    for (const side of idle ? [] : lane.sides.filter((side) => Boolean(side.left) === isCompute))
      for (let index = 0; index < side.n; ++index) if (isWanted(side, index)) items.push({ lane, index, gap: false, side });
  }
  const key = (item) => {
    const [from, to] = itemTimes(schedule, item.lane, item);
    return item.gap ? from - to : from;
  };
  return items.map((item) => [key(item), item]).sort((a, b) => a[0] - b[0]).map(([, item]) => item);
}

// A chunk as a letter after the micro-batch, where ranks hold several.
function chunkName(schedule, lane, i) {
  if (schedule.most < 2) return "";
  const chunk = lane.chunk[i];
  return chunk < 26 ? String.fromCharCode(97 + chunk) : "." + chunk;
}

const kindNames = {
  F: "forward", B: "backward", I: "input gradient", W: "weight gradient", R: "recomputation", U: "optimizer step",
  u: "unshard", r: "reshard", g: "reduce gradients", t: "sum tied gradients", o: "copy to the host", l: "copy from the host",
};
// The names of kinds in step IR that are not their letters.
const stepNames = {
  U: "UPDATE", u: "UNSHARD", r: "RESHARD", g: "REDUCE_GRAD", t: "REDUCE_TIED", o: "OFFLOAD", l: "RELOAD",
};
const kindsByName = Object.fromEntries([...Object.entries(stepNames).map(([kind, name]) => [name, kind]),
  ...[...computeKinds].map((kind) => [kind, kind])]);

function waitName(waits, i) {
  const kind = waits.kind[i];
  return kind === "G" ? `WAIT_REDUCE_GRAD s${waits.stage[i]}`
    : `WAIT_${kind === "O" ? "OFFLOAD" : "SEND_" + kind} s${waits.stage[i]} m${unitName(waits, i)}`;
}

// Of a step of a lane or of a side lane.
function stepName(steps, i) {
  const kind = steps.kind[i], unit = unitName(steps, i);
  return `${stepNames[kind] ?? kind} ${kind === "t" ? "group " : "s"}${steps.stage[i]}${unit ? ` m${unit}` : ""}`;
}

// The micro-batch of a step and, with slices, its slice: 3.1. Empty without one.
function unitName(steps, i) {
  return steps.microbatch === undefined || steps.microbatch[i] < 0 ? ""
    : steps.microbatch[i] + (steps.slice ? "." + steps.slice[i] : "");
}

function timeText(time) {
  return String(Number(time.toFixed(6)));
}

// An amount of memory of a lane, or of a schedule: with a unit if sizes are bytes.
function sizeText({ inBytes }, size) {
  if (!inBytes) return timeText(size);
  const [unit, name] = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]].find(([least]) => size >= least) ?? [];
  return unit ? `${(size / unit).toFixed(2)} ${name}` : `${size.toFixed(0)} B`;
}

// The same with all digits beside it.
function exactSize(lane, size) {
  return sizeText(lane, size) + (lane.inBytes ? ` (${timeText(size)} bytes)` : "");
}

// The peak of a lane, after a slash its limit, and the peak on the host.
function peakText(lane) {
  return sizeText(lane, lane.peak) + (lane.limit === undefined ? "" : ` / ${sizeText(lane, lane.limit)}`)
    + (lane.host ? `, host ${sizeText(lane, lane.hostPeak)}` : "");
}

// The steps of a micro-batch in the order of their starts: [row, columns, index].
function pathOf(rows, schedule, microbatch) {
  const path = [];
  rows.forEach((row, r) => {
    if (row.schedule !== schedule) return;
    for (const steps of stepsOf(row.lane))
      steps.microbatch.forEach((m, i) => {
        if (m === microbatch) path.push([r, steps, i]);
      });
  });
  const start = ([, steps, i]) => steps.left[i];
  return path.sort((a, b) => start(a) - start(b));
}
