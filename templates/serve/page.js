const byId = (id) => document.getElementById(id);
const config = JSON.parse(byId("config").textContent);
const tab = crypto.randomUUID();

/// All that a link contains. Sizes are by role, or by name where there is none.
const firstState = () => ({
  program: config.program, sizes: {}, costs: {}, otherCosts: "", memoryLimit: "", target: "", schedule: "",
  withName: "", withSteps: "", profile: "", profileParts: 0, view: "",
});
let state = firstState();
/// What the last compilation answered: `schedules`, `report` and `with`.
let known = {};
/// Counts the states that came from addresses.
let generation = 0;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith("on")) made[key] = value;
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

//===----------------------------------------------------------------------===//
// The editor
//===----------------------------------------------------------------------===//

const editor = CodeMirror(byId("editor"), {
  value: state.program, mode: "pipe", lineNumbers: true, indentUnit: 2, gutters: ["marks", "CodeMirror-linenumbers"],
  // Tab moves the focus, as everywhere on the page.
  extraKeys: { Tab: false, "Shift-Tab": false }, viewportMargin: 50,
});
editor.getInputField().setAttribute("aria-label", "Program");

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
  editor.setGutterMarker(from.line, "marks", element("span", {
    class: `mark ${message.severity}`, title: before ? `${before}\n${message.message}` : message.message }, "●"));
}

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
  byId("messages").replaceChildren(...messages.map((message) =>
    element("li", { class: message.severity }, messageText(message),
      message.notes?.length ? element("ul", {}, ...message.notes.map((note) =>
        element("li", {}, messageText({ severity: "note", ...note })))) : null)));
}

//===----------------------------------------------------------------------===//
// The form
//===----------------------------------------------------------------------===//

const schedule = () => known.schedules?.find(({ name }) => name === state.schedule) ?? known.schedules?.[0];

/// An input of the form. Its value is a member of `into`, which is left out when
/// the input is empty.
function field(id, label, into, key, { placeholder = "", title, numeric } = {}) {
  const input = element("input", { id, placeholder, title, inputmode: numeric ? "numeric" : "decimal" });
  input.value = into[key] ?? "";
  input.oninput = () => {
    const text = input.value.trim();
    input.setCustomValidity(numeric && !/^-?\d*$/.test(text) ? "a whole number" : "");
    if (!input.reportValidity()) return;
    if (text === "") delete into[key];
    else into[key] = numeric ? Number(text) : text;
    compile();
  };
  input.onchange = () => remember(true);
  return element("label", { title }, `${label} `, input);
}

/// Replaces the fields of a part of the form unless they are the same; keeps
/// those that the reader is in.
function setFields(part, key, make) {
  if (part.dataset.key === key) return false;
  const focus = document.activeElement?.id;
  part.dataset.key = key;
  part.replaceChildren(part.querySelector("legend"), ...make());
  if (focus && part.querySelector(`#${CSS.escape(focus)}`)) byId(focus).focus();
  return true;
}

/// The costs that follow from others because they were not given; empty if there are none.
const assumedCosts = (figures) => (figures?.assumed ?? []).join(", ");
const usualCosts = ["F", "B", "I", "W", "p2p"];
const costsInUse = () => Object.fromEntries((known.report?.costs ?? "").split(", ").map((one) => one.split(" = ")));

