// The state of the page as its address, with an entry of the history for each
// change; at the end of the program, since it shows the first state.
let typing = null;
let lastWasTyping = false;
let writing = Promise.resolve();
/// Set while the state is not that of the entry of the history that is shown.
let isMoving = false;
/// Counts the entries that were chosen.
let numMoves = 0;

/// The number of the entry of the history that is shown, and of the last one of this page.
let entry = history.state?.entry ?? 0, lastEntry = history.state?.last ?? entry;

function showUndo() {
  // They keep the focus, for the keys of the page.
  byId("undo").setAttribute("aria-disabled", entry === 0);
  byId("redo").setAttribute("aria-disabled", entry >= lastEntry);
}

/// Puts the state into the address of the page: as a new entry of the history, or
/// in place of the current one.
function remember(isNew) {
  if (config.saved || isMoving) return writing;
  clearTimeout(typing);
  typing = null;
  lastWasTyping = false;
  const text = JSON.stringify(state), before = numMoves;
  writing = writing.then(async () => {
    const hash = `#${await stateToLink(JSON.parse(text))}`;
    if (before !== numMoves || hash === location.hash) return;
    if (isNew) lastEntry = ++entry;
    history[isNew ? "pushState" : "replaceState"]({ entry, last: lastEntry }, "", hash);
    showUndo();
  });
  return writing;
}

/// Typing is one entry of the history until something else changes.
function rememberTyping() {
  clearTimeout(typing);
  typing = setTimeout(() => {
    const isNew = !lastWasTyping;
    remember(isNew);
    lastWasTyping = true;
  }, 400);
}

/// Shows the entry before (-1) or after the current one (1), when the last change has one.
function move(by) {
  writing = writing.then(() => {
    if (entry + by < 0 || entry + by > lastEntry) return;
    history.go(by);
    return new Promise((done) => {
      addEventListener("popstate", done, { once: true });
      // A browser forgets the oldest entries.
      setTimeout(done, 1000);
    });
  });
}
byId("undo").onclick = () => move(-1);
byId("redo").onclick = () => move(1);
// In fields and in the editor the keys have their usual meaning.
addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (!(event.ctrlKey || event.metaKey) || event.altKey || target.closest?.("input, textarea, .CodeMirror")) return;
  const isRedo = key === "y" || (key.toLowerCase() === "z" && event.shiftKey);
  if (!isRedo && key !== "z") return;
  event.preventDefault();
  byId(isRedo ? "redo" : "undo").click();
});

let applying = false;
/// Shows another program, which is not a change by the reader.
function setProgram(program) {
  applying = true;
  if (editor.getValue() !== program) editor.setValue(program);
  applying = false;
}
editor.on("change", () => {
  state.program = editor.getValue();
  if (applying) return;
  compile();
  rememberTyping();
});

async function applyLink() {
  clearTimeout(typing);
  const link = location.hash.slice(1);
  const linked = config.saved ? config.saved.state ?? firstState() : link === "" ? firstState() : await linkToState(link);
  // Another entry of the history was chosen in the meantime.
  if (link !== location.hash.slice(1)) return;
  byId("badLink").hidden = linked !== null;
  isMoving = false;
  if (linked === null && generation) return;
  const first = firstState();
  // Only members of the right type.
  state = first;
  for (const key of Object.keys(first))
    if (typeof linked?.[key] === typeof first[key] && linked[key] !== null) state[key] = linked[key];
  ++generation;
  setProgram(state.program);
  lastWasTyping = false;
  known.schedules = undefined;
  showTab(state.tab);
  compile();
}
if (!config.saved) addEventListener("popstate", ({ state: shown }) => {
  entry = shown?.entry ?? 0;
  isMoving = true;
  ++numMoves;
  showUndo();
  applyLink();
});
showUndo();
applyLink();
