import { fetchJson, noResponse } from "./api.ts";
import { byId, childrenOf, create, setAttribute, setText } from "./dom.ts";

const toastMs = 8_000;
const maxToasts = 4;

/** A response of the control routes. */
interface Answer {
  readonly paused?: boolean;
  readonly enabled?: boolean;
  readonly queued?: boolean;
  readonly killed?: number;
}

/** Requests an action of the gateway; its response, or null after showing why it was refused. */
export async function post<T = Answer>(path: string, body?: object): Promise<T | null> {
  const fetched = await fetchJson<T>(path, {
    method: "POST",
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (fetched.ok) return fetched.value;
  if (fetched.status !== 401) showToast(fetched.detail);
  return null;
}

/** Runs an action when its button is pressed, once at a time; the button keeps the focus meanwhile. */
export function onPress(button: HTMLElement, action: () => Promise<unknown>): void {
  button.addEventListener("click", () => {
    if (!isOffered(button)) return;
    if (button.getAttribute("aria-busy") === "true") return;
    button.setAttribute("aria-busy", "true");
    void action().finally(() => button.removeAttribute("aria-busy"));
  });
}

/** Makes a button pressable, or not with a reason. Not by `disabled`, which would take the focus away. */
export function offer(button: HTMLElement, whyNot: string | null): void {
  setAttribute(button, "aria-disabled", whyNot === null ? null : "true");
  setAttribute(button, "title", whyNot);
}

/** Whether a button can be pressed; a press of one that can't shows why, as a finger sees no title. */
export function isOffered(button: HTMLElement): boolean {
  if (button.getAttribute("aria-disabled") !== "true") return true;
  if (button.title !== "") showToast(`${button.title}.`);
  return false;
}

/** Removes the toast of a scheduler that did not respond, when it responds again. */
export function forgetSilence(): void {
  for (const toast of childrenOf(byId("toasts"))) {
    if (toast.dataset.text === noResponse) toast.remove();
  }
}

/** Shows a failed action for a while. A text that is shown already is shown anew, not twice. */
export function showToast(text: string): void {
  const toasts = byId("toasts");
  for (const shown of childrenOf(toasts)) if (shown.dataset.text === text) shown.remove();
  const dismiss = create("button", "toast-close", "×");
  const toast = create("div", "toast", create("span", "", text), dismiss);
  toast.dataset.text = text;
  dismiss.setAttribute("aria-label", "Dismiss");
  dismiss.addEventListener("click", () => toast.remove());
  toasts.append(toast);
  if (toasts.childElementCount > maxToasts) toasts.firstElementChild?.remove();
  setTimeout(() => toast.remove(), toastMs);
}

/** Announces to screen readers what the page shows. */
export function announce(text: string): void {
  setText(byId("announcer"), text);
}
