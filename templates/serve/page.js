// One run of the compiler after every change, and what it shows: the picture and its figures.
/// The members that have a value.
const filled = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value && value.length !== 0));

/// A request to run a command: options by their names on the command line, and the contents of files by option.
const request = (options, files = {}) => ({ program: state.program, options: filled(options), files: filled(files) });
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
    answers["/compile"] = answer;
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
    showSaved();
    onTab[state.tab]?.(false);
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
  byId("status").textContent = config.saved ? "saved" : `compiled and drawn in ${Math.round(time)} ms`;
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
    target.contentWindow.postMessage({ id, pages, view: state.view }, "*");
  });
}

async function showPicture(pages, signal, begin) {
  if (frame && viewOf === generation && await givePicture(frame, pages)) return signal.aborted || drawn(begin);
  if (signal.aborted) return;
  // Loads a frame below the current one, and shows it when it is complete.
  const place = byId("picture");
  for (const coming of place.querySelectorAll(".coming")) coming.remove();
  const next = element("iframe", { class: "coming", title: "The schedule over time", ...config.saved
    ? { srcdoc: config.saved.picture, sandbox: "allow-scripts allow-downloads" } : { src: addressOf("/picture") + (state.view && `#${state.view}`) } });
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
const figureColumns = [
  ["makespan", (report) => report.makespan], ["bubble", (report) => percent(report.bubble_makespan)],
  ["work", (report) => report.work], ["peak of activations", (report) => report.peak],
  ["memory", (report) => report.memory?.total], ["ranks", (report) => report.num_ranks],
  ["stages", (report) => report.num_stages], ["micro-batches", (report) => report.num_microbatches],
];

function showFigures() {
  const reports = [known.report, known.with].filter(Boolean);
  byId("figures").replaceChildren(
    element("tr", {}, element("td", {}), ...figureColumns.map(([name]) => element("th", { scope: "col" }, name))),
    ...reports.map((report) => element("tr", {}, element("th", { scope: "row" }, report.name),
      ...figureColumns.map(([, value]) => element("td", {}, String(value(report) ?? ""))))));
  byId("name").textContent = known.report.name;
  document.title = `${known.report.name} – pipec`;
}
