// Selecting and finding steps, the address of a view, and saved pictures.

//--- Selection

// Selects an item, {lane, index, gap}, or nothing. It is brought into view, described
// and read out, unless it was selected with the mouse, which shows it anyway.
function select(item, byMouse = false) {
  scene.selected = item;
  scene.told = item !== null && !byMouse;
  noteState();
  if (item && !byMouse) {
    bringIntoView(item);
    tellSelected();
  } else if (!item) tip.hidden = true;
  redraw();
}

function rowOf(item) {
  return scene.rows.find((row) => row.lane === item.lane);
}

function bringIntoView(item) {
  const row = rowOf(item), { view } = scene;
  const [from, to] = itemTimes(row.schedule, row.lane, item);
  let { from: left, to: right } = view;
  // A step of less than a few pixels is enlarged.
  const least = (to - from) * (painter.right - nameWidth) / 12;
  if (least > 0 && right - left > least) [left, right] = [from - least / 2, from + least / 2];
  else if (from < left || to > right) {
    const half = (right - left) / 2;
    [left, right] = [(from + to) / 2 - half, (from + to) / 2 + half];
  }
  const room = painter.height - axisHeight;
  const top = row.y - 6 < view.top ? row.y - 6 : row.bottom + 6 > view.top + room ? row.bottom + 6 - room : view.top;
  setView(left, right, top);
}

function tellSelected() {
  const item = scene.selected, row = rowOf(item);
  const found = { ...item, row };
  const [from, to] = itemTimes(row.schedule, row.lane, item);
  const { view } = scene, perUnit = (painter.right - nameWidth) / (view.to - view.from);
  const x = Math.min(Math.max(nameWidth + ((from + to) / 2 - view.from) * perUnit, nameWidth), painter.right);
  showTip(found, x, axisHeight + row.y - view.top + laneHeight);
  byId("status").textContent = descriptionText(describe(found));
}

function selectNext(direction) {
  const item = scene.selected;
  if (!item) {
    const row = scene.rows.find((row) => row.bottom > scene.view.top);
    select({ lane: row.lane, ...itemAt(row.lane, Math.max(scene.view.from, row.schedule.from)) });
    return;
  }
  const next = neighbour(rowOf(item).schedule, item.lane, item, direction);
  if (next) select({ lane: item.lane, ...next });
}

// The item of the row above or below that runs at the middle of the selected one.
function selectRow(direction) {
  const item = scene.selected;
  if (!item) {
    selectNext(direction);
    return;
  }
  const r = scene.rows.indexOf(rowOf(item)), next = scene.rows[r + direction];
  if (!next) return;
  const [from, to] = itemTimes(scene.rows[r].schedule, item.lane, item);
  const time = Math.min(Math.max((from + to) / 2, next.schedule.from), next.schedule.to);
  select({ lane: next.lane, ...itemAt(next.lane, time) });
}

function followSelected() {
  const item = scene.selected;
  if (item && !item.gap) follow(microbatchOf(item));
}

//--- Search

let found = { text: null, items: [], at: -1 };

// Shows the result of a search: in the field, which is in view, and in the status.
// Both are empty for a search that has not begun.
function tellSearch(hits, status, isFound) {
  byId("hits").textContent = hits;
  byId("search").setAttribute("aria-invalid", String(!isFound));
  if (status) byId("status").textContent = status;
}

// The kinds of the steps that are shown, as a text.
function kindsShown() {
  const kinds = new Set();
  for (const { lanes } of scene.schedules)
    for (const lane of lanes) for (const steps of [lane, ...lane.sides]) for (const kind of steps.kind) kinds.add(kind);
  return Object.keys(kindNames).filter((kind) => kinds.has(kind)).map((kind) => stepNames[kind] ?? kind).join(", ");
}

