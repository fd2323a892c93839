// Mouse, touch, keys and buttons; then the page starts.

let drag = null;
// What touches the canvas or has a button down on it: places by the id of the pointer.
const touching = new Map();
// Whether a finger was the last of them: it has a tap in place of hovering.
let byTouch = false;

// The middle between two fingers, and how far apart they are.
function pinchOf() {
  const [a, b] = touching.values();
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y) };
}

canvas.addEventListener("pointerdown", (event) => {
  const { offsetX: x, offsetY: y } = event, bar = x > painter.width - 10 ? painter.scrollBar(scene) : null;
  byTouch = event.pointerType === "touch";
  touching.set(event.pointerId, { x, y });
  drag = { x, y, moved: bar !== null, bar };
  if (touching.size === 2) drag = { moved: true, pinch: pinchOf() };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  byTouch = event.pointerType === "touch";
  if (touching.has(event.pointerId)) touching.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  if (!drag) {
    hover(event.offsetX, event.offsetY);
    return;
  }
  if (drag.pinch) {
    const before = drag.pinch, now = pinchOf();
    drag.pinch = now;
    tip.hidden = true;
    const factor = Math.max(before.apart, 8) / Math.max(now.apart, 8);
    const perPixel = factor * (timeAt(1) - timeAt(0)), from = timeAt(before.x) - (now.x - nameWidth) * perPixel;
    setView(from, from + (painter.right - nameWidth) * perPixel, scene.view.top + before.y - now.y);
    return;
  }
  if (drag.bar) {
    move(0, (event.offsetY - drag.y) * drag.bar.perPixel);
    drag.y = event.offsetY;
    return;
  }
  // A finger is less steady than a mouse.
  if (!drag.moved && Math.hypot(event.offsetX - drag.x, event.offsetY - drag.y) < (byTouch ? 10 : 4)) return;
  drag.moved = true;
  canvas.classList.add("moving");
  tip.hidden = true;
  move(drag.x - event.offsetX, drag.y - event.offsetY);
  drag.x = event.offsetX;
  drag.y = event.offsetY;
});

// A click follows a step. A tap describes it, and a second one follows it.
function clickAt(x, y) {
  const found = byTouch ? hover(x, y) : hit(x, y);
  const item = found && { lane: found.row.lane, ...itemOf(found) };
  const again = item && scene.selected && ["lane", "index", "gap", "side"].every((key) => scene.selected[key] === item[key]);
  select(found && !found.inMemory ? item : null, true);
  if (byTouch && found) showTip({ ...found, ...item }, x, y);
  if (!byTouch || again || !item) follow(item && microbatchOf(item));
}

// Ends what a pointer does; with two fingers, the other one goes on moving.
function liftPointer(event, isClick) {
  canvas.classList.remove("moving");
  touching.delete(event.pointerId);
  if (isClick && drag && !drag.moved) clickAt(event.offsetX, event.offsetY);
  const [other] = touching.values();
  drag = other ? { ...other, moved: true, bar: null } : null;
}
canvas.addEventListener("pointerup", (event) => liftPointer(event, true));
canvas.addEventListener("pointercancel", (event) => liftPointer(event, false));
canvas.addEventListener("pointerleave", () => {
  // Fingers leave when they are lifted; what they have tapped stays.
  if (byTouch) return;
  tip.hidden = true;
  scene.cursor = null;
  redraw();
});
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const pixels = event.deltaMode ? 30 : 1;
  const besides = event.offsetX < nameWidth || event.offsetX > painter.right;
  if (besides && scene.height > painter.height - axisHeight) move(0, event.deltaY * pixels);
  else if (event.shiftKey) move((event.deltaX || event.deltaY) * pixels, 0);
  else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX * pixels, 0);
  else zoom(Math.exp(event.deltaY * pixels * 0.0015), event.offsetX);
  hover(event.offsetX, event.offsetY);
}, { passive: false });
canvas.addEventListener("dblclick", (event) => { if (!byTouch) zoom(0.25, event.offsetX); });

