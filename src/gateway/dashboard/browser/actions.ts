import { byId, childrenOf, create, setText } from "./dom.ts";
import { goToLogin } from "./live.ts";

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
  try {
    const response = await fetch(path, {
      method: "POST",
      credentials: "same-origin",
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
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

/** The toast while the scheduler does not respond. */
export const silence = "The scheduler does not answer. Is it running?";

/** Removes that toast when the scheduler responds again. */
export function forgetSilence(): void {
  for (const toast of childrenOf(byId("toasts"))) {
    if (toast.dataset.text === silence) toast.remove();
  }
}

/** Shows a failed action for a while. A text that is shown already is shown anew, not twice. */
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

/** Announces to screen readers what the page shows. */
export function announce(text: string): void {
  setText(byId("announcer"), text);
}
