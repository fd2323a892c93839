// At the end of the page in the frame of the live page: takes schedules in place of those
// that it shows, which is faster than loading a page, and tells the page its view. Both
// only with the page of the server that this one is from.
{
  // The page has the names, the figures and the menu to save in its own parts, and little room on a phone.
  const style = document.createElement("style");
  style.textContent = "@media (max-width: 560px) { #heads, .open, #savesvg, #savepng { display: none; } }";
  document.head.append(style);
  let told = null;
  // The picture of a saved page has no address.
  const home = location.origin === "null" ? "*" : location.origin;
  tellView = (view) => {
    if (view !== told) parent.postMessage({ view: told = view }, home);
  };
  addEventListener("message", (event) => {
    if (parent === window || event.source !== parent || (home !== "*" && event.origin !== home)) return;
    const { id, pages, view } = event.data ?? {};
    if (!Array.isArray(pages)) return;
    if (usualShown === null) {
      if (view) location.hash = view;
      start(pages);
    } else {
      const buttons = ["memory", "transfers"].map(byId), before = buttons.map((button) => button.disabled);
      show(pages);
      buttons.forEach((button, i) => {
        if (button.disabled || before[i]) toggle(button.id, !button.disabled);
      });
    }
    const [{ name, sizes }] = scene.schedules;
    document.title = `${name}: ${sizes}`;
    document.querySelector("h1").textContent = document.title;
    canvas.setAttribute("aria-label", document.title);
    parent.postMessage({ shown: id }, home);
  });
}
