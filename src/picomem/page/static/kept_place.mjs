// Where a person is in a list, and what they have chosen there, while it is replaced by the same list as the server has it now.
function items() {
  return [...document.querySelectorAll("#content [data-item]:not([hidden])")];
}

// What scrolls: the list beside a pane, or the whole page.
function scroller() {
  const list = document.querySelector("#content");
  return getComputedStyle(list).overflowY === "auto" ? list : document.scrollingElement;
}

// The item with the focus, and the first item in view.
export function place() {
  const item = document.activeElement?.closest?.("#content [data-item]");
  const top = document.querySelector(".top").getBoundingClientRect().bottom;
  const seen = scroller().scrollTop > 0 && items().find((one) => one.id && one.getBoundingClientRect().bottom > top);
  return {
    id: item?.id,
    number: items().indexOf(item),
    isByKeyboard: Boolean(document.activeElement?.matches(":focus-visible")),
    seen: seen && { id: seen.id, y: seen.getBoundingClientRect().top },
  };
}

// The item that was seen first stands where it stood.
export function keepView({ seen }) {
  const item = seen && document.getElementById(seen.id);
  if (item) scroller().scrollBy({ top: item.getBoundingClientRect().top - seen.y, behavior: "instant" });
}

// The same item has the focus again, or where it has gone the one that took its place. The page follows it if `follows`.
export function keepFocus(before, follows) {
  if (before.number < 0 || document.activeElement !== document.body) return;
  const all = items();
  const item = (before.id && document.getElementById(before.id)) || all[Math.min(before.number, all.length - 1)];
  item?.focus({ preventScroll: !follows });
}

// What a person has chosen or opened in the regions.
export function chosen() {
  const boxes = [...document.querySelectorAll("#content [data-live] input[name=id]:checked")].map((box) => box.value);
  const opened = [...document.querySelectorAll("#content [data-live] details[open]")];
  return { boxes, opened: opened.map((details) => details.closest("[id]").id) };
}

export function chooseAgain({ boxes, opened }) {
  for (const box of document.querySelectorAll("#content [data-live] input[name=id]")) {
    if (boxes.includes(box.value)) box.checked = true;
  }
  for (const id of opened) document.getElementById(id)?.querySelector("details")?.setAttribute("open", "");
  offerBulk();
}

// The buttons that act on what is chosen rest while nothing is.
export function offerBulk() {
  const isChosen = document.querySelector("#content input[name=id]:checked");
  for (const button of document.querySelectorAll(".bulk button")) button.disabled = !isChosen;
}
