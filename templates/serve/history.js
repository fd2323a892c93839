// The state of the page as its address, with an entry of the history for each
// change; at the end of the program, since it shows the first state.
let typing = null;
let lastWasTyping = false;
let writing = Promise.resolve();

/// Puts the state into the address of the page: as a new entry of the history, or
/// in place of the current one.
function remember(isNew) {
  clearTimeout(typing);
  typing = null;
  lastWasTyping = false;
  const text = JSON.stringify(state);
  writing = writing.then(async () => {
    const hash = `#${await stateToLink(JSON.parse(text))}`;
    if (hash === location.hash) return;
    history[isNew ? "pushState" : "replaceState"](null, "", hash);
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

let applying = false;
editor.on("change", () => {
  state.program = editor.getValue();
  if (applying) return;
  compile();
  rememberTyping();
});

async function applyLink() {
  clearTimeout(typing);
  const link = location.hash.slice(1);
  const linked = link === "" ? firstState() : await linkToState(link);
  // Another entry of the history was chosen in the meantime.
  if (link !== location.hash.slice(1)) return;
  byId("badLink").hidden = linked !== null;
  if (linked === null && generation) return;
  const first = firstState();
  // Only members of the right type.
  state = first;
  for (const key of Object.keys(first))
    if (typeof linked?.[key] === typeof first[key] && linked[key] !== null) state[key] = linked[key];
  ++generation;
  applying = true;
  if (editor.getValue() !== state.program) editor.setValue(state.program);
  applying = false;
  lastWasTyping = false;
  known.schedules = undefined;
  compile();
}
addEventListener("popstate", applyLink);
applyLink();
