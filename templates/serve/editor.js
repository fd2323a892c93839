// The editor, and the messages of the compiler in it and below it.
const editor = CodeMirror(byId("editor"), {
  value: state.program, mode: "pipe", lineNumbers: true, indentUnit: 2, gutters: ["CodeMirror-linenumbers", "marks"],
  // Tab moves the focus, as everywhere on the page.
  extraKeys: { Tab: false, "Shift-Tab": false }, viewportMargin: 50,
});
editor.getInputField().setAttribute("aria-label", "Program");
// Scrolls by the keyboard, too, also where it is read only.
for (const [name, value] of [["tabindex", 0], ["role", "group"], ["aria-label", "Text of the program"]])
  editor.getScrollerElement().setAttribute(name, value);

/// A place in the program; the compiler counts from 1, the columns in bytes.
function placeOf(line, column) {
  const text = editor.getLine(line - 1) ?? "";
  let bytes = 0, at = 0;
  for (const char of text) {
    if (bytes >= column - 1) break;
    bytes += new TextEncoder().encode(char).length;
    at += char.length;
  }
  return { line: line - 1, ch: at };
}

/// A message as the page shows it: the program is not in a file.
const shownText = (message) => message.replaceAll("`<stdin>`", "the program")
  .replace("; --max-steps sets the limit", ", which is the limit of this page");

const isHere = (message) => message.file === "<stdin>" && message.line;

function markMessage(message) {
  const from = placeOf(message.line, message.column);
  let to = placeOf(message.endLine ?? message.line, message.endColumn ?? message.column + 1);
  if (from.line === to.line && from.ch >= to.ch) to = { line: from.line, ch: from.ch + 1 };
  editor.markText(from, to, { className: `range ${message.severity}`, title: message.message });
  const before = editor.lineInfo(from.line)?.gutterMarkers?.marks?.title;
  markLine(from.line, message.severity, "●", before ? `${before}\n${message.message}` : message.message);
}

const markLine = (line, kind, sign, title) =>
  editor.setGutterMarker(line, "marks", element("span", { class: `mark ${kind}`, title, role: "img", "aria-label": title }, sign));

function messageText(message) {
  const place = isHere(message) ? `${message.line}:${message.column}: ` : message.file ? `${message.file}:${message.line}: ` : "";
  return element("button", {
    type: "button", onclick: () => {
      if (!isHere(message)) return;
      editor.setCursor(placeOf(message.line, message.column));
      editor.focus();
    } }, `${place}${message.severity}: ${shownText(message.message)}`);
}

function showMessages(messages) {
  editor.getAllMarks().forEach((mark) => mark.clear());
  editor.clearGutter("marks");
  editor.operation(() => messages.filter(isHere).forEach(markMessage));
  if (messages.some(isHere)) offerCorrections(messages);
  markHeld();
  byId("messages").replaceChildren(...messages.map((message) =>
    element("li", { class: message.severity }, messageText(message),
      message.notes?.length ? element("ul", {}, ...message.notes.map((note) =>
        element("li", {}, messageText({ severity: "note", ...note })))) : null)));
}
