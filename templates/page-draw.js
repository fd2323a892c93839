// Drawing. A view is a range of time and a height from which the rows are
// shown; everything visible is drawn anew for every frame. Steps narrower than
// a pixel and a half are summed up into columns of mixed colour, so a frame
// costs no more than a look at each visible step.

class Painter extends RowPainter {
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
      const letters = String(unitName(lane, i)).length + chunkName(schedule, lane, i).length;
      const width = (lane.right[i] - lane.left[i]) * perUnit;
      if (width < 6.5 * (letters + 1) + 12) return false;
    }
    return true;
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
    lane.sides.forEach((side, k) => this.paintSide(scene, row, side, row.sideY[k]));
    this.paintWaits(row);
    if (scene.memory && lane.memory) this[scene.curves ? "paintCurves" : "paintHeat"](row);
    g.restore();
    g.fillStyle = this.colors.ink;
    g.textAlign = "right";
    g.fillText((row.letter ? row.letter + "  " : "") + "rank " + lane.rank, nameWidth - 8, row.y + laneHeight / 2);
    this.paintFigures(scene, row);
  }

  // The names of lanes for copies and streams, the idle time of a rank, its peak of memory, and the
  // scale of memory.
  paintFigures(scene, row) {
    const { g } = this;
    const { lane, schedule } = row;
    const withMemory = scene.memory && lane.memory;
    g.save();
    g.fillStyle = this.colors.soft;
    g.font = g.font.replace(/[0-9.]+px/, "9px");
    g.textAlign = "right";
    lane.sides.forEach(({ key, name }, k) => {
      const letters = [...name], shown = letters.length <= 13 ? name : letters.slice(0, 11).join("").trimEnd() + "...";
      if (key !== "fsdp" && sideHeight >= 7) g.fillText(shown, nameWidth - 6, row.sideY[k] + sideHeight / 2);
    });
    if (withMemory && !scene.curves) g.fillText("memory", nameWidth - 6, row.memoryY + memoryHeight / 2);
    else if (withMemory) {
      g.fillText(sizeText(lane, schedule.memoryScale), nameWidth - 6, row.memoryY + 5);
      if (memoryHeight >= 16) g.fillText("0", nameWidth - 6, row.memoryY + memoryHeight - 4);
    }
    if (sideWidth > 8) {
      g.font = g.font.replace(/[0-9.]+px/, "11px");
      g.textAlign = "left";
      g.fillText(schedule.idle(lane), this.right + 8, row.y + laneHeight / 2);
      if (lane.over) g.fillStyle = this.colors.alert;
      if (withMemory)
        g.fillText(peakText(lane), this.right + 8, row.memoryY + memoryHeight / 2);
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
    const y = selected.side ? row.sideY[row.lane.sides.indexOf(selected.side)] : row.y;
    g.strokeRect(a - 1.5, y - 1.5, Math.max(b - a + 2, 3), (selected.side ? sideHeight : laneHeight) + 3);
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
        const [r0, from, i] = path[k - 1], [r1, to, j] = path[k];
        if (r0 === r1) continue;
        const t = Math.min(from.right[i], to.left[j]);
        if (to.left[j] < this.t0 || t > this.t1) continue;
        const [y0, y1] = edges(scene.rows[r0], scene.rows[r1]);
        g.beginPath();
        g.moveTo(this.x(t), y0);
        g.lineTo(this.x(to.left[j]), y1);
        g.stroke();
      }
    };
    if (scene.microbatch !== null)
      for (const path of scene.paths) connect(path.filter(([, steps, i]) => !"WR".includes(steps.kind[i])), this.colors.path);
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
      if ((this.x(time) > nameWidth + 10 || time === 0) && (sideWidth <= 8 || this.x(time) < this.right - 14)) {
        const text = timeText(time);
        g.fillText(text, Math.min(this.x(time), this.width - 3.25 * text.length - 3), 11);
      }
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
