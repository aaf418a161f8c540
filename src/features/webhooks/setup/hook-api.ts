import { jsonOf } from "../../../foundation/contracts/json-size.ts";
import { messageOf, Problem, usageError } from "../../../foundation/errors.ts";
import { valueAt } from "../../../../streams/where.ts";

/** A webhook at its provider. */
export interface Hook {
  readonly id: string;
  /** By the provider's names, sorted. */
  readonly events: readonly string[];
  readonly isActive: boolean;
}

/** A webhook as the agents need it. */
export interface WantedHook {
  /** Address at the gateway. */
  readonly url: string;
  /** By the provider's names, sorted. */
  readonly events: readonly string[];
  /** Null where the provider chooses it. */
  readonly secret: string | null;
}

/** One request to a provider's API. Resolves with its JSON; rejects with Problem `provider_refused` or `no_answer`. */
export type CallApi = (
  method: "GET" | "POST" | "PUT" | "PATCH",
  path: string,
  body?: object,
) => Promise<unknown>;

/** The API by which a provider makes webhooks. A target is where a webhook belongs, such as a repository. */
export interface HookApi {
  /** Type of the credential that its requests take. */
  readonly credential: string;
  /** Address without trailing slash; `[webhooks.<source>].api` names another one. */
  readonly address: string;
  /** The form of a target; null when an account has one list of webhooks. */
  readonly target: string | null;
  /** Whether the provider chooses the secret, and shows it once. */
  readonly choosesSecret?: true;
  /** Bodies are forms instead of JSON. */
  readonly sendsForms?: true;
  headers(token: string): Readonly<Record<string, string>>;
  /** The provider's names for the events of filters; null stands for any event. Throws Problem `unknown_event`. */
  eventsOf(events: readonly string[] | null): readonly string[];
  /** The webhook with one of these addresses. */
  find(call: CallApi, target: string, urls: readonly string[]): Promise<Hook | null>;
  /** Makes the webhook, or changes the one with this id; resolves with its id, and the secret that the provider chose. */
  save(
    call: CallApi,
    target: string,
    id: string | null,
    wanted: WantedHook,
  ): Promise<{ readonly id: string; readonly secret: string | null }>;
  /** Asks for a ping; resolves with the gateway's answer as the provider saw it, or null if none came. */
  ping?(call: CallApi, target: string, id: string): Promise<PingAnswer | null>;
}

/** The gateway's answer to a ping: its status, and the provider's report of it. */
export interface PingAnswer {
  readonly status: number;
  readonly text: string;
}

/** The target, for a path. Throws Problem `usage` for another form: `..` would be another path. */
export function targetOf({ target }: HookApi, given: string, form: RegExp): string {
  if (form.test(given)) return given;
  throw usageError(`the target ${JSON.stringify(given)} is not ${target}`);
}

/** How long a provider may take to answer, in ms. */
const timeoutMs = 15_000;

/** Requests to an API at `address` with a token, which is in no error. Redirects are refused. */
export function apiCaller(api: HookApi, address: string, token: string): CallApi {
  return async (method, path, body) => {
    const url = `${address}${path}`;
    const form = api.sendsForms === true;
    const type = form ? "application/x-www-form-urlencoded" : "application/json";
    const answer = await ask(url, {
      method,
      headers: { ...api.headers(token), ...(body && { "content-type": type }) },
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
      ...(body && { body: form ? formOf(body) : JSON.stringify(body) }),
    });
    const value = jsonOf(await answer.text()) ?? null;
    if (answer.ok) return value;
    const said = [valueAt(value, "message"), valueAt(value, "error.message")].find(
      (text) => typeof text === "string",
    );
    throw refused(
      `${method} ${url} answered ${answer.status}${said === undefined ? "" : `: ${said}`}`,
      api,
    );
  };
}

async function ask(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request);
  } catch (error) {
    throw noAnswer(url, error);
  }
}

/** A request that got no answer. */
export function noAnswer(
  url: string,
  error: unknown,
  options: { readonly hint?: string } = {},
): Problem {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const message = `${url} does not answer: ${messageOf(cause)}`;
  return new Problem("no_answer", message, { ...options, cause: error });
}

/** An API's refusal; most come from a token without the right. */
export function refused(message: string, { credential }: HookApi): Problem {
  const hint = `does ${credential} have the right to manage webhooks there?`;
  return new Problem("provider_refused", message.slice(0, 500), hint);
}

/** Lists are repeated with `[]`, as Stripe reads them. */
function formOf(body: object): URLSearchParams {
  const pairs = Object.entries(body).flatMap(([name, value]: [string, unknown]) =>
    Array.isArray(value) ? value.map((one) => [`${name}[]`, String(one)]) : [[name, String(value)]],
  );
  return new URLSearchParams(pairs);
}

/** The objects of a list in an answer. */
export function rows(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.filter(
    (row): row is Record<string, unknown> => typeof row === "object" && row !== null,
  );
}

/** The texts of a list in an answer, sorted. */
export function sortedTexts(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.filter((text) => typeof text === "string").sort();
}
