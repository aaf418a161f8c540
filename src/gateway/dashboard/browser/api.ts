import { silence } from "./actions.ts";
import { goToLogin } from "./live.ts";

/** What an answer of the gateway was: the document, or why there is none. */
export type Fetched<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly status: number; readonly detail: string };

/** Reads a JSON document of the gateway. A session that is over leads to the login page. */
export async function getJson<T>(path: string): Promise<Fetched<T>> {
  try {
    const response = await fetch(path, { credentials: "same-origin" });
    const answer = (await response.json()) as T & { readonly detail?: string };
    if (response.ok) return { ok: true, value: answer };
    if (response.status === 401) goToLogin();
    const detail = answer.detail ?? `The scheduler answered ${response.status}.`;
    return { ok: false, status: response.status, detail };
  } catch {
    return { ok: false, status: 0, detail: silence };
  }
}
