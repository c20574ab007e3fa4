// No script of the page listens before its modules have loaded, although its text is seen by then: the keys that are
// pressed meanwhile are kept, and keys.mjs does what they ask for. This script is no module, so it runs first.
{
  const early = [];
  const keep = (event) => early.push(event);
  addEventListener("keydown", keep);
  globalThis.takeEarlyKeys = () => {
    removeEventListener("keydown", keep);
    return early.splice(0);
  };
}
