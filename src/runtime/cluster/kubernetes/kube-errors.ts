import { messageOf, Problem } from "../../../foundation/errors.ts";

/** The HTTP status of the API server's refusal; null if the error is not a response of the server. */
export function statusOf(error: unknown): number | null {
  const code = (error as { code?: unknown; statusCode?: unknown } | null)?.code;
  return typeof code === "number" ? code : null;
}

/** A handler for `catch`: returns `value` if the server refused with one of these codes, and rethrows other errors. */
export function ifStatus<T>(value: T, ...codes: readonly number[]): (error: unknown) => T {
  return (error) => {
    if (codes.includes(statusOf(error) ?? 0)) return value;
    throw error;
  };
}

/** The server's own message, without the client's wrapper, which repeats all headers. */
function serverMessage(error: unknown): string {
  const body = (error as { body?: unknown } | null)?.body;
  const status = typeof body === "string" ? parsed(body) : body;
  const message = (status as { message?: unknown } | null | undefined)?.message;
  if (typeof message === "string" && message !== "") return message;
  const code = statusOf(error);
  return code === null ? causeOf(error) : `it answered with HTTP ${code}`;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

/** The message `fetch failed` has no reason; its cause has. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return messageOf(cause ?? error);
}

const hints: Readonly<Record<number, string>> = {
  401: "renew the login of the kubeconfig's user, and see: kubectl auth whoami",
  403: "give the scheduler's user the role of examples/kubernetes in that namespace; al doctor says what is missing",
};

/** The error of a failed request, for a person. 5xx and 429 count as an unreachable API server, like no answer. */
export function userError(error: unknown, server: string, action: string): Problem {
  if (error instanceof Problem) return error;
  const status = statusOf(error);
  const message = serverMessage(error);
  if (status === null || status >= 500 || status === 429) {
    return new Problem(
      "engine_unreachable",
      `no API server of Kubernetes answers at ${server} (${message})`,
      {
        hint: "check the current context of your kubeconfig, for example with: kubectl version",
        cause: error,
      },
    );
  }
  const hint = hints[status];
  return new Problem("engine_refused", `Kubernetes refused to ${action}: ${message}`, {
    ...(hint && { hint }),
    cause: error,
  });
}
