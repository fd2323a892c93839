// The fields above the picture: sizes, costs, and what the picture shows.
const schedule = () => known.schedules?.find(({ name }) => name === state.schedule) ?? known.schedules?.[0];

/// The text of a number or fraction after a step; null if there is no such step.
function stepped(text, by, isSize) {
  const [, number, divisor] = /^(\d+(?:\.\d+)?)(?:\/(\d+))?$/.exec(text) ?? [null, "0"];
  const next = Number(number) + by * Number(divisor ?? 1);
  if (next < 0 || (isSize && next === 0)) return null;
  return String(Number(next.toFixed(6))) + (divisor ? `/${divisor}` : "");
}

/// An input of the form with buttons and arrow keys that change it by 1. Its value is a
/// member of `into`, which is left out when the input is empty.
function field(id, label, into, key, { placeholder = "", title, numeric, plain } = {}) {
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
  const step = (by) => {
    const text = stepped(input.value.trim() || input.placeholder, by, numeric);
    if (text === null) return;
    input.value = text;
    input.oninput();
    input.onchange();
  };
  if (plain) return element("label", { title, class: "stepper" }, element("span", {}, label), input);
  input.onkeydown = (event) => {
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    event.preventDefault();
    step(event.key === "ArrowUp" ? 1 : -1);
  };
  // The arrow keys of the input do the same, so the buttons are no tab stops.
  const button = (text, word, by) => element("button", { type: "button", tabindex: -1, "aria-label": `${word} ${label}`, onclick: () => step(by) }, text);
  return element("div", { class: "stepper", title }, element("label", { for: id }, label), button("\u2212", "Less", -1), input, button("+", "More", 1));
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
const costsInUse = () => Object.fromEntries((known.report?.costs ?? "").split(", ").filter(Boolean)
  .map((one) => one.replace("~", "").split(/ (?:= )?/)));

function showForm() {
  const parameters = schedule()?.parameters ?? [];
  const keys = parameters.map(({ role, name }) => role ?? name);
  for (const { role, name } of parameters) if (role && role !== name && name in state.sizes) {
    state.sizes[role] ??= state.sizes[name];
    delete state.sizes[name];
  }
  for (const key of Object.keys(state.sizes)) if (known.schedules && !keys.includes(key)) delete state.sizes[key];
  setFields(byId("sizes"), JSON.stringify([generation, parameters]), () => parameters.map((one) => {
    const key = one.role ?? one.name;
    return field(`size-${key}`, one.role && one.role !== one.name ? `${one.role} ${one.name}` : one.name, state.sizes, key,
      { placeholder: one.default ?? "needed", numeric: true });
  }));
  const make = ({ name, doc, default: value }) => field(`cost-${name}`, name, state.costs, name,
    { placeholder: value, title: `Cost of ${doc.replaceAll("`", "")}` });
  setFields(byId("costs"), JSON.stringify([generation]), () =>
    usualCosts.map((name) => make(config.costs.find((one) => one.name === name))));
  setFields(byId("moreCosts"), JSON.stringify([generation]), () => [
    ...config.costs.filter(({ name }) => !usualCosts.includes(name)).map(make),
    field("otherCosts", "Others", state, "otherCosts", { placeholder: "F&B=2.5", title: "As for --cost", plain: true })]);
  // What applies where nothing is written.
  const inUse = costsInUse();
  for (const { name, default: value } of config.costs) byId(`cost-${name}`).placeholder = inUse[name] ?? (/^[\d.]+$/.test(value) ? value : "\u2013");
  const assumed = assumedCosts(known.report);
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

/// Opens another program in place of this one.
function openProgram(program) {
  ++generation;
  setProgram(program);
  known.schedules = undefined;
  choose({ program, sizes: {}, schedule: "", withName: "", withSteps: "", view: "" });
}

// The programs of the library and of the documentation.
for (const group of new Set(config.examples.map((one) => one.group)))
  byId("examples").append(element("optgroup", { label: group }, ...config.examples.flatMap((one, i) =>
    one.group === group ? [element("option", { value: i, title: one.summary }, one.name)] : [])));
byId("examples").onchange = (event) => {
  openProgram(config.examples[event.target.value].program);
  event.target.value = "";
};

// Menus close like those of a window.
addEventListener("pointerdown", ({ target }) => {
  for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(target)) menu.open = false;
});
addEventListener("keydown", ({ key, target }) => {
  const menu = key === "Escape" && target.closest?.(".menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