// Selects the next item that the search field asks for, or the one before.
function findNext(direction) {
  const { value } = byId("search");
  if (!value.trim()) return;
  if (found.text !== value || found.schedules !== scene.schedules) {
    const all = scene.schedules.map((schedule) => search(schedule, value));
    if (all.includes(null)) {
      tellSearch("not a step",
        "Search for steps as in `F s2 m3`, `B5` for those of micro-batch 5, `OFFLOAD3` for copies, `r1 W` for those of rank 1, or `idle`", false);
      return;
    }
    found = { text: value, schedules: scene.schedules, items: all.flat(), at: direction > 0 ? -1 : 0 };
  }
  const { items } = found;
  if (!items.length) {
    tellSearch("none", `No step is ${value.trim()}; there are steps of ${kindsShown()}`, false);
    return;
  }
  found.at = (found.at + direction + items.length) % items.length;
  select(items[found.at]);
  const hits = `${found.at + 1} of ${items.length}`;
  tellSearch(hits, `${hits}: ${byId("status").textContent}`, true);
}

//--- The address of a view: #t=FROM:TO&top=PIXELS&m=MICROBATCH&step=NAME&show=...

const toggles = ["critical", "transfers", "memory", "curves", "rankByRank"];
const shownToggles = () => toggles.filter((name) => scene[name]).join(",");
// What is shown before anything is changed; null until the page is complete.
let usualShown = null, noting = 0, applying = false;
// What a page that has this one in a frame does with the address; `pipec serve` sets it.
let tellView = null;

// Writes the address, a moment after the last change.
function noteState() {
  if (applying || usualShown === null) return;
  clearTimeout(noting);
  noting = setTimeout(() => {
    const hash = hashOf();
    tellView?.(hash);
    if (hash === location.hash.slice(1)) return;
    // Pages in frames and from some programs have no address.
    try {
      history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
    } catch { /* empty */ }
  }, 150);
}

function hashOf() {
  const parts = [], { view } = scene, [from, to] = extent();
  // Enough digits for a pixel.
  const digits = Math.max(0, Math.ceil(-Math.log10((view.to - view.from) / 10000)));
  const text = (time) => String(Number(time.toFixed(Math.min(digits, 12))));
  if (view.from > from || view.to < to) parts.push(`t=${text(view.from)}:${text(view.to)}`);
  if (view.top > 0) parts.push(`top=${Math.round(view.top)}`);
  if (scene.microbatch !== null) parts.push(`m=${scene.microbatch}`);
  const item = scene.selected;
  if (item) {
    const row = rowOf(item), where = item.gap ? "idle." : item.side ? item.side.key + "." : "";
    parts.push(`step=${row.schedule.letter}.${where}r${item.lane.rank}.${item.index}`);
  }
  if (shownToggles() !== usualShown) parts.push(`show=${shownToggles()}`);
  return parts.join("&");
}

// Shows what the address says; whatever is not understood is left out.
function applyHash() {
  const parts = new URLSearchParams(location.hash.slice(1));
  applying = true;
  const shown = (parts.get("show") ?? usualShown).split(",");
  for (const name of toggles)
    if (scene[name] !== shown.includes(name)) toggle(name);
  const microbatch = /^\d+$/.test(parts.get("m") ?? "") ? Number(parts.get("m")) : null;
  if (microbatch !== scene.microbatch) follow(microbatch);
  const [from, to] = (parts.get("t") ?? "").split(":").map(Number);
  if (to > from && Number.isFinite(to - from)) setView(from, to, Number(parts.get("top")) || 0);
  else setView(...extent(), Number(parts.get("top")) || 0);
  const step = /^([A-Z])\.(?:(idle|fsdp|out|in|stream\d+)\.)?r(\d+)\.(\d+)$/.exec(parts.get("step") ?? "");
  const schedule = step && scene.schedules.find(({ letter }) => letter === step[1]);
  const lane = schedule?.lanes[Number(step[3])], index = step ? Number(step[4]) : 0;
  const isGap = step?.[2] === "idle", side = lane?.sides.find(({ key }) => key === step[2]);
  const exists = lane && (isGap ? index <= lane.n && hasGap(schedule, lane, index)
    : step[2] ? index < side?.n : index < lane.n);
  scene.selected = exists ? { lane, index, gap: isGap, ...side && { side } } : null;
  scene.told = Boolean(exists);
  if (exists) tellSelected();
  applying = false;
  redraw();
}

//--- Saved pictures

