// What scripts add to pages that work without them. Each part is a module of its own.
import { chatOverSocket } from "./chat.mjs";
import { copyOnClick } from "./copying.mjs";
import { openInPane, showPassage } from "./detail_pane.mjs";
import { listenToKeys } from "./keys.mjs";
import { followChanges } from "./live_updates.mjs";
import { answerPromptWhileTyping } from "./prompt_typing.mjs";
import { sendQuickly } from "./quick_forms.mjs";
import { searchWhileTyping } from "./search_typing.mjs";
import { signInByLink } from "./sign_in.mjs";
import { hideToastInTime } from "./toast.mjs";
import { askBeforeLeaving } from "./unsaved_text.mjs";

document.documentElement.classList.add("scripted");
signInByLink();
copyOnClick();
hideToastInTime();
if (document.querySelector("#search")) {
  searchWhileTyping();
  answerPromptWhileTyping();
  showPassage(document.querySelector("#content"));
  askBeforeLeaving();
  openInPane();
  sendQuickly();
  listenToKeys();
  followChanges();
  chatOverSocket();
}
