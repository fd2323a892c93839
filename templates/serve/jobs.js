// Runs of seconds to minutes: comparing, searching and planning.
let job = null;
/// The request of each path whose answer is shown, as text.
const asked = {};

function setJob(id) {
  job = id;
  for (const button of ["compare", "search", "plan", "derive", "traces"]) byId(button).disabled = id !== null;
  byId("cancel").disabled = id === null;
}

/// Starts a job and follows it; `show` is called with its last state.
async function runJob(path, body, show) {
  if (job !== null) return;
  setJob(0);
  asked[path] = body instanceof Blob ? null : JSON.stringify(body);
  try {
    setJob((await ask(path, body)).job);
    for (;;) {
      const { done, seconds, progress, answer } = await ask(`/job?id=${job}`, {});
      byId("progress").textContent = done ? "" : `${seconds.toFixed(1)} s: ${progress}`;
      if (done) {
        answers[path] = answer;
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

/// The sizes and costs of the schedule that is shown, for a job about others. They cut the model
/// of this one into other stages.
function jobOptions() {
  const { num_ranks: ranks, num_microbatches: microbatches, num_stages: stages, parts } = known.report;
  const chunks = stages > ranks && stages % ranks === 0 ? stages / ranks : null;
  return { ...costs(), "memory-limit": state.memoryLimit, ranks, microbatches, chunks, parts: state.profileParts || parts || stages };
}

byId("cancel").onclick = () => job && ask(`/cancel?id=${job}`, {}).catch(() => {});

/// Shows the messages and the parts of a result in its tab.
function showResult(id, messages, figures, ...parts) {
  const costs = assumedCosts(figures);
  byId(id).replaceChildren(problems(messages), costs ? element("p", { class: "assumed" }, `assumed: ${costs}`) : "", ...parts);
  byId(id).classList.remove("old");
}

const problems = (messages) => element("ul", {}, ...messages.map(({ severity, message, notes }) =>
  element("li", { class: severity }, `${severity}: ${shownText(message)}`, notes?.length ? problems(notes) : null)));

/// A table of results; the first row has the names of the columns. If it is wider than the page, the first column stays.
const table = (attributes, names, rows) => element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table" },
  element("table", attributes, element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name))),
    ...rows.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, cell instanceof Node ? cell : String(cell ?? "")))))));

/// Shows a schedule beside the program, in the picture.
function showBeside(changes) {
  showTab("picture");
  choose({ withName: "", withSteps: "", ...changes });
}

function showComparison({ output: comparison, diagnostics }) {
  const row = ({ name, file, origin, makespan, bubble_makespan: bubble, memory, reason, fits }) => {
    const isOwn = file === "<stdin>", shownName = name + (isOwn ? " (this program)" : origin ? ` (${origin})` : "");
    const open = !isOwn && config.examples.find((one) => one.group === "Library" && one.name === name);
    return [element("button", { type: "button", class: "link", title: "Show beside the program",
      onclick: () => showBeside({ withName: name }),
      disabled: config.saved || isOwn || makespan === null || !config.library.some((one) => one.name === name) }, shownName),
    makespan, percent(bubble), memory, reason ?? (fits === false ? "does not fit" : ""),
    open ? element("button", { type: "button", class: "link live", "aria-label": `Open ${name}`, title: "Open in place of the program",
      onclick: () => openProgram(open.program) }, "Open") : ""];
  };
  showResult("compared", diagnostics, comparison, table({ id: "comparison" },
    ["schedule", "makespan", "bubble", "memory", "note", "program"], (comparison?.schedules ?? []).map(row)));
}

/// The request of a comparison, which the tab sends when it is opened.
const comparisonRequest = () => request({ ...jobOptions(), ...scheduleOption(), D: sizesBut("ranks", "microbatches", "chunks") }, profileFile());
const compareAll = () => known.report && runJob("/compare", comparisonRequest(), showComparison);
byId("compare").onclick = compareAll;
onTab.compare = (isNew) => {
  if (config.saved || !known.report) return;
  const isOld = asked["/compare"] !== JSON.stringify(comparisonRequest());
  if (isOld && (isNew || !asked["/compare"])) compareAll();
  else byId("compared").classList.toggle("old", isOld);
};

function showSearch({ output: search, file: steps, diagnostics }) {
  const found = search && steps ? [
    element("p", { id: "found" }, `makespan ${search.makespan}, lower bound ${search.bound}`
      + (search.optimal ? ": optimal" : `: at most ${percent(search.gap)} above the optimum`)),
    element("div", { class: "bar live" },
      element("button", { type: "button", id: "show-found", onclick: () => showBeside({ withSteps: steps }) }, "Show beside the program"),
      element("button", { type: "button", onclick: () => download("found.steps", steps) }, "Save .steps"))] : [];
  if (!search && !diagnostics.length) found.push(element("p", {}, "cancelled"));
  showResult("searched", diagnostics, search, ...found);
}

for (const { name, summary } of config.backwards)
  byId("backward").append(element("option", { value: name, title: summary }, name));
byId("backward").value = config.backwards.some(({ name }) => name === "best") ? "best" : "split";
byId("search").onclick = () => known.report && runJob("/search", request({
  ...jobOptions(), effort: Number(byId("effort").value) || 10, placement: byId("placement").value, backward: byId("backward").value,
  ...(byId("placement").value === "v" ? { chunks: 2 } : {}) }, profileFile()), showSearch);

/// The rows of a plan; null without one.
function planRows(plan) {
  const row = (what, one) => one && [what, one.schedule, one.makespan, one.memory, one.chunks, one.placement, one.backward];
  return [row("now", plan.now), row("best", plan.best), row("built-in", plan.built_in),
    ...(plan.alternatives ?? []).map((one) => row("alternative", one))].filter(Boolean);
}

/// The costs of a plan: the profile, or those that apply.
const planProfile = () => state.profile || JSON.stringify(Object.fromEntries(Object.entries(costsInUse())
  .filter(([name]) => config.costs.some((one) => one.name === name))));

function showPlan({ output: plan, diagnostics }) {
  showResult("planned", diagnostics, null, ...plan ? [
    table({ id: "plans" }, ["row", "schedule", "makespan", "memory", "chunks", "placement", "backward"], planRows(plan)),
    ...(plan.assumptions ?? []).map((text) => element("p", { class: "assumed" }, `assumed: ${text}`)),
    element("p", { class: "live" }, element("button", { type: "button", onclick: () => download("costs.json", planProfile()) }, "Save costs.json"),
      " and write the files with ", commandElement(`pipec plan costs.json ranks=${plan.ranks} microbatches=${plan.microbatches} --for=${plan.for} -o plan`))] : []);
}

for (const { name, summary } of config.consumers) byId("planFor").append(element("option", { value: name, title: summary }, name));
byId("planFor").value = "any";
byId("plan").onclick = () => {
  if (!known.report) return;
  const { ranks, microbatches, "memory-limit": limit, cost } = jobOptions();
  const profile = new Blob([planProfile()]);
  const head = { options: filled({ ranks, microbatches, cost, "memory-limit": limit, for: byId("planFor").value,
    effort: Number(byId("planEffort").value) || 5 }), traces: [profile.size] };
  runJob("/plan", new Blob([JSON.stringify(head), "\n", profile]), showPlan);
};