function showForm() {
  const parameters = schedule()?.parameters ?? [];
  const keys = parameters.map(({ role, name }) => role ?? name);
  for (const key of Object.keys(state.sizes)) if (known.schedules && !keys.includes(key)) delete state.sizes[key];
  setFields(byId("sizes"), JSON.stringify([generation, parameters]), () => parameters.map((one) => {
    const key = one.role ?? one.name;
    return field(`size-${key}`, one.role && one.role !== one.name ? `${one.role} ${one.name}` : one.name, state.sizes, key,
      { placeholder: one.default ?? "needed", numeric: true });
  }));
  setFields(byId("costs"), JSON.stringify([generation]), () => {
    const make = ({ name, doc, default: value }) => field(`cost-${name}`, name, state.costs, name,
      { placeholder: value, title: `Cost of ${doc.replaceAll("`", "")}` });
    const rest = config.costs.filter(({ name }) => !usualCosts.includes(name)).map(make);
    const others = field("otherCosts", "Others", state, "otherCosts", { placeholder: "F&B=2.5", title: "As for --cost" });
    others.querySelector("input").classList.add("wide");
    return [...usualCosts.map((name) => make(config.costs.find((one) => one.name === name))),
      element("details", {}, element("summary", {}, "More"), element("div", {}, ...rest, others))];
  });
  // What applies where nothing is written.
  const inUse = costsInUse();
  for (const { name, default: value } of config.costs) byId(`cost-${name}`).placeholder = inUse[name] ?? value;
  const assumed = assumedCosts(known.report);
  byId("assumed").hidden = !assumed;
  byId("assumed").textContent = assumed && `assumed: ${assumed}`;
  const several = known.schedules?.length > 1;
  byId("schedule").parentElement.hidden = !several;
  if (several) {
    byId("schedule").replaceChildren(...known.schedules.map(({ name }) => element("option", { value: name }, name)));
    byId("schedule").value = schedule().name;
  }
  byId("target").value = state.target;
  byId("memoryLimit").value = state.memoryLimit;
  showWith();
  showProfile();
}

function showWith() {
  const select = byId("with");
  select.querySelector("option[value='(found)']")?.remove();
  if (state.withSteps) select.append(element("option", { value: "(found)" }, "the schedule found"));
  select.value = state.withSteps ? "(found)" : state.withName;
}

for (const { name, summary } of config.targets) byId("target").append(element("option", { value: name, title: summary }, name));
for (const { name, summary } of config.library) byId("with").append(element("option", { value: name, title: summary }, name));
byId("form").onsubmit = (event) => event.preventDefault();

function choose(changes) {
  Object.assign(state, changes);
  showWith();
  compile();
  remember(true);
}
byId("target").onchange = (event) => choose({ target: event.target.value });
byId("schedule").onchange = (event) => choose({ schedule: event.target.value });
byId("with").onchange = (event) =>
  event.target.value !== "(found)" && choose({ withName: event.target.value, withSteps: "" });
byId("memoryLimit").onchange = (event) => {
  state.memoryLimit = event.target.value.trim();
  remember(true);
};

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// The members that have a value.
const filled = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value && value.length !== 0));

/// A request to run a command: options by their names on the command line, and the contents of files by option.
const request = (options, files) => ({ program: state.program, options: filled(options), files: filled(files) });
const sizesBut = (...without) => Object.entries(state.sizes).filter(([name]) => !without.includes(name))
  .map(([name, value]) => `${name}=${value}`);
const costs = () => ({ cost: [...Object.entries(state.costs).map(([name, value]) => `${name}=${value}`), state.otherCosts].filter(Boolean).join(",") });
// The only schedule of a program may get another name.
const scheduleOption = () => ({ schedule: known.schedules?.length === 1 ? "" : state.schedule });
const lowering = () => ({ ...scheduleOption(), D: sizesBut(), target: state.target });
const withOption = () => ({ with: state.withSteps ? "" : state.withName });
const profileFile = () => ({ "cost-profile": state.profile });
const compileRequest = (more) => request({ ...lowering(), ...costs(), ...withOption(), ...more }, { ...profileFile(), with: state.withSteps });

let compiling = new AbortController();
/// Counts the orders, which may overtake each other on their way.
let serial = 0;

async function compile() {
  compiling.abort();
  compiling = new AbortController();
  const { signal } = compiling;
  const begin = performance.now();
  byId("status").textContent = "compiling";
  try {
    const answer = await ask("/compile", { ...compileRequest(), tab, serial: ++serial }, signal);
    if (answer === null || signal.aborted) return;
    byId("status").dataset.answered = performance.now() - begin;
    const { schedules, result, diagnostics } = answer.output ?? {};
    const messages = [...answer.diagnostics, ...(diagnostics ?? [])];
    known = { schedules: schedules ?? known.schedules, report: result?.report ?? known.report, with: result ? result.with : known.with };
    if (!result && known.schedules?.length && !known.schedules.some(({ name }) => name === state.schedule)) {
      // The first schedule is shown until one is chosen that is there.
      state.schedule = known.schedules[0].name;
      return compile();
    }
    showMessages(messages);
    showForm();
    byId("picture").classList.toggle("old", !result);
    if (!result) {
      byId("status").textContent = messages.some(({ severity }) => severity === "error") ? "errors" : "no schedule";
      return;
    }
    showFigures();
    await showPicture(result.pages, signal, begin);
  } catch (error) {
    if (signal.aborted) return;
    showMessages([{ severity: "error", message: error.message, notes: [] }]);
    byId("status").textContent = "not compiled";
  }
}

