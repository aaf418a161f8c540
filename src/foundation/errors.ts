/**
 * The HTTP status of each code that the request or the project's state causes, or that is temporary. A UserError with
 * another code becomes a 500 without its message. Only the operator API shows messages of credentials: they name files.
 */
const statuses: Readonly<Record<string, number | undefined>> = {
  bad_cursor: 400,
  bad_search: 400,
  invalid_host: 400,
  malformed: 400,
  unauthorized: 401,
  wrong_key: 401,
  forbidden: 403,
  foreign_origin: 403,
  read_only: 403,
  unknown_host: 403,
  not_found: 404,
  unknown_agent: 404,
  unknown_alert: 404,
  unknown_budget: 404,
  unknown_delivery: 404,
  unknown_instance: 404,
  unknown_question: 404,
  unknown_receipt: 404,
  unknown_target: 404,
  unknown_token: 404,
  unknown_trigger: 404,
  unknown_version: 404,
  method_not_allowed: 405,
  timeout: 408,
  answered: 409,
  conflict: 409,
  credential_store: 409,
  disabled: 409,
  invalid_config: 409,
  invalid_credential: 409,
  missing_credential: 409,
  no_dashboard: 409,
  paused: 409,
  refused: 409,
  token_exists: 409,
  too_many_tokens: 409,
  unreadable_file: 409,
  unreadable_receipt: 409,
  unsafe_credential: 409,
  unusable_credential: 409,
  headers_too_large: 431,
  too_many_tries: 429,
  draining: 503,
  search_unavailable: 503,
  starting: 503,
  store_corrupt: 503,
  store_unavailable: 503,
  too_many_bytes: 503,
};

interface UserErrorOptions {
  /** The fix, as a sentence or a command to type. */
  readonly hint?: string;
  /** Exit code of a command that ends with this error: 2 by default for code "usage", else 1. */
  readonly exitCode?: number;
  /** Default: the status of the code. */
  readonly status?: number;
  /** Headers of the response; a 503 has `retry-after: 5` by default. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** The default headers of a response: a client may retry a temporary failure. */
export function headersFor(status: number): Readonly<Record<string, string>> {
  return status === 503 ? { "retry-after": "5" } : {};
}

/**
 * An error for a person or a client: the problem, its place and its fix. A command prints it without a stack, the
 * gateway responds with a problem document.
 */
export class UserError extends Error {
  /** Short stable code for programs. */
  readonly code: string;
  readonly hint: string | null;
  readonly exitCode: number;
  /** HTTP status of the response; 500 for an error that no request caused. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  /** A text instead of the options is the hint. */
  constructor(code: string, message: string, given: UserErrorOptions | string | undefined = {}) {
    const options = typeof given === "string" ? { hint: given } : given;
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "UserError";
    this.code = code;
    this.hint = options.hint ?? null;
    this.exitCode = options.exitCode ?? (code === "usage" ? 2 : 1);
    this.status = options.status ?? statuses[code] ?? 500;
    this.headers = options.headers ?? headersFor(this.status);
  }
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
  const hint = error instanceof UserError ? error.hint : null;
  return hint === null ? messageOf(error) : `${messageOf(error)}; ${hint}`;
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
