// Drawing. A view is a range of time and a height from which the rows are
// shown; everything visible is drawn anew for every frame. Steps narrower than
// a pixel and a half are summed up into columns of mixed colour, so a frame
// costs no more than a look at each visible step.

const nameWidth = 76;
// Above the rows: the times, and the braces of phases if there are any.
let axisHeight = 26;
const phaseHeight = 20;
// Right of the rows: idle time and memory peaks, where there is room for them.
let sideWidth = 8;
// The transfers that a frame draws at most.
const maxArrows = 3000;
// Heights of the bands of a row; they grow when there is room.
let laneHeight = 24, fsdpHeight = 8, memoryHeight = 20;

function cssColors() {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue("--" + name).trim();
  return Object.fromEntries(["page", "ink", "soft", "lane", "line", "edge", "accent", "path", "act", "grad", "mem", "alert"]
    .map((name) => [name, color(name)]));
}

function channels(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

// The rows of the page, top to bottom, and their places. They become lower to fit
// the page, down to what can be read.
function layOut(schedules, rankByRank, withMemory, room) {
  const place = (scale) => {
    [laneHeight, fsdpHeight, memoryHeight] = [24, 8, 20].map((height) => Math.round(height * scale));
    return placeRows(schedules, rankByRank, withMemory, Math.min(scale, 1));
  };
  const usual = place(1);
  if (usual.height < room) return place(Math.min(1.6, room / usual.height));
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
    row.fsdpY = y + laneHeight + 2;
    row.memoryY = y + laneHeight + (lane.fsdp ? fsdpHeight + 2 : 0) + 2;
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

class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.g = canvas.getContext("2d");
    this.recolor();
  }

  recolor() {
    this.colors = cssColors();
    this.scheme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    this.laneChannels = channels(this.colors.lane);
    this.mixed = new Map();
  }

  // Fits the canvas to its place on the page, which clears it: the caller paints it
  // before the browser shows the next frame.
  resize() {
    const { clientWidth, clientHeight } = this.canvas;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.width = clientWidth;
    this.height = clientHeight;
  }

  // The right end of the rows.
  get right() {
    return this.width - sideWidth;
  }

  // The colours of a kind: its shades, and last that of text on them.
  kindColors(schedule, kind) {
    return schedule.colors[this.scheme][kind];
  }

  fill(schedule, lane, i) {
    const colors = this.kindColors(schedule, lane.kind[i]), shades = colors.length - 1;
    const chunk = lane.chunk[i];
    return colors[schedule.most <= shades ? Math.min(chunk, shades - 1)
      : Math.min(shades - 1, Math.floor(chunk * shades / schedule.most))];
  }

  paint(scene) {
    const { g } = this;
    g.fillStyle = this.colors.page;
    g.fillRect(0, 0, this.width, this.height);
    g.font = "11px " + getComputedStyle(document.body).fontFamily;
    g.textBaseline = "middle";
    const view = scene.view;
    this.x = (time) => nameWidth + (time - view.from) / (view.to - view.from) * (this.right - nameWidth);
    this.t0 = view.from;
    this.t1 = view.to;
    g.save();
    g.beginPath();
    g.rect(0, axisHeight, this.width, this.height - axisHeight);
    g.clip();
    g.translate(0, axisHeight - view.top);
    const step = axisStep((this.t1 - this.t0) * 64 / (this.right - nameWidth));
    this.ticks = [];
    for (let k = Math.ceil(this.t0 / step - 1e-9); k * step <= this.t1; ++k) this.ticks.push(k * step);
    this.paintGrid(view.top, view.top + this.height);
    const visible = scene.rows.filter((row) => row.bottom > view.top && row.y < view.top + this.height);
    this.withKinds = visible.every((row) => this.hasRoomForKinds(row));
    for (const row of visible) this.paintRow(scene, row);
    this.paintOverlays(scene);
    this.paintSelection(scene);
    g.restore();
    this.paintAxis(scene);
    this.paintPhases(scene);
    this.paintScroll(scene);
  }

  // Whether every number in view has room for the letter of its kind, too: kinds
  // are named on all steps or on none.
  hasRoomForKinds({ lane, schedule }) {
    const perUnit = (this.right - nameWidth) / (this.t1 - this.t0);
    for (let i = lowerBound(lane.n, (k) => lane.right[k] > this.t0); i < lane.n && lane.left[i] < this.t1; ++i) {
      const letters = String(lane.microbatch[i]).length + chunkName(schedule, lane, i).length;
      const width = (lane.right[i] - lane.left[i]) * perUnit;
      if (width < 6.5 * (letters + 1) + 12) return false;
    }
    return true;
  }

  paintGrid(top, bottom) {
    const { g } = this;
    g.strokeStyle = this.colors.line;
    g.lineWidth = 1;
    g.beginPath();
    for (const time of this.ticks) {
      g.moveTo(this.x(time), top);
      g.lineTo(this.x(time), bottom);
    }
    g.stroke();
  }

  paintRow(scene, row) {
    const { g } = this;
    const { lane, schedule } = row;
    const { right } = this;
    g.save();
    g.beginPath();
    g.rect(nameWidth, row.y - 2, right - nameWidth, row.bottom - row.y + 4);
    g.clip();
    g.fillStyle = this.colors.lane;
    g.fillRect(this.x(schedule.from), row.y, this.x(schedule.to) - this.x(schedule.from), laneHeight);
    this.paintGrid(row.y, row.y + laneHeight);
    g.strokeStyle = this.colors.soft;
    g.lineWidth = 0.6;
    g.strokeRect(this.x(schedule.from) + 0.5, row.y + 0.5, this.x(schedule.to) - this.x(schedule.from) - 1, laneHeight - 1);
    this.paintSteps(scene, row, row.y, laneHeight);
    if (lane.fsdp) this.paintFsdp(row);
    this.paintWaits(row);
    if (scene.memory && lane.memory) this.paintMemory(row);
    g.restore();
    g.fillStyle = this.colors.ink;
    g.textAlign = "right";
    g.fillText((row.letter ? row.letter + "  " : "") + "rank " + lane.rank, nameWidth - 8, row.y + laneHeight / 2);
    this.paintSide(scene, row);
  }

  // The idle time of a rank, its peak of memory, and the scale of memory.
  paintSide(scene, row) {
    const { g } = this;
    const { lane, schedule } = row;
    const withMemory = scene.memory && lane.memory;
    g.save();
    g.fillStyle = this.colors.soft;
    if (withMemory) {
      g.font = g.font.replace(/[0-9.]+px/, "9px");
      g.textAlign = "right";
      g.fillText(timeText(schedule.memoryScale), nameWidth - 6, row.memoryY + 5);
      if (memoryHeight >= 16) g.fillText("0", nameWidth - 6, row.memoryY + memoryHeight - 4);
    }
    if (sideWidth > 8) {
      g.font = g.font.replace(/[0-9.]+px/, "11px");
      g.textAlign = "left";
      g.fillText(schedule.idle(lane), this.right + 8, row.y + laneHeight / 2);
      if (lane.limit < lane.peak) g.fillStyle = this.colors.alert;
      if (withMemory)
        g.fillText(timeText(lane.peak) + (lane.limit === undefined ? "" : ` / ${timeText(lane.limit)}`), this.right + 8, row.memoryY + memoryHeight / 2);
    }
    g.restore();
  }

  // The item that the keyboard or a search has selected.
  paintSelection({ selected, rows }) {
    const row = selected && rows.find((row) => row.lane === selected.lane);
    if (!row) return;
    const { g } = this, [from, to] = itemTimes(row.schedule, row.lane, selected);
    const a = Math.max(this.x(from), nameWidth - 4), b = Math.min(this.x(to), this.right + 4);
    if (b < nameWidth || a > this.right) return;
    g.strokeStyle = this.colors.accent;
    g.lineWidth = 3;
    g.strokeRect(a - 1.5, row.y - 1.5, Math.max(b - a + 2, 3), laneHeight + 3);
  }

  // Braces over the phases of one row: that of the pointer, or the first in view.
  paintPhases(scene) {
    const { g } = this;
    if (axisHeight <= 26) return;
    const row = scene.phaseRow ?? scene.rows.find((row) => row.bottom > scene.view.top && phasesOf(row.schedule, row.lane).length);
    if (!row) return;
    const top = 24;
    g.fillStyle = g.strokeStyle = this.colors.soft;
    g.lineWidth = 1;
    g.textAlign = "right";
    g.fillText("phases", nameWidth - 20, top + 7);
    g.textAlign = "center";
    const phases = phasesOf(row.schedule, row.lane);
    let drawn = -Infinity;
    for (let k = lowerBound(phases.length, (i) => phases[i].to > this.t0); k < phases.length && phases[k].from < this.t1; ++k) {
      const { name, from, to } = phases[k];
      const a = Math.max(this.x(from), nameWidth), b = Math.min(this.x(to), this.right);
      if (b - a < 3 || b - drawn < 3) continue;
      drawn = b;
      g.beginPath();
      g.moveTo(a + 1, top + 18);
      g.lineTo(a + 1, top + 14);
      g.lineTo(b - 1, top + 14);
      g.lineTo(b - 1, top + 18);
      g.stroke();
      if (b - a > 6.5 * name.length) g.fillText(name, (a + b) / 2, top + 7);
    }
  }

  // Where the rows are, if not all of them are in view.
  scrollBar(scene) {
    const room = this.height - axisHeight;
    if (scene.height <= room) return null;
    const length = Math.max(24, room * room / scene.height);
    return { length, y: axisHeight + (room - length) * scene.view.top / (scene.height - room), perPixel: (scene.height - room) / (room - length) };
  }

  paintScroll(scene) {
    const bar = this.scrollBar(scene);
    if (!bar) return;
    this.g.fillStyle = this.colors.line;
    this.g.fillRect(this.width - 7, axisHeight, 7, this.height - axisHeight);
    this.g.fillStyle = this.colors.soft;
    this.g.fillRect(this.width - 6, bar.y, 5, bar.length);
  }

  // The steps of a lane between t0 and t1, in a band of a canvas.
  paintSteps(scene, row, y, height) {
    const { g } = this;
    const { lane, schedule } = row;
    const dim = (i) => (scene.microbatch !== null && lane.microbatch[i] !== scene.microbatch)
      || (scene.critical && !lane.critical[i] && scene.microbatch === null);
    let pixel = -1, sums = [0, 0, 0], area = 0;
    // The frames of overlaps, drawn around all members after them: [left, right].
    const frames = [];
    let framed = -1;
    const flush = () => {
      if (pixel >= 0 && area > 0) {
        const idle = Math.max(0, 1 - area);
        const mix = sums.map((sum, c) => Math.round((sum + idle * this.laneChannels[c]) / (area + idle)));
        g.fillStyle = `rgb(${mix[0]},${mix[1]},${mix[2]})`;
        g.fillRect(pixel, y, 1, height);
      }
      pixel = -1;
      sums = [0, 0, 0];
      area = 0;
    };
    for (let i = lowerBound(lane.n, (k) => lane.right[k] > this.t0); i < lane.n && lane.left[i] < this.t1; ++i) {
      const a = this.x(lane.left[i]), b = this.x(lane.right[i]);
      const color = this.fill(schedule, lane, i);
      if (lane.stop[i] - lane.first[i] > 1 && height === laneHeight && lane.first[i] !== framed) {
        framed = lane.first[i];
        frames.push([this.x(lane.start[i]), this.x(lane.end[i])]);
      }
      if (b - a < 1.5) {
        let rgb = this.mixed.get(color);
        if (!rgb) this.mixed.set(color, rgb = channels(color));
        const faded = dim(i) ? 0.2 : 1;
        // A step on the border of two columns gives each its part.
        for (let from = a; from < b;) {
          const at = Math.floor(from), to = Math.min(b, at + 1), weight = to - from;
          if (at !== pixel) flush();
          pixel = at;
          for (let c = 0; c < 3; ++c)
            sums[c] += weight * (faded * rgb[c] + (1 - faded) * this.laneChannels[c]);
          area += weight;
          from = to;
        }
        continue;
      }
      flush();
      const faded = dim(i);
      g.globalAlpha = faded ? 0.2 : 1;
      g.fillStyle = color;
      g.fillRect(a, y, b - a - (b - a > 4 ? 1 : 0), height);
      // The part of the step that is in view has the number.
      const left = Math.max(a, nameWidth), right = Math.min(b, this.right);
      if (height === laneHeight && right - left > 7) {
        const name = (this.withKinds ? lane.kind[i] : "") + lane.microbatch[i] + chunkName(schedule, lane, i);
        if (right - left > 6.5 * name.length + 4) {
          g.globalAlpha = faded ? 0.5 : 1;
          g.fillStyle = faded ? this.colors.soft : this.kindColors(schedule, lane.kind[i]).at(-1);
          g.textAlign = "center";
          g.fillText(name, (left + right) / 2, y + height / 2 + 0.5);
        }
      }
      g.globalAlpha = 1;
      if (scene.critical && lane.critical[i] && scene.microbatch === null && height === laneHeight) {
        g.strokeStyle = this.colors.path;
        g.lineWidth = 2;
        g.strokeRect(a + 1, y + 1, Math.max(b - a - 3, 1), height - 2);
      }
    }
    flush();
    g.strokeStyle = this.colors.ink;
    g.lineWidth = 1.2;
    for (const [a, b] of frames) if (b - a > 4) g.strokeRect(a - 0.5, y - 0.5, b - a, height + 1);
  }

  paintFsdp(row) {
    const { g } = this;
    const { fsdp } = row.lane;
    g.fillStyle = this.colors.lane;
    g.fillRect(this.x(row.schedule.from), row.fsdpY, this.x(row.schedule.to) - this.x(row.schedule.from), fsdpHeight);
    for (let i = 0; i < fsdp.n; ++i) {
      if (fsdp.end[i] < this.t0 || fsdp.start[i] > this.t1) continue;
      const a = this.x(fsdp.start[i]);
      g.fillStyle = this.kindColors(row.schedule, fsdp.kind[i])[0];
      g.fillRect(a, row.fsdpY, Math.max(this.x(fsdp.end[i]) - a, 3), fsdpHeight);
    }
  }

  // Waits take no time: a small triangle on the lower edge of the lane.
  paintWaits(row) {
    const { g } = this;
    const { waits } = row.lane;
    const colors = { F: this.colors.act, B: this.colors.grad, G: this.kindColors(row.schedule, "G")[0] };
    const bottom = row.y + laneHeight + 1;
    let last = -Infinity;
    for (let i = lowerBound(waits.n, (k) => waits.time[k] >= this.t0); i < waits.n && waits.time[i] <= this.t1; ++i) {
      const x = this.x(waits.time[i]);
      if (x - last < 1) continue;
      last = x;
      g.beginPath();
      g.moveTo(x, bottom - 7);
      g.lineTo(x + 4, bottom);
      g.lineTo(x - 4, bottom);
      g.closePath();
      g.strokeStyle = this.colors.page;
      g.lineWidth = 1.5;
      g.stroke();
      g.fillStyle = colors[waits.kind[i]];
      g.fill();
    }
  }

  paintMemory(row) {
    const { g } = this;
    const { memory } = row.lane;
    const base = row.memoryY + memoryHeight;
    const y = (value) => base - (memoryHeight - 2) * value / row.schedule.memoryScale;
    let i = Math.max(0, lowerBound(memory.n, (k) => memory.start[k] > this.t0) - 1);
    g.beginPath();
    g.moveTo(this.x(Math.max(this.t0, row.schedule.from)), base);
    let last = -1;
    for (; i < memory.n && memory.start[i] < this.t1; ++i) {
      const a = this.x(Math.max(memory.start[i], this.t0));
      if (i && a > last) g.lineTo(a, y(memory.value[i - 1]));
      g.lineTo(a, y(memory.value[i]));
      last = a;
    }
    const end = this.x(Math.min(this.t1, row.schedule.to));
    if (i) g.lineTo(end, y(memory.value[i - 1]));
    g.lineTo(end, base);
    g.fillStyle = this.colors.mem;
    g.globalAlpha = 0.7;
    g.fill();
    g.globalAlpha = 1;
    const { limit } = row.lane;
    if (limit === undefined || limit > row.schedule.memoryScale) return;
    g.strokeStyle = this.colors.alert;
    g.lineWidth = 1;
    g.setLineDash([4, 3]);
    g.beginPath();
    g.moveTo(this.x(row.schedule.from), y(limit));
    g.lineTo(this.x(row.schedule.to), y(limit));
    g.stroke();
    g.setLineDash([]);
  }

  arrow(x0, y0, x1, y1, color) {
    const { g } = this;
    g.strokeStyle = g.fillStyle = color;
    g.beginPath();
    g.moveTo(x0, y0);
    g.lineTo(x1, y1);
    g.stroke();
    const angle = Math.atan2(y1 - y0, x1 - x0);
    g.beginPath();
    g.moveTo(x1, y1);
    for (const turn of [-0.4, 0.4])
      g.lineTo(x1 - 6 * Math.cos(angle + turn), y1 - 6 * Math.sin(angle + turn));
    g.fill();
  }

  // The transfers in view. Where they are more than can be told apart, every
  // second, third, ... of each edge and kind is drawn; returns how many of how
  // many then, else null.
  paintTransfers(scene, edges) {
    const shown = [];
    for (const schedule of scene.schedules) {
      const list = schedule.transfers;
      const rows = new Map(scene.rows.filter((row) => row.schedule === schedule).map((row) => [row.lane.rank, row]));
      for (let i = 0; i < list.n; ++i) {
        if (list.end[i] < this.t0 || list.start[i] > this.t1) continue;
        if (scene.microbatch !== null && list.microbatch[i] !== scene.microbatch) continue;
        const from = rows.get(list.rank[i]), to = rows.get(list.peer[i]);
        const top = Math.min(from.y, to.y), bottom = Math.max(from.bottom, to.bottom);
        if (bottom > scene.view.top && top < scene.view.top + this.height) shown.push({ list, i, from, to });
      }
    }
    const every = Math.ceil(shown.length / maxArrows);
    const passed = new Map();
    let drawn = 0;
    for (const { list, i, from, to } of shown) {
      if (every > 1) {
        const edge = (from.y * 1e6 + to.y) * 2 + (list.kind[i] === "F");
        const count = passed.get(edge) ?? 0;
        passed.set(edge, count + 1);
        if (count % every) continue;
      }
      ++drawn;
      const [y0, y1] = edges(from, to);
      this.arrow(this.x(list.start[i]), y0, this.x(list.end[i]), y1, list.kind[i] === "F" ? this.colors.act : this.colors.grad);
    }
    return every > 1 ? { drawn, all: shown.length } : null;
  }

  // Lines between rows: transfers, the path of a micro-batch, the critical path.
  paintOverlays(scene) {
    const { g } = this;
    g.save();
    g.beginPath();
    g.rect(nameWidth, -1e6, this.right - nameWidth, 2e6);
    g.clip();
    g.lineWidth = 1;
    const edges = (from, to) => to.y > from.y ? [from.y + laneHeight, to.y] : [from.y, to.y + laneHeight];
    scene.sparse = scene.transfers ? this.paintTransfers(scene, edges) : null;
    const connect = (path, color) => {
      g.strokeStyle = color;
      g.lineWidth = 1.5;
      for (let k = 1; k < path.length; ++k) {
        const [r0, i] = path[k - 1], [r1, j] = path[k];
        if (r0 === r1) continue;
        const a = scene.rows[r0], b = scene.rows[r1];
        const t = Math.min(a.lane.right[i], b.lane.left[j]);
        if (b.lane.left[j] < this.t0 || t > this.t1) continue;
        const [y0, y1] = edges(a, b);
        g.beginPath();
        g.moveTo(this.x(t), y0);
        g.lineTo(this.x(b.lane.left[j]), y1);
        g.stroke();
      }
    };
    if (scene.microbatch !== null)
      for (const path of scene.paths) connect(path.filter(([r, i]) => scene.rows[r].lane.kind[i] !== "W"), this.colors.path);
    else if (scene.critical)
      for (const path of scene.criticalPaths) connect(path, this.colors.path);
    g.restore();
  }

  paintAxis(scene) {
    const { g } = this;
    g.fillStyle = this.colors.page;
    g.fillRect(0, 0, this.width, axisHeight);
    g.textAlign = "center";
    g.fillStyle = this.colors.soft;
    for (const time of this.ticks)
      if ((this.x(time) > nameWidth + 10 || time === 0) && (sideWidth <= 8 || this.x(time) < this.right - 14)) g.fillText(timeText(time), this.x(time), 11);
    g.fillStyle = this.colors.soft;
    g.textAlign = "right";
    g.fillText("time", nameWidth - 20, 11);
    if (sideWidth > 8) {
      g.textAlign = "left";
      g.fillText("idle", this.right + 8, 11);
    }
    if (scene.cursor !== null) {
      g.strokeStyle = this.colors.soft;
      g.beginPath();
      g.moveTo(scene.cursor, axisHeight - 5);
      g.lineTo(scene.cursor, this.height);
      g.stroke();
    }
  }
}
