// Events of videos, images and scenes: one stop of the tab key for each drawing, arrow keys from event to event, and the words of the chosen
// event and of its partners below the drawing.
function startEvents() {
  for (const figure of all("figure.events")) {
    figure.addEventListener("click", (event) => {
      const button = event.target.closest("button.event");
      if (button) chooseEvent(figure, button);
    });
    figure.addEventListener("keydown", (event) => {
      const button = event.target.closest("button.event");
      if (!button || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") return clearEvents(figure);
      const next = nextEvent(button, event.key);
      if (!next) return;
      event.preventDefault();
      chooseEvent(figure, next);
    });
  }
}

/** Return the event to which a key leads: the next or last one of a lane, the nearest one of the lane above or below. */
function nextEvent(button, key) {
  const lane = button.parentElement;
  const events = all("button.event", lane);
  const place = events.indexOf(button);
  if (key === "ArrowRight") return events[place + 1];
  if (key === "ArrowLeft") return events[place - 1];
  if (key === "Home") return events[0];
  if (key === "End") return events.at(-1);
  if (key !== "ArrowUp" && key !== "ArrowDown") return null;
  const lanes = all(".lane, .board", lane.closest("figure")).filter((other) => other.querySelector("button.event"));
  const other = lanes[lanes.indexOf(lane) + (key === "ArrowDown" ? 1 : -1)];
  if (!other) return null;
  const centre = middle(button);
  return all("button.event", other).reduce((best, event) => (Math.abs(middle(event) - centre) < Math.abs(middle(best) - centre) ? event : best));
}

function middle(node) {
  const box = node.getBoundingClientRect();
  return box.left + box.width / 2;
}

function clearEvents(figure) {
  for (const node of all(".chosen, .partner, line.on", figure)) node.classList.remove("chosen", "partner", "on");
  for (const node of all("[aria-current]", figure)) node.removeAttribute("aria-current");
  figure.querySelector(".event-words").replaceChildren();
}

/** Mark an event with its partners, and show their words. */
function chooseEvent(figure, button) {
  clearEvents(figure);
  const scope = button.closest("[data-scope]");
  for (const event of all("button.event", scope)) event.tabIndex = event === button ? 0 : -1;
  button.classList.add("chosen");
  button.setAttribute("aria-current", "true");
  button.focus({ preventScroll: false });

  const own = button.dataset.event;
  const partners = all("line", scope).filter((line) => line.dataset.from === own || line.dataset.to === own);
  const items = partners.map((line) => {
    const name = line.dataset.from === own ? line.dataset.to : line.dataset.from;
    const partner = scope.querySelector(`button[data-event="${name}"]`);
    partner.classList.add("partner");
    line.classList.add("on");
    return element("li", {}, element("span", { dir: "auto" }, partner.title), element("span", { class: "soft" }, ` ${line.dataset.words}`));
  });
  const none = scope.querySelector("line") ? "No partner that adds to the score." : null;
  figure.querySelector(".event-words").replaceChildren(
    element("p", { dir: "auto" }, element("strong", {}, button.title)),
    items.length ? element("ul", { class: "texts" }, items) : element("p", { class: "soft" }, none ?? ""),
  );
}
