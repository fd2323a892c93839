// Costs from traces of a real run: a cost profile that takes the place of the
// costs of the program.

/// What the last traces showed, and the profile that was made of them.
let calibrated = { profile: null };

const kibibytes = (size) => `${(size / 1024).toFixed(1)} KiB`;

/// The traces as the server takes them: a line about the files, and the files.
const traceUpload = (files) => new Blob([JSON.stringify({ traces: files.map(({ size }) => size) }), "\n", ...files]);

/// An answer of the server, which does not know the names of the files, with these.
const withNames = (answer, files) => JSON.parse(JSON.stringify(answer).replaceAll(/trace(\d+)\.json/g,
  (all, i) => JSON.stringify(files[i]?.name ?? all).slice(1, -1)));

byId("traces").onchange = (event) => {
  const files = [...event.target.files];
  const body = traceUpload(files);
  event.target.value = "";
  if (!files.length) return;
  if (body.size > config.maxTraceBytes) {
    showTraceProblems([{ severity: "error", message: `the traces have ${(body.size / 2 ** 20).toFixed(1)} MiB, more than the `
      + `${config.maxTraceBytes / 2 ** 20} MiB that the page takes; \`pipec calibrate\` has no such limit` }]);
    return;
  }
  runJob("/calibrate", body, (answer) => useCalibration(withNames(answer, files)));
};

const showTraceProblems = (messages) => byId("traceMessages").replaceChildren(...problems(messages).children);

function useCalibration({ output: calibration, file: profile, diagnostics }) {
  showTraceProblems(diagnostics);
  if (!profile) return;
  if (new Blob([profile]).size <= config.maxProfileBytes) {
    calibrated = { profile, calibration };
    choose({ profile, profileParts: calibration.stages });
    return;
  }
  showTraceProblems([...diagnostics, { severity: "error", message: `the profile has ${kibibytes(profile.length)}, more than the `
    + `${kibibytes(config.maxProfileBytes)} that the page takes; it is saved for --cost-profile` }]);
  download("costs.json", profile);
}

const count = (number, one, plural = "s") => `${number} ${one}${number === 1 ? "" : plural}`;
const number = (value) => typeof value === "number" ? String(Number(value.toPrecision(4))) : value;

/// The text and the table of `pipec calibrate`.
function summaryOf({ ranks, stages, microbatches, training_steps: steps, step_time: time, clocks, figures, left_out: leftOut }) {
  const row = (kind, cells) => element("tr", {}, ...cells.map((cell) => element(kind, {}, String(cell))));
  return [
    element("p", {}, `${count(ranks, "rank")}, ${count(stages, "stage")}, ${count(microbatches, "micro-batch", "es")}; `
      + count(steps, "training step") + (time ? ` of ${number(time.median)} ms (${number(time.min)} to ${number(time.max)})` : "")),
    ...clocks.map(({ rank, known, offset_ns: offset, interval_ns: interval }) => element("p", {}, `clock of rank ${rank}: `
      + (known ? `${offset} ns to that of rank 0, in an interval of ${interval} ns` : "unknown, no transfers in both directions"))),
    element("table", {}, row("th", ["figure", "of", "value", "25 %", "75 %", "samples", "found in"]),
      ...figures.map(({ block, figure, of, value, lower, upper, samples, found_in: found }) => row("td",
        [block === "memory" ? `memory ${figure}` : figure, of, number(value), number(lower), number(upper), samples, found]))),
    ...leftOut.length ? [element("p", {}, "left out:"), element("ul", {}, ...leftOut.map((one) => element("li", {}, one)))] : []];
}

/// Which figures a profile has for single stages, edges and the like: they apply
/// whatever is given for all.
function narrowFigures(profile) {
  try {
    return Object.entries(JSON.parse(profile)).flatMap(([scope, rows]) => {
      if (!["stages", "ranks", "microbatches", "edges"].includes(scope)) return [];
      const names = new Set(Object.values(rows).flatMap((row) => Object.keys(row)));
      return names.size ? [`${[...names].join(", ")} of ${scope}`] : [];
    });
  } catch {
    return []; // the compiler says what is wrong
  }
}

/// Shows whether a profile is in use, and what it was made of if that is known.
function showProfile() {
  byId("profile").hidden = !state.profile;
  byId("profileText").textContent = state.profile && `Costs of a profile${state.profileParts
    ? `, measured on ${state.profileParts} stages` : ""} (${kibibytes(state.profile.length)})`;
  const narrow = state.profile ? narrowFigures(state.profile) : [];
  byId("narrow").textContent = narrow.length ? `The profile has ${narrow.join("; ")}, which the fields above do not change.` : "";
  const shown = calibrated.profile === state.profile;
  byId("calibration").hidden = !shown;
  byId("summary").replaceChildren(...shown ? summaryOf(calibrated.calibration) : []);
}

byId("saveProfile").onclick = () => download("costs.json", state.profile);
byId("removeProfile").onclick = () => {
  showTraceProblems([]);
  choose({ profile: "", profileParts: 0 });
};
