import { publicPath } from "../text/base-path.ts";
import { goToLogin } from "./live.ts";
import { showToast } from "./toasts.ts";

/** The document that the gateway responded with, or why it sent no document. */
type Fetched<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly status: number; readonly detail: string };

/** The detail while the scheduler does not respond. */
export const noResponse = "The scheduler does not answer. Is it running?";

/** Requests a JSON document of the gateway. An expired session leads to the login page. */
export async function fetchJson<T>(path: string, init: RequestInit = {}): Promise<Fetched<T>> {
  try {
    const response = await fetch(publicPath(path), { ...init, credentials: "same-origin" });
    const answer = (await response.json()) as T & { readonly detail?: string };
    if (response.ok) return { ok: true, value: answer };
    if (response.status === 401) goToLogin();
    const detail = answer.detail ?? `The scheduler answered ${response.status}.`;
    return { ok: false, status: response.status, detail };
  } catch {
    return { ok: false, status: 0, detail: noResponse };
  }
}

/** A response of the control routes. */
interface Answer {
  readonly enabled?: boolean;
  readonly instanceId?: string | null;
  readonly killed?: number;
  readonly runs?: number;
}

/** Requests an action of the gateway. */
export function send<T>(path: string, body?: object): Promise<Fetched<T>> {
  return fetchJson<T>(path, {
    method: "POST",
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
}

/** Requests an action of the gateway; resolves with its response, or with null after showing why it was refused. */
export async function post<T = Answer>(path: string, body?: object): Promise<T | null> {
  const fetched = await send<T>(path, body);
  if (fetched.ok) return fetched.value;
  if (fetched.status !== 401) showToast(fetched.detail);
  return null;
}
