// Help of the language server in the editor: completion, descriptions of words, and corrections of messages.

/// A result of the language server about the program; null without a server or in an error.
async function askLanguage(method, params) {
  if (config.saved) return null;
  try {
    return (await ask("/editor", { program: editor.getValue(), method: `textDocument/${method}`, params })).result;
  } catch {
    return null; // the next compilation says what is wrong
  }
}

const positionOf = ({ line, ch }) => ({ line, character: ch });
const placeIn = ({ line, character }) => ({ line, ch: character });

/// Text of the language server in Markdown, as elements.
function markdown(text) {
  return text.split(/^```\w*\n([^]*?)^```$/m).map((part, i) => i % 2 ? element("pre", {}, part.trimEnd())
    : element("p", {}, ...part.trim().split(/`([^`]+)`/).map((piece, k) => k % 2 ? element("code", {}, piece) : piece)))
    .filter((one) => one.textContent);
}

//--- Completion

async function proposals(cm) {
  const cursor = cm.getCursor(), line = cm.getLine(cursor.line);
  const begin = cursor.ch - /\w*$/.exec(line.slice(0, cursor.ch))[0].length;
  const word = line.slice(begin, cursor.ch);
  const all = await askLanguage("completion", { position: positionOf(cursor) }) ?? [];
  const list = all.filter(({ label }) => label.startsWith(word) && label !== word).map(({ label, documentation }) => ({
    text: label, render: (place) => place.append(label, element("span", { class: "hintDoc" }, (documentation?.value ?? "").split("\n")[0])) }));
  return { list, from: { line: cursor.line, ch: begin }, to: cursor };
}

const complete = (cm) => cm.showHint({ hint: proposals, completeSingle: false, container: byId("left") });
editor.on("inputRead", (cm, { text, origin }) => {
  const { line, ch } = cm.getCursor();
  if (origin === "+input" && /^\w$/.test(text[0]) && !cm.state.completionActive && /[A-Za-z_]\w+$/.test(cm.getLine(line).slice(0, ch)))
    complete(cm);
});

//--- Descriptions

const hoverText = element("div", { id: "hover", role: "tooltip", hidden: true });
document.body.append(hoverText);
let hovering = null, hovered = 0;

async function describe(place) {
  const turn = ++hovered;
  const answer = await askLanguage("hover", { position: positionOf(place) });
  if (turn !== hovered) return;
  const text = answer?.contents?.value;
  hoverText.hidden = !text;
  if (!text) return;
  hoverText.replaceChildren(...markdown(text));
  const { left, bottom, top } = editor.charCoords(place, "window");
  hoverText.style.left = `${Math.max(4, Math.min(left, innerWidth - hoverText.offsetWidth - 4))}px`;
  hoverText.style.top = `${bottom + hoverText.offsetHeight + 4 < innerHeight ? bottom + 4 : Math.max(4, top - hoverText.offsetHeight - 4)}px`;
}

function hideHover() {
  clearTimeout(hovering);
  ++hovered;
  hoverText.hidden = true;
}

const lines = editor.getWrapperElement();
lines.addEventListener("mousemove", ({ clientX, clientY, buttons, target }) => {
  hideHover();
  if (buttons || !target.closest(".CodeMirror-line")) return;
  hovering = setTimeout(() => describe(editor.coordsChar({ left: clientX, top: clientY }, "window")), 400);
});
lines.addEventListener("mouseleave", hideHover);
editor.on("keydown", (cm, { key }) => key !== "Control" && hideHover());
editor.on("scroll", hideHover);
editor.setOption("extraKeys", { ...editor.getOption("extraKeys"), "Ctrl-Space": complete, "Ctrl-I": (cm) => describe(cm.getCursor()) });

//--- Clauses of `expect`

/// Marks the clauses that hold. The language server checks them at the default sizes and the costs of the program, so
/// that they have no mark at others.
async function markHeld() {
  const text = editor.getValue();
  const own = !sizesBut().length && !costs().cost && !state.profile && !state.target;
  const hints = own && /\bexpect\b/.test(text) ? await askLanguage("inlayHint", {}) ?? [] : [];
  if (editor.getValue() !== text) return;
  const held = hints.filter(({ label }) => /^holds\b/.test(label));
  editor.operation(() => held.forEach(({ label, position: { line } }) => {
    if (!editor.lineInfo(line)?.gutterMarkers?.marks) markLine(line, "holds", "✓", `this clause ${label}`);
  }));
  byId("held").textContent = held.length ? `${held.length} ${held.length === 1 ? "clause" : "clauses"} of expect hold${held.length === 1 ? "s" : ""}` : "";
}

//--- Corrections

/// Adds buttons for the corrections to the messages in the list, which are in its order.
async function offerCorrections(messages) {
  const text = editor.getValue();
  const last = editor.lastLine();
  const actions = await askLanguage("codeAction", { range: { start: { line: 0, character: 0 }, end: { line: last, character: editor.getLine(last).length } },
    context: { diagnostics: [] } });
  // Another version of the program is being compiled.
  if (editor.getValue() !== text) return;
  const items = [...byId("messages").children];
  for (const { title, edits, diagnostics } of actions ?? []) {
    const { line } = diagnostics[0].range.start;
    const at = messages.findIndex((message) => isHere(message) && [message, ...message.notes ?? []].some((one) => one.line === line + 1
      && diagnostics[0].message.startsWith(one.message)));
    items[at]?.append(" ", element("button", { type: "button", class: "fix", onclick: () => correct(edits) }, title));
  }
}

function correct(edits) {
  editor.operation(() => {
    for (const { range, newText } of [...edits].reverse()) editor.replaceRange(newText, placeIn(range.start), placeIn(range.end));
  });
  editor.focus();
}