const mapMove = (event) => {
  const [from, to] = extent();
  const half = (scene.view.to - scene.view.from) / 2;
  const at = from + event.offsetX / mapPainter.width * (to - from);
  setView(at - half, at + half);
};
map.addEventListener("pointerdown", (event) => {
  map.setPointerCapture(event.pointerId);
  mapMove(event);
});
map.addEventListener("pointermove", (event) => { if (event.buttons) mapMove(event); });

const showCurves = () => {
  toggle("curves");
  if (scene.curves && !scene.memory) toggle("memory");
};
const keys = {
  "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), 0: fit,
  ArrowLeft: () => move(-80, 0), ArrowRight: () => move(80, 0), ArrowUp: () => move(0, -40), ArrowDown: () => move(0, 40),
  PageUp: () => move(0, axisHeight - painter.height), PageDown: () => move(0, painter.height - axisHeight),
  c: () => toggle("critical"), t: () => toggle("transfers"), m: () => toggle("memory"), v: showCurves,
  l: () => scene.schedules.length > 1 && toggle("rankByRank"), "/": () => byId("search").focus(),
  Escape: () => {
    select(null);
    follow(null);
  },
};
const selectingKeys = {
  ArrowLeft: () => selectNext(-1), ArrowRight: () => selectNext(1), ArrowUp: () => selectRow(-1), ArrowDown: () => selectRow(1),
};
document.addEventListener("keydown", (event) => {
  // The search of the browser finds nothing on a canvas.
  if ((event.ctrlKey || event.metaKey) && event.key === "f" && document.activeElement !== byId("search")) {
    event.preventDefault();
    byId("search").focus();
    byId("search").select();
    return;
  }
  if (event.target instanceof HTMLInputElement && event.key !== "Escape") return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  // Enter is for the button that has the focus, if one has.
  const action = event.shiftKey && event.key in selectingKeys ? selectingKeys[event.key]
    : event.key === "Enter" && event.target === canvas ? followSelected : keys[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});
byId("in").onclick = () => zoom(0.7);
byId("out").onclick = () => zoom(1 / 0.7);
byId("fit").onclick = fit;
byId("critical").onclick = () => toggle("critical");
byId("transfers").onclick = () => toggle("transfers");
byId("memory").onclick = () => toggle("memory");
byId("curves").onclick = showCurves;
byId("layout").onclick = () => toggle("rankByRank");
byId("savesvg").onclick = saveSvg;
byId("savepng").onclick = savePng;
byId("search").oninput = () => tellSearch("", "", true);
byId("search").onkeydown = (event) => {
  if (event.key === "Enter") findNext(event.shiftKey ? -1 : 1);
  if (event.key === "Escape") canvas.focus();
};
byId("find").oninput = (event) => follow(event.target.value === "" ? null : Number(event.target.value));
byId("open").onchange = (event) => {
  if (event.target.files[0]) compareWith(event.target.files[0]);
  event.target.value = "";
};
const main = document.querySelector("main");
addEventListener("dragover", (event) => {
  event.preventDefault();
  main.classList.add("drop");
});
addEventListener("dragleave", (event) => { if (!event.relatedTarget) main.classList.remove("drop"); });
addEventListener("drop", (event) => {
  event.preventDefault();
  main.classList.remove("drop");
  if (event.dataTransfer.files[0]) compareWith(event.dataTransfer.files[0]);
});

// Shows the first schedules, and what the address says about them.
function start(blocks) {
  painter.resize();
  show(blocks);
  toggle("memory", !byId("memory").disabled && scene.rows.length <= 8);
  toggle("transfers", !byId("transfers").disabled);
  usualShown = shownToggles();
  addEventListener("hashchange", applyHash);
  applyHash();
  new ResizeObserver(resize).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    painter.recolor();
    mapPainter.recolor();
    overview = null;
    heads();
    redraw();
  });
}

// The frame of `pipec serve` has no schedules of its own.
const ownBlocks = [...document.querySelectorAll(".pipec-schedule")].map((element) => element.textContent);
if (ownBlocks.length) start(ownBlocks);
// For tests and for the console of the browser.
window.pipec = {
  scene, setView, fit, zoom, hit, follow, toggle, compareWith, timeAt, select, findNext, pictureSvg, nameWidth,
  get axisHeight() { return axisHeight; },
  get right() { return painter.right; },
};
