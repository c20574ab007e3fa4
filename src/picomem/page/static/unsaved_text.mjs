// What was typed into the form of a memory and is not saved yet: leaving it asks first.
function isChanged(field) {
  if (field.type === "hidden" || field.type === "submit") return false;
  if (field.type === "checkbox") return field.checked !== field.defaultChecked;
  if (field.options) return [...field.options].some((option) => option.selected && !option.defaultSelected);
  return field.value !== field.defaultValue;
}

// `data-unsaved` is a form that the server could not store and has sent back.
function isUnsaved(form) {
  if (form.dataset.cancelled !== undefined) return false;
  return form.dataset.unsaved !== undefined || [...form.elements].some(isChanged);
}

function hasUnsaved(root, sent) {
  return [...root.querySelectorAll("form.edit")].some((form) => form !== sent && isUnsaved(form));
}

// True where nothing in an element is unsaved, or a person lets it go; `sent` is a form that is being saved.
export function mayLeave(root, sent) {
  return !hasUnsaved(root, sent) || confirm(document.body.dataset.unsaved);
}

export function askBeforeLeaving() {
  document.addEventListener("click", (event) => {
    const form = event.target.closest("form.edit a")?.closest("form");
    if (form) form.dataset.cancelled = "";
  });
  addEventListener("beforeunload", (event) => {
    if (hasUnsaved(document)) event.preventDefault();
  });
}