function drawn(begin) {
  const time = performance.now() - begin;
  const { dataset } = byId("status");
  dataset.ms = time;
  dataset.count = Number(dataset.count ?? 0) + 1;
  byId("status").textContent = `compiled and drawn in ${Math.round(time)} ms`;
}

/// The frame that shows a picture, null until the first is loaded; and the
/// generation whose view it has.
let frame = null, viewOf = 0;

// The view of the picture, as in the address of a page of its own.
addEventListener("message", ({ source, data }) => {
  if (!frame || source !== frame.contentWindow || typeof data?.view !== "string") return;
  state.view = data.view.slice(0, 1000);
  // Typing is written into the address later.
  if (typing === null) remember(false);
});

let numGiven = 0;

/// Gives a frame the schedules of a picture. False if it does not answer.
function givePicture(target, pages) {
  return new Promise((done) => {
    const id = ++numGiven;
    const hear = ({ source, data }) => {
      if (source === target.contentWindow && data?.shown === id) finish(true);
    };
    const finish = (shown) => {
      removeEventListener("message", hear);
      clearTimeout(timer);
      done(shown);
    };
    const timer = setTimeout(finish, 2000, false);
    addEventListener("message", hear);
    target.contentWindow.postMessage({ id, pages }, "*");
  });
}

async function showPicture(pages, signal, begin) {
  if (frame && viewOf === generation && await givePicture(frame, pages)) return signal.aborted || drawn(begin);
  if (signal.aborted) return;
  // Loads a frame below the current one, and shows it when it is complete.
  const place = byId("picture");
  for (const coming of place.querySelectorAll(".coming")) coming.remove();
  const next = element("iframe", { class: "coming", title: "The schedule over time", src: `${addressOf("/picture")}#${state.view}` });
  const shown = generation;
  next.onload = async () => {
    if (signal.aborted || !next.isConnected || !await givePicture(next, pages) || signal.aborted) return next.remove();
    viewOf = shown;
    next.className = "";
    frame = next;
    for (const other of [...place.children]) if (other !== next) other.remove();
    drawn(begin);
  };
  place.append(next);
}

const percent = (share) => share === null || share === undefined ? "" : `${(share * 100).toFixed(1)} %`;
const figureRows = [
  ["makespan", (report) => report.makespan], ["bubble", (report) => percent(report.bubble_makespan)],
  ["work", (report) => report.work], ["peak of activations", (report) => report.peak],
  ["memory", (report) => report.memory?.total], ["ranks", (report) => report.num_ranks],
  ["stages", (report) => report.num_stages], ["micro-batches", (report) => report.num_microbatches],
];

function showFigures() {
  const reports = [known.report, known.with].filter(Boolean);
  const cell = (value) => element("td", {}, String(value ?? ""));
  byId("figures").replaceChildren(
    element("tr", {}, element("th", {}, ""), ...reports.map(({ name }) => element("th", { scope: "col" }, name))),
    ...figureRows.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name),
      ...reports.map((report) => cell(value(report))))));
  byId("name").textContent = known.report.name;
  document.title = `${known.report.name} – pipec`;
}

//===----------------------------------------------------------------------===//
// Comparing and searching
//===----------------------------------------------------------------------===//

let job = null;

function setJob(id) {
  job = id;
  byId("compare").disabled = byId("search").disabled = byId("traces").disabled = id !== null;
  byId("cancel").disabled = id === null;
}

/// Starts a job and follows it; `show` is called with its last state.
async function runJob(path, body, show) {
  if (job !== null) return;
  setJob(0);
  try {
    setJob((await ask(path, body)).job);
    for (;;) {
      const { done, seconds, progress, answer } = await ask(`/job?id=${job}`, {});
      byId("progress").textContent = done ? "" : `${seconds.toFixed(1)} s: ${progress}`;
      if (done) {
        show(answer);
        break;
      }
      await new Promise((done) => setTimeout(done, 150));
    }
  } catch (error) {
    byId("progress").textContent = error.message;
  }
  setJob(null);
}

