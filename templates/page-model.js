// The schedules of the page: what the blocks of JSON say, as arrays to search.
//
// A lane is a rank. Its compute steps are columns: k the kinds (F, B, I, W; in
// small letters when the step overlaps with the next one), s stages, c chunks,
// m micro-batches, g the time since the end of the group before, d durations, o
// the duration of every overlap as a whole, p phases, l places in the source.
// fsdp has k (U unshard, R reshard, G reduce gradients,
// T reduce tied gradients, of group s), s, t the time since
// the start of the one before, and d. waits has k (F and B for a send, G for a
// reduction), s, m and t as well, the time at which each is over. memory has what the rank keeps from a time
// on: t and v. transfers are sends: k (F activations, B
// gradients), r and q the ranks, s, m, t and d. critical is the critical path: the
// rank and the index of each compute step on it. Times are ticks; here they become
// units of the costs.
function readSchedule(json) {
  const unit = json.ticksPerUnit;
  const schedule = {
    ...json, length: json.length / unit, makespan: json.makespan / unit,
    from: json.from / unit, to: json.to / unit,
    lanes: json.lanes.map((lane) => readLane(lane, json, unit)),
    transfers: readTransfers(json.transfers, unit),
  };
  schedule.most = Math.max(0, ...schedule.lanes.map((lane) => lane.most));
  schedule.count = schedule.lanes.reduce((sum, lane) => sum + lane.n, 0);
  schedule.memoryPeak = schedule.lanes.reduce((peak, lane) => lane.memory.value.reduce((a, b) => Math.max(a, b), peak), 0);
  return schedule;
}

function readLane(json, schedule, unit) {
  const n = json.k.length;
  const lane = {
    rank: json.rank, n, work: json.work / unit, most: 0,
    kind: json.k.toUpperCase(), stage: json.s, chunk: json.c, microbatch: json.m,
    phase: json.p, source: json.l,
    // When the group of a step runs, and the part of it where the step is drawn.
    start: new Float64Array(n), end: new Float64Array(n),
    left: new Float64Array(n), right: new Float64Array(n),
    // The first step of the group, and the one after its last.
    first: new Uint32Array(n), stop: new Uint32Array(n),
    critical: new Uint8Array(n),
  };
  let at = schedule.from, group = 0, overlap = 0;
  for (let i = 0; i < n;) {
    let end = i + 1, sum = json.d[i];
    while (json.k[end - 1] > "Z") sum += json.d[end++];
    const start = at + json.g[group++];
    at = start + (end - i > 1 ? json.o[overlap++] : json.d[i]);
    for (let done = 0, j = i; j < end; ++j) {
      const part = (x) => (start + (at - start) * (sum ? x / sum : 0)) / unit;
      lane.start[j] = start / unit;
      lane.end[j] = at / unit;
      lane.left[j] = sum ? part(done) : start / unit;
      done += json.d[j];
      lane.right[j] = j + 1 === end ? at / unit : part(done);
      lane.first[j] = i;
      lane.stop[j] = end;
      lane.most = Math.max(lane.most, lane.chunk[j] + 1);
    }
    i = end;
  }
  lane.fsdp = json.fsdp && readFsdp(json.fsdp, schedule.from, unit);
  lane.memory = readMemory(json.memory, schedule, unit);
  lane.waits = readWaits(json.waits ?? { k: "", s: [], m: [], t: [] }, schedule.from, unit);
  return lane;
}

function readFsdp(json, from, unit) {
  let at = from;
  const start = Float64Array.from(json.t, (gap) => (at += gap) / unit);
  return {
    n: json.k.length, kind: json.k, stage: json.s, start,
    end: start.map((time, i) => time + json.d[i] / unit),
  };
}

function readWaits(json, from, unit) {
  let at = from;
  return {
    n: json.k.length, kind: json.k, stage: json.s, microbatch: json.m,
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

// A chunk as a letter after the micro-batch, where ranks hold several.
function chunkName(schedule, lane, i) {
  if (schedule.most < 2) return "";
  const chunk = lane.chunk[i];
  return chunk < 26 ? String.fromCharCode(97 + chunk) : "." + chunk;
}

const kindNames = {
  F: "forward", B: "backward", I: "input gradient", W: "weight gradient",
  U: "unshard", R: "reshard", G: "reduce gradients", T: "sum tied gradients",
};

function waitName(waits, i) {
  return waits.kind[i] === "G" ? `WAIT_REDUCE_GRAD s${waits.stage[i]}`
    : `WAIT_SEND_${waits.kind[i]} s${waits.stage[i]} m${waits.microbatch[i]}`;
}

function stepName(lane, i) {
  return `${lane.kind[i]} s${lane.stage[i]} m${lane.microbatch[i]}`;
}

function timeText(time) {
  return String(Number(time.toFixed(6)));
}

// The steps of a micro-batch in the order of their starts: [row, index].
function pathOf(rows, schedule, microbatch) {
  const path = [];
  rows.forEach((row, r) => {
    if (row.schedule !== schedule) return;
    row.lane.microbatch.forEach((m, i) => {
      if (m === microbatch) path.push([r, i]);
    });
  });
  const start = ([r, i]) => rows[r].lane.left[i];
  return path.sort((a, b) => start(a) - start(b));
}
