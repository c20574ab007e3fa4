// A click on an id or a command copies it.
export function copyOnClick() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
    } catch {
      return; // no permission: the text can be selected
    }
    button.dataset.said = document.body.dataset.copied;
    setTimeout(() => delete button.dataset.said, 1_500);
  });
}
