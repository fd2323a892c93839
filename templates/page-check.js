// Reads a block of JSON, which may be that of a file from anywhere: takes over known
// members of known types, and refuses anything else. page-model.js describes them.

const maxText = 4000;

// The names of the colors of all kinds (page-model.js) in the block; those of more
// than a letter are only in blocks that need them.
const colorNames = {
  F: "F", B: "B", I: "I", W: "W", R: "recompute", U: "update",
  u: "U", r: "R", g: "G", t: "T", o: "out", l: "in",
};

function refuse(member) {
  throw new Error(`\`${member}\` is not as pipec writes it`);
}

const isIndex = (value) => Number.isSafeInteger(value) && value >= 0;
const isIndexOrNone = (value) => value === -1 || isIndex(value);
const isColor = (value) => typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value);

function checkedNumber(member, value, holds = Number.isFinite) {
  return holds(value) ? value : refuse(member);
}

function checkedText(member, value) {
  return typeof value === "string" ? value.slice(0, maxText) : refuse(member);
}

function checkedList(member, value, length, read) {
  if (!Array.isArray(value) || (length !== null && value.length !== length)) refuse(member);
  return value.map((one) => read(member, one));
}

function checkedObject(member, value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : refuse(member);
}

// A column of numbers, which is not copied.
function checkedColumn(member, value, length, holds = isIndex) {
  return Array.isArray(value) && value.length === length && value.every((one) => holds(one)) ? value : refuse(member);
}

// A column of letters, of which `other` finds those that are not allowed.
function checkedKinds(member, value, other) {
  return typeof value === "string" && !other.test(value) ? value : refuse(member);
}

// How many groups of steps a column of kinds has, and how many of them are overlaps.
function countGroups(kinds) {
  let groups = 0, overlaps = 0;
  for (let i = 0; i < kinds.length; ++i) {
    if (kinds[i] > "Z") continue;
    ++groups;
    if (i && kinds[i - 1] > "Z") ++overlaps;
  }
  return kinds && kinds.at(-1) > "Z" ? refuse("k") : { groups, overlaps };
}

// The columns of compute steps.
function checkedSteps(member, json) {
  checkedObject(member, json);
  const k = checkedKinds("k", json.k, /[^FBIWRUfbiwru]/), n = k.length, { groups, overlaps } = countGroups(k);
  const w = json.w === undefined ? undefined : checkedGaps(checkedObject("w", json.w), n, [json.out, json.in]);
  return {
    ...w && { w }, k, s: checkedColumn("s", json.s, n), c: checkedColumn("c", json.c, n), m: checkedColumn("m", json.m, n, isIndexOrNone),
    g: checkedColumn("g", json.g, groups, Number.isFinite), d: checkedColumn("d", json.d, n, Number.isFinite),
    o: checkedColumn("o", json.o, overlaps, Number.isFinite),
    p: checkedColumn("p", json.p, n), l: checkedColumn("l", json.l, n, isIndexOrNone),
  };
}

function checkedLane(json, rank, streams) {
  const steps = checkedSteps("lanes", json);
  const lane = {
    rank: checkedNumber("rank", json.rank, (value) => value === rank), work: checkedNumber("work", json.work), ...steps,
    streams: streams ? checkedList("streams", json.streams, streams, checkedSteps) : [],
    memory: checkedLevels("memory", json.memory),
    over: json.over === true,
  };
  if (json.limit !== undefined) lane.limit = checkedNumber("limit", json.limit);
  if (json.host !== undefined) lane.host = checkedLevels("host", json.host);
  for (const [name, other] of [["fsdp", /[^URGT]/], ["out", /[^O]/], ["in", /[^L]/]]) {
    if (json[name] === undefined) continue;
    const { k, s, m, t, d } = checkedObject(name, json[name]), count = checkedKinds(name, k, other).length;
    lane[name] = {
      k, s: checkedColumn("s", s, count), m: name === "fsdp" ? undefined : checkedColumn("m", m, count),
      t: checkedColumn("t", t, count, Number.isFinite), d: checkedColumn("d", d, count, Number.isFinite),
    };
  }
  if (json.waits !== undefined) {
    const { k, s, m, t } = checkedObject("waits", json.waits), count = checkedKinds("waits", k, /[^FBGO]/).length;
    lane.waits = { k, s: checkedColumn("s", s, count), m: checkedColumn("m", m, count), t: checkedColumn("t", t, count, Number.isFinite) };
  }
  return lane;
}

function checkedLevels(member, json) {
  const { t, v } = checkedObject(member, json), changes = Array.isArray(t) ? t.length : 0;
  return { t: checkedColumn("t", t, changes, Number.isFinite), v: checkedColumn("v", v, changes, Number.isFinite) };
}

