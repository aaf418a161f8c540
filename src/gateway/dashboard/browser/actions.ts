import { byId, childrenOf, create, setAttribute, setText } from "./dom.ts";
import { goToLogin } from "./live.ts";

const toastMs = 8_000;
const maxToasts = 4;

/** What the control routes answer. */
interface Answer {
  readonly paused?: boolean;
  readonly enabled?: boolean;
  readonly queued?: boolean;
  readonly killed?: number;
}

/** Asks the gateway to do something; the answer, or null after telling the person why it was refused. */
export async function post<T = Answer>(path: string, body?: object): Promise<T | null> {
  try {
    const response = await fetch(path, {
      method: "POST",
      credentials: "same-origin",
      ...(body === undefined
        ? {}
        : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as T & { readonly detail?: string };
    if (response.ok) return answer;
    if (response.status === 401) goToLogin();
    else showToast(answer.detail ?? `The scheduler answered ${response.status}.`);
  } catch {
    showToast(silence);
  }
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

/** Whether a button can be pressed; who presses one that can't is told why, as a finger sees no title. */
export function isOffered(button: HTMLElement): boolean {
  if (button.getAttribute("aria-disabled") !== "true") return true;
  if (button.title !== "") showToast(`${button.title}.`);
  return false;
}

/** What is said while nobody answers. */
export const silence = "The scheduler does not answer. Is it running?";

/** Takes back what was said of a scheduler that answers again. */
export function forgetSilence(): void {
  for (const toast of childrenOf(byId("toasts"))) {
    if (toast.dataset.text === silence) toast.remove();
  }
}

/** Tells of a failed action, for a while. What is told already is told anew, not twice. */
export function showToast(text: string): void {
  const toasts = byId("toasts");
  for (const shown of childrenOf(toasts)) if (shown.dataset.text === text) shown.remove();
  const toast = create("div", "toast");
  toast.dataset.text = text;
  const dismiss = create("button", "toast-close", "×");
  dismiss.setAttribute("aria-label", "Dismiss");
  dismiss.addEventListener("click", () => toast.remove());
  toast.append(create("span", "", text), dismiss);
  toasts.append(toast);
  if (toasts.childElementCount > maxToasts) toasts.firstElementChild?.remove();
  setTimeout(() => toast.remove(), toastMs);
}

/** Tells a screen reader what the eye sees happen. */
export function announce(text: string): void {
  setText(byId("announcer"), text);
}
