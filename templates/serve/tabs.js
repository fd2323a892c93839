// The tabs below the strip: one place for the picture and all results.
const tabs = [...document.querySelectorAll("[role=tab]")];
const nameOfTab = (tab) => tab.id.replace("tab-", "");
/// What happens when a tab is shown, and after each compilation while it is.
const onTab = {};

function showTab(name) {
  state.tab = tabs.some((tab) => nameOfTab(tab) === name) ? name : "picture";
  for (const tab of tabs) {
    const isShown = nameOfTab(tab) === state.tab;
    tab.setAttribute("aria-selected", isShown);
    tab.tabIndex = isShown ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).classList.toggle("shown", isShown);
  }
  onTab[state.tab]?.(true);
}

function leaveOutTab(name) {
  byId(`tab-${name}`).remove();
  byId(`panel-${name}`).remove();
  tabs.splice(tabs.findIndex((tab) => nameOfTab(tab) === name), 1);
}

for (const tab of tabs)
  tab.onclick = () => {
    showTab(nameOfTab(tab));
    remember(false);
  };
byId("tabs").onkeydown = (event) => {
  const at = tabs.indexOf(document.activeElement), last = tabs.length - 1;
  const next = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[event.key];
  if (next === undefined || at < 0) return;
  event.preventDefault();
  tabs[next].focus();
  tabs[next].click();
};
