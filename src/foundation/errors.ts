/**
 * The codes by HTTP status that the request or the project's state causes, or that are temporary. A Problem with
 * another code becomes a 500 without its message. Only the operator API shows messages of credentials: they name files.
 */
const codes: Readonly<Record<number, string>> = {
  400: "bad_cursor bad_request bad_search invalid_host malformed unknown_field",
  401: "unauthorized wrong_key",
  403: "forbidden foreign_origin no_tls not_allowed private_address provider_tool read_only refused_address sentinel server_name unknown_host",
  404: `not_found unknown_agent unknown_alert unknown_budget unknown_call unknown_delivery unknown_instance unknown_memory
    unknown_model unknown_proposal unknown_question unknown_receipt unknown_source unknown_target unknown_token unknown_trigger
    unknown_version`,
  405: "method_not_allowed",
  408: "timeout",
  409: `answered claimed conflict credential_store deadlock disabled held invalid_config invalid_credential
    missing_credential no_dashboard not_approved not_holder not_scheduled paused refused self_call token_exists too_deep
    too_many_calls too_many_locks too_many_questions too_many_tokens unreadable_file unreadable_receipt
    unsafe_credential unusable_credential wait_timeout`,
  429: "rate_limited too_many_requests too_many_tries too_many_tunnels",
  431: "headers_too_large",
  502: `answer_too_long unreachable unresolved upstream_broke_off upstream_encoding upstream_redirect
    upstream_unreachable`,
  503: "draining search_unavailable starting store_corrupt store_unavailable too_many_bytes unavailable",
  504: "upstream_timeout",
};
const statuses = new Map(
  Object.entries(codes).flatMap(([status, names]) =>
    names.split(/\s+/).map((code) => [code, Number(status)] as const),
  ),
);

interface ProblemOptions {
  /** The fix, as a sentence or a command to type. */
  readonly hint?: string | null | undefined;
  /** Exit code of a command that ends with this error: 2 by default for code "usage", else 1. */
  readonly exitCode?: number;
  /** Default: the status of the code. */
  readonly status?: number | undefined;
  /** Headers of the response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the problem document. */
  readonly members?: object;
  readonly cause?: unknown;
}

/** The default headers of a response: a client may retry a temporary failure, and learns how to authenticate. */
export function headersFor(status: number, code: string): Readonly<Record<string, string>> {
  if (code === "unauthorized") return { "www-authenticate": "Bearer" };
  return status === 503 ? { "retry-after": "5" } : {};
}

/**
 * An error for a person or a client: the problem, its place and its fix. A command prints it without a stack, the
 * gateway responds with a problem document.
 */
export class Problem extends Error {
  /** Short stable code for programs. */
  readonly code: string;
  readonly hint: string | null;
  readonly exitCode: number;
  /** HTTP status of the response; 500 for an error that no request caused. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: object;

  /** A text instead of the options is the hint. */
  constructor(code: string, message: string, given: ProblemOptions | string | undefined = {}) {
    const options = typeof given === "string" ? { hint: given } : given;
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "Problem";
    this.code = code;
    this.hint = options.hint ?? null;
    this.exitCode = options.exitCode ?? (code === "usage" ? 2 : 1);
    this.status = options.status ?? statuses.get(code) ?? 500;
    this.headers = options.headers ?? headersFor(this.status, code);
    this.members = options.members ?? {};
  }
}

/** A command was called with invalid arguments. */
export function usageError(message: string, hint?: string): Problem {
  return new Problem("usage", message, hint);
}

/** The error of an attempt that failed: the text, and the message of the cause. */
export function failureOf(code: string, text: string, cause: unknown, hint?: string): Problem {
  // Node's message of a system call has a code, its name and the path, which the text already names.
  const reason = messageOf(cause).replace(/^E[A-Z]+: (.+?), \w+( '.*)?$/s, "$1");
  return new Problem(code, `${text}: ${reason}`, { hint, cause });
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message !== "") return error.message;
  // Some errors of the system only have a code, such as the one for several addresses.
  return "code" in error ? String(error.code) : "no reason given";
}

/** The message of anything that was thrown, with its hint where it has one. */
export function reasonOf(error: unknown): string {
  const hint = error instanceof Problem ? error.hint : null;
  if (hint === null) return messageOf(error);
  // Some hints are sentences, others go on.
  return `${messageOf(error)}${/^[A-Z]/.test(hint) ? "." : ";"} ${hint}`;
}

/** Whether an error of the system has one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** Whether a file, or a directory on the way to it, isn't there. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, "ENOENT", "ENOTDIR");
}

/** A handler for `catch`: returns `value` for a missing file, and rethrows other errors. */
export function ifMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isMissing(error)) return value;
    throw error;
  };
}
