// Drawing one row: its steps, those that it posts, waits and memory.

// The width of a number; a point is narrower than a digit.
const labelWidth = (name) => 6.5 * name.length - (name.includes(".") ? 2 : 0);

class RowPainter {
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
    return this.kindColors(schedule, lane.kind[i])[this.shade(schedule, lane, i)];
  }

  // The shade of a step, the darkest is 0.
  shade(schedule, lane, i) {
    const shades = this.kindColors(schedule, lane.kind[i]).length - 1;
    const bySlice = schedule.most < 2 && lane.slice;
    const part = bySlice ? lane.slice[i] : lane.chunk[i], parts = bySlice ? schedule.slices : schedule.most;
    return parts <= shades ? Math.min(part, shades - 1) : Math.min(shades - 1, Math.floor(part * shades / parts));
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

  // Which steps of a lane are drawn with their numbers, as in lib/Emit/DrawingLanes.cpp:
  // those of a kind, chunk and form all are if the longest number fits each of them,
  // else none.
  labelled(lane, schedule) {
    const perUnit = (this.right - nameWidth) / (this.t1 - this.t0);
    const room = 6.5 * (schedule.labelLetters + (this.withKinds ? 1 : 0)) + 4;
    return new Set([...lane.narrowest].filter(([, width]) => width * perUnit > room).map(([type]) => type));
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
    // The numbers: [text, middle, color, alpha].
    const labels = [], fits = height === laneHeight ? this.labelled(lane, schedule) : null;
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
      if (b - a > 6) {
        g.strokeStyle = this.colors.box;
        g.lineWidth = 0.8;
        g.strokeRect(a, y + 0.4, b - a - 1, height - 0.8);
      }
      // As in lib/Emit/DrawingLanes.cpp.
      if (b - a > 4 && height === laneHeight && height >= leastStriped) {
        g.globalAlpha = faded ? 0.15 : 0.75;
        g.fillStyle = stripeColor;
        for (let k = this.shade(schedule, lane, i); k > 0; --k)
          g.fillRect(a + 0.6, y + stripePitch * k - 0.5, b - a - 2.2, 1);
        const bar = this.kindColors(schedule, lane.kind[i]).length > 2 && kindBars[lane.kind[i]];
        if (bar) g.fillRect(a + 0.6 + (b - a - 2.2) * bar[0], y + height - barHeight - 1, (b - a - 2.2) * (bar[1] - bar[0]), barHeight);
        g.globalAlpha = faded ? 0.2 : 1;
      }
      if (fits?.has(typeOfStep(lane, i))) {
        const name = (this.withKinds || lane.microbatch[i] < 0 ? lane.kind[i] : "") + unitName(lane, i) + chunkName(schedule, lane, i);
        // The part of the step that is in view has the number.
        const left = Math.max(a, nameWidth), right = Math.min(b, this.right);
        if (right - left > labelWidth(name) + 4)
          labels.push([name, (left + right) / 2, faded ? this.colors.soft : this.kindColors(schedule, lane.kind[i]).at(-1), faded ? 0.5 : 1]);
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
    g.textAlign = "center";
    for (const [name, x, color, alpha] of labels) {
      g.globalAlpha = alpha;
      g.fillStyle = color;
      g.fillText(name, x, y + height / 2 + 0.5);
    }
    g.globalAlpha = 1;
  }

  // Posted steps: collectives, copies in one direction, or computes on a stream.
  paintSide(scene, row, side, y) {
    const { g } = this;
    g.fillStyle = this.colors.lane;
    g.fillRect(this.x(row.schedule.from), y, this.x(row.schedule.to) - this.x(row.schedule.from), sideHeight);
    if (side.left) {
      this.paintSteps(scene, { lane: side, schedule: row.schedule }, y, sideHeight);
      return;
    }
    for (let i = 0; i < side.n; ++i) {
      if (side.end[i] < this.t0 || side.start[i] > this.t1) continue;
      const a = this.x(side.start[i]);
      g.globalAlpha = side.microbatch && scene.microbatch !== null && side.microbatch[i] !== scene.microbatch ? 0.2 : 1;
      g.fillStyle = this.kindColors(row.schedule, side.kind[i])[0];
      g.fillRect(a, y, Math.max(this.x(side.end[i]) - a, 3), sideHeight);
    }
    g.globalAlpha = 1;
  }

  // Waits take no time: a small triangle on the lower edge of the lane.
  paintWaits(row) {
    const { g } = this;
    const { waits } = row.lane;
    const colorOf = (kind) => kind === "F" ? this.colors.act : kind === "B" ? this.colors.grad
      : this.kindColors(row.schedule, kind.toLowerCase())?.[0] ?? this.colors.ink;
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
      g.fillStyle = colorOf(waits.kind[i]);
      g.fill();
    }
  }

  // Strips, the darker the more memory, as in lib/Emit/DrawingLanes.cpp.
  paintHeat(row) {
    const { g } = this, { memory, host } = row.lane, { from, to, heatScale } = row.schedule;
    const height = host ? (memoryHeight - 1) / 2 : memoryHeight, right = this.x(Math.min(this.t1, to));
    const strips = [[memory, this.colors.heat], ...host ? [[host, this.kindColors(row.schedule, "l")?.[0] ?? this.colors.ink]] : []];
    for (const [k, [{ n, start, value }, color]] of strips.entries()) {
      const y = row.memoryY + k * (height + 1);
      g.fillStyle = color;
      // Levels that end in one pixel are drawn as the highest of them.
      let left = this.x(Math.max(this.t0, from)), most = 0;
      for (let i = Math.max(0, lowerBound(n, (k) => start[k] > this.t0) - 1); i < n && start[i] < this.t1; ++i) {
        const end = Math.round(i + 1 < n ? Math.min(this.x(start[i + 1]), right) : right);
        if (!most) left = Math.max(left, Math.round(this.x(start[i])));
        most = Math.max(most, value[i]);
        if (end <= left) continue;
        g.globalAlpha = Math.ceil(heatLevels * most / heatScale) / heatLevels;
        if (most > 0) g.fillRect(left, y, end - left, height);
        [left, most] = [end, 0];
      }
      g.globalAlpha = 1;
      g.strokeStyle = this.colors.soft;
      g.lineWidth = 0.6;
      g.strokeRect(this.x(from) + 0.5, y + 0.3, this.x(to) - this.x(from) - 1, height - 0.6);
    }
  }

  paintCurves(row) {
    const { g } = this;
    const { memory, host } = row.lane;
    const base = row.memoryY + memoryHeight;
    const y = (value) => base - (memoryHeight - 2) * value / row.schedule.memoryScale;
    this.traceLevels(row, memory, base, y);
    g.fillStyle = this.colors.mem;
    g.globalAlpha = 0.7;
    g.fill();
    g.globalAlpha = 1;
    if (host) {
      this.traceLevels(row, host, base, y);
      g.strokeStyle = this.kindColors(row.schedule, "l")?.[0] ?? this.colors.ink;
      g.lineWidth = 1.5;
      g.stroke();
    }
    this.paintLimit(row, y);
  }

  // The path of a curve of memory, from the base and back to it.
  traceLevels(row, memory, base, y) {
    const { g } = this;
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
  }

  paintLimit(row, y) {
    const { g } = this;
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
}