// The heading of a saved picture: names, figures and legend. Returns its height.
function paintHeading(g, width) {
  const { colors } = painter;
  const font = (size, weight = "") => weight + size + "px " + getComputedStyle(document.body).fontFamily;
  let y = 0;
  g.textBaseline = "middle";
  g.textAlign = "left";
  for (const line of byId("heads").children) {
    g.font = font(15, "600 ");
    g.fillStyle = colors.ink;
    const name = [...line.querySelectorAll(".tag, b")].map((element) => element.textContent).join("  ");
    g.fillText(name, 10, y + 17);
    g.font = font(11);
    g.fillStyle = colors.soft;
    const rest = [...line.querySelectorAll("i, em")].map((element) => element.textContent).filter(Boolean).join("; ");
    g.fillText(rest, 10, y + 35);
    y += 46;
  }
  let x = 10;
  g.font = font(11);
  for (const item of byId("legend").children) {
    const text = item.textContent, isChunks = item.matches(".shades"), symbol = isChunks ? 40 : 14;
    const room = symbol + 12 + 6.4 * text.length;
    if (x > 10 && x + room > width - 10) {
      x = 10;
      y += 17;
    }
    const colorsOf = getComputedStyle(item).getPropertyValue("--swatch").match(/#[0-9a-f]{6}/gi) ?? [colors.page];
    colorsOf.forEach((color, k) => {
      g.fillStyle = color;
      const each = symbol / colorsOf.length;
      if (item.matches(".mark")) {
        g.beginPath();
        g.moveTo(x + 7, y + 4);
        g.lineTo(x + 11, y + 13);
        g.lineTo(x + 3, y + 13);
        g.fill();
      } else g.fillRect(x + k * each, y + (item.matches(".line") ? 8 : 3), each, item.matches(".line") ? 2 : 11);
      g.fillStyle = stripeColor;
      for (let line = 0; isChunks && line < k; ++line) g.fillRect(x + k * each, y + 4.5 + stripePitch * line, each, 1);
    });
    if (item.dataset.bar) {
      const [from, to] = item.dataset.bar.split(",").map(Number);
      g.fillStyle = stripeColor;
      g.fillRect(x + symbol * from, y + 11, symbol * (to - from), barHeight);
    }
    if (item.matches(".pair, .idle")) {
      g.strokeStyle = item.matches(".pair") ? colors.ink : colors.soft;
      g.lineWidth = 1;
      g.strokeRect(x + 0.5, y + 3.5, 13, 10);
    }
    g.fillStyle = colors.soft;
    g.fillText(text, x + symbol + 5, y + 9);
    x += room;
  }
  return y + 22;
}

// The height of a saved picture without its heading.
const pictureHeight = () => Math.min(painter.height, axisHeight + scene.height);

// Draws the view below its heading.
function paintPicture(g, headHeight) {
  const height = pictureHeight();
  g.fillStyle = painter.colors.page;
  g.fillRect(0, 0, painter.width, height + headHeight);
  paintHeading(g, painter.width);
  g.save();
  g.translate(0, headHeight);
  const copy = Object.create(painter, { g: { value: g }, mixed: { value: new Map() }, height: { value: height } });
  copy.paint({ ...scene, cursor: null });
  g.restore();
}

const headingHeight = () => paintHeading(new SvgContext(painter.width, 1000), painter.width);

function pictureSvg() {
  const head = headingHeight(), g = new SvgContext(painter.width, pictureHeight() + head);
  paintPicture(g, head);
  return g.text(document.title, getComputedStyle(document.body).fontFamily);
}

function download(blob, extension) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${scene.schedules.map(({ name }) => name).join("-")}.${extension}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function saveSvg() {
  download(new Blob([pictureSvg()], { type: "image/svg+xml" }), "svg");
}

function savePng() {
  const head = headingHeight(), ratio = Math.max(2, window.devicePixelRatio || 1);
  const copy = document.createElement("canvas");
  copy.width = painter.width * ratio;
  copy.height = (pictureHeight() + head) * ratio;
  const g = copy.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  paintPicture(g, head);
  copy.toBlob((blob) => download(blob, "png"), "image/png");
}
