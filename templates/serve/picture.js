// At the end of the page in the frame of the live page: takes schedules in place of those
// that it shows, which is faster than loading a page, and tells the page its view. Both
// only with the page of the server that this one is from.
{
  let told = null;
  tellView = (view) => {
    if (view !== told) parent.postMessage({ view: told = view }, location.origin);
  };
  addEventListener("message", (event) => {
    if (parent === window || event.source !== parent || event.origin !== location.origin) return;
    const { id, pages } = event.data ?? {};
    if (!Array.isArray(pages)) return;
    if (usualShown === null) {
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
    parent.postMessage({ shown: id }, location.origin);
  });
}