function checkedGaps({ q, i, p, y, c = [] }, n, sides) {
  const count = Array.isArray(q) ? q.length : 0;
  checkedColumn("y", y, Array.isArray(y) ? y.length - y.length % 3 : 0, Number.isSafeInteger);
  for (let at = 0; at < y.length; at += 3) if (!isIndex(y[at]) || !(isIndex(y[at + 1]) && y[at + 1] < n)) refuse("y");
  checkedColumn("c", c, Array.isArray(c) ? c.length - c.length % 3 : 0);
  for (let at = 0; at < c.length; at += 3) if (c[at + 1] > 1 || !(c[at + 2] < sides[c[at + 1]]?.k?.length)) refuse("c");
  return {
    q: checkedColumn("q", q, count, isIndexOrNone), i: checkedColumn("i", i, count, isIndexOrNone), y, c,
    p: checkedList("p", p, count, (member, parts) => parts === 0 ? 0 : checkedColumn(member, parts, parts.length === 6 ? 6 : 5, Number.isFinite)),
  };
}

function checkedColors(json) {
  const scheme = (value) => Object.fromEntries(Object.entries(colorNames).flatMap(([kind, name]) => {
    const colors = checkedObject("colors", value)[name];
    if (colors === undefined && name.length > 1) return [];
    if (!Array.isArray(colors) || colors.length < 2 || !colors.every(isColor)) refuse("colors");
    return [[kind, colors]];
  }));
  const { light, dark } = checkedObject("colors", json);
  return { light: scheme(light), dark: scheme(dark) };
}

function checkedTransfers(json, ranks) {
  const { k, r, q, s, m, t, d } = checkedObject("transfers", json), n = checkedKinds("transfers", k, /[^FB]/).length;
  const isRank = (value) => isIndex(value) && value < ranks;
  return {
    k, r: checkedColumn("r", r, n, isRank), q: checkedColumn("q", q, n, isRank), s: checkedColumn("s", s, n),
    m: checkedColumn("m", m, n), t: checkedColumn("t", t, n, Number.isFinite), d: checkedColumn("d", d, n, Number.isFinite),
  };
}

// A schedule as readSchedule takes it.
function checkedSchedule(json) {
  checkedObject("schedule", json);
  const isPositive = (value) => Number.isFinite(value) && value > 0;
  if (!Array.isArray(json.lanes) || !json.lanes.length) refuse("lanes");
  const streams = json.streams === undefined ? [] : checkedList("streams", json.streams, null, checkedText);
  const lanes = json.lanes.map((lane, rank) => checkedLane(lane, rank, streams.length));
  const sizes = lanes.map((lane) => lane.streams.reduce((sum, { k }) => sum + k.length, lane.k.length));
  const isStep = (rank, index) => isIndex(rank) && rank < lanes.length && isIndex(index) && index < sizes[rank];
  for (const { w } of lanes.flatMap((lane) => [lane, ...lane.streams]))
    if (w && !w.q.every((rank, gap) => rank === -1 || isStep(rank, w.i[gap]))) refuse("w");
  const text = (member, optional) => optional && json[member] === undefined ? undefined : checkedText(member, json[member]);
  const number = (member, holds) => checkedNumber(member, json[member], holds);
  return {
    name: text("name"), sizes: text("sizes"), costs: text("costs"), bubble: text("bubble", true), shown: text("shown", true),
    params: Object.entries(checkedObject("params", json.params))
      .map(([name, value]) => [name.slice(0, maxText), checkedNumber("params", value)]),
    ranks: number("ranks", isIndex), stages: number("stages", isIndex), microbatches: number("microbatches", isIndex),
    slices: json.slices === undefined ? 1 : number("slices", (value) => isIndex(value) && value > 0),
    ticksPerUnit: number("ticksPerUnit", isPositive), memoryUnit: number("memoryUnit", isPositive), memoryInBytes: json.memoryInBytes === true,
    makespan: number("makespan"), length: number("length"), from: number("from"), to: number("to"),
    phases: checkedList("phases", json.phases, null, checkedText), streams, colors: checkedColors(json.colors), lanes,
    transfers: checkedTransfers(json.transfers, lanes.length),
    critical: checkedList("critical", json.critical, null, (member, pair) =>
      Array.isArray(pair) && pair.length === 2 && isStep(...pair) ? pair : refuse(member)),
    sources: checkedList("sources", json.sources, null, (member, pair) => checkedList(member, pair, 2, checkedText)),
  };
}
