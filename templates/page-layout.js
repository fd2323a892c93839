// The rows of the page and their places, its colours, and the steps of its axis.

const nameWidth = 76;
// Above the rows: the times, and the braces of phases if there are any.
let axisHeight = 26;
const phaseHeight = 20;
// Right of the rows: idle time and memory peaks, where there is room for them.
let sideWidth = 8;
// The transfers that a frame draws at most.
const maxArrows = 3000;
// The lines at the top of a step that tell its chunk without its colour: their distance
// and colour; in a lane below this height they would hide the number.
const stripePitch = 2.4, stripeColor = "#111827", leastStriped = 18;
// The bars at the bottom that tell its kind, where there are several chunks: the part of its width.
const barHeight = 2, kindBars = { B: [0, 1], I: [0, 1 / 2], W: [1 / 2, 1], R: [1 / 3, 2 / 3] };
// Heights of the bands of a row; they grow when there is room.
let laneHeight = 24, sideHeight = 8, memoryHeight = 20;
// That of memory: of curves, of a strip, and of two.
const memoryHeights = { curves: 20, heat: 6, heatWithHost: 13 }, heatLevels = 8;

function cssColors() {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue("--" + name).trim();
  return Object.fromEntries(["page", "ink", "soft", "lane", "line", "edge", "box", "accent", "path", "act", "grad", "mem", "heat", "alert"]
    .map((name) => [name, color(name)]));
}

function channels(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

// The rows of the page, top to bottom, and their places. They become lower to fit
// the page, down to what can be read.
function layOut({ schedules, rankByRank, memory, curves }, room) {
  const hasHost = schedules.some(({ lanes }) => lanes.some(({ host }) => host));
  const memoryView = memoryHeights[curves ? "curves" : hasHost ? "heatWithHost" : "heat"];
  const place = (scale) => {
    [laneHeight, sideHeight, memoryHeight] = [24, 8, memoryView].map((height) => Math.round(height * scale));
    return placeRows(schedules, rankByRank, memory, Math.min(scale, 1));
  };
  const usual = place(1);
  if (usual.height < room) return place(Math.min(2, room / usual.height));
  for (let scale = 0.95; scale > 0.5; scale -= 0.05) {
    const lower = place(scale);
    if (lower.height <= room) return lower;
  }
  return place(0.5);
}

function placeRows(schedules, rankByRank, withMemory, scale) {
  const rows = [];
  let y = 0;
  const add = (schedule, lane, gap) => {
    y += Math.ceil(gap * scale);
    const row = { schedule, lane, y, letter: schedules.length > 1 ? schedule.letter : "" };
    row.sideY = lane.sides.map((side, k) => row.y + laneHeight + 2 + k * (sideHeight + 2));
    row.memoryY = y + laneHeight + lane.sides.length * (sideHeight + 2) + 2;
    y = row.memoryY + (withMemory && lane.memory ? memoryHeight + 2 : 0);
    row.bottom = y;
    rows.push(row);
  };
  if (rankByRank) {
    const ranks = Math.max(...schedules.map((schedule) => schedule.lanes.length));
    for (let rank = 0; rank < ranks; ++rank)
      schedules.forEach((schedule, i) => {
        if (rank < schedule.lanes.length) add(schedule, schedule.lanes[rank], i ? 1 : 8);
      });
  } else {
    schedules.forEach((schedule, i) => {
      schedule.lanes.forEach((lane, k) => add(schedule, lane, k ? 5 : i ? 26 : 6));
    });
  }
  return { rows, height: y + 8 };
}

// Multiples of 1, 2 or 5 times a power of ten, at least `least` apart.
function axisStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? 10 * power;
}
