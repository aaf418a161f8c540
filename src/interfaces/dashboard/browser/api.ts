import { goToLogin } from "./live.ts";

/** The document that the gateway responded with, or why there is none. */
export type Fetched<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly status: number; readonly detail: string };

/** The detail while the scheduler does not respond. */
export const noResponse = "The scheduler does not answer. Is it running?";

/** Requests a JSON document of the gateway. A session that is over leads to the login page. */
export async function fetchJson<T>(path: string, init: RequestInit = {}): Promise<Fetched<T>> {
  try {
    const response = await fetch(path, { ...init, credentials: "same-origin" });
    const answer = (await response.json()) as T & { readonly detail?: string };
    if (response.ok) return { ok: true, value: answer };
    if (response.status === 401) goToLogin();
    const detail = answer.detail ?? `The scheduler answered ${response.status}.`;
    return { ok: false, status: response.status, detail };
  } catch {
    return { ok: false, status: 0, detail: noResponse };
  }
}