/// Starts a job about the schedule that is shown.
function runForSchedule(path, more, show) {
  if (!known.report) return;
  const { num_ranks: ranks, num_microbatches: microbatches, num_stages: stages, parts } = known.report;
  const chunks = stages > ranks && stages % ranks === 0 ? stages / ranks : null;
  // Other schedules cut the model of this one into other stages.
  runJob(path, request({ ...costs(), "memory-limit": state.memoryLimit, ranks, microbatches, chunks,
    parts: state.profileParts || parts || stages, ...more }, profileFile()), show);
}

byId("cancel").onclick = () => job && ask(`/cancel?id=${job}`, {}).catch(() => {});

/// Shows a result, which may be below what is in view.
function showResult(id, title, messages, figures, ...parts) {
  const costs = assumedCosts(figures);
  byId(id).replaceChildren(element("h2", {}, title), problems(messages),
    costs ? element("p", { class: "assumed" }, `assumed: ${costs}`) : "", ...parts);
  byId(id).scrollIntoView({ block: "nearest" });
}

const problems = (messages) => element("ul", {}, ...messages.map(({ severity, message, notes }) =>
  element("li", { class: severity }, `${severity}: ${shownText(message)}`, notes?.length ? problems(notes) : null)));

function showComparison({ output: comparison, diagnostics }) {
  const rows = (comparison?.schedules ?? []).map((row) => element("tr", {},
    element("td", {}, element("button", {
      type: "button", title: "Show beside the program",
      onclick: () => choose({ withName: row.name, withSteps: "" }),
      disabled: !config.library.some(({ name }) => name === row.name) || row.makespan === null }, row.name)),
    element("td", {}, String(row.makespan ?? "")), element("td", {}, percent(row.bubble_makespan)),
    element("td", {}, String(row.memory ?? "")), element("td", {}, row.reason ?? (row.fits === false ? "does not fit" : ""))));
  showResult("compared", "Comparison", diagnostics, comparison, element("table", { id: "comparison" },
    element("tr", {}, ...["schedule", "makespan", "bubble", "memory", ""].map((name) => element("th", {}, name))), ...rows));
}

function showSearch({ output: search, file: steps, diagnostics }) {
  const found = search && steps ? [
    element("p", { id: "found" }, `makespan ${search.makespan}, lower bound ${search.bound}`
      + (search.optimal ? ": optimal" : `: at most ${percent(search.gap)} above the optimum`)),
    element("button", { type: "button", id: "show-found", onclick: () => choose({ withSteps: steps, withName: "" }) }, "Show beside the program"),
    element("button", { type: "button", onclick: () => download("found.steps", steps) }, "Save .steps")] : [];
  if (!search && !diagnostics.length) found.push(element("p", {}, "cancelled"));
  showResult("searched", "Search", diagnostics, search, ...found);
}

byId("compare").onclick = () => runForSchedule("/compare",
  { ...scheduleOption(), D: sizesBut("ranks", "microbatches", "chunks") }, showComparison);
for (const { name, summary } of config.backwards)
  byId("backward").append(element("option", { value: name, title: summary }, name));
byId("backward").value = config.backwards.some(({ name }) => name === "best") ? "best" : "split";
byId("search").onclick = () => runForSchedule("/search", {
  effort: Number(byId("effort").value) || 10, placement: byId("placement").value, backward: byId("backward").value,
  ...(byId("placement").value === "v" ? { chunks: 2 } : {}) }, showSearch);

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text]));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

for (const button of document.querySelectorAll(".export"))
  button.onclick = async () => {
    const as = button.dataset.as;
    const name = `${known.report?.name ?? "schedule"}.${as}`;
    if (as === "pipe") return download(name, state.program);
    // Options without an effect on an output are errors.
    const emit = as === "steps" ? "ir" : as;
    const usesCosts = as !== "csv" || config.timedTargets.includes(state.target);
    try {
      const { output, diagnostics } = await ask("/export", as === "html" ? compileRequest({ emit })
        : request({ ...lowering(), ...(usesCosts ? costs() : {}), emit }, usesCosts ? profileFile() : {}));
      if (output !== null) return download(name, output);
      showMessages(diagnostics);
    } catch (error) {
      byId("status").textContent = error.message;
    }
  };

byId("copy").onclick = async () => {
  await remember(false);
  // The token belongs to this server and does not go into links.
  await navigator.clipboard.writeText(`${location.origin}/${location.hash}`);
  byId("status").textContent = "link copied";
};
