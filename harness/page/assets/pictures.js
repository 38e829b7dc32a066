// Images of examples: a click opens them as large as the window.

/** Return the image of an example; null without one. An image that is not embedded is a link to its file. */
function pictureNode(data, link, name) {
  const file = link && element("a", { href: link, target: "_blank", rel: "noreferrer" }, "Image file");
  if (!data) return file ? element("p", {}, file) : null;
  const button = element("button", { type: "button", class: "picture", title: "Open the image", onclick: () => openPicture(data, link, name) }, element("img", { src: data, alt: name }));
  return button;
}

function openPicture(data, link, name) {
  const close = element("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const file = link && element("a", { href: link, target: "_blank", rel: "noreferrer" }, "Open the file in full size");
  const dialog = element("dialog", { class: "lightbox", "aria-label": name }, element("img", { src: data, alt: name }), element("p", {}, file, close));
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.tagName === "IMG") dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
