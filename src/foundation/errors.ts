/** An error that a person can meet: what is wrong, where, and what to do about it. Printed without a stack. */
export class UserError extends Error {
  readonly code: string;
  readonly hint: string | null;
  /** Exit code of a command that ends with this error: 1 failure, 2 usage. */
  readonly exitCode: number;

  constructor(
    code: string,
    message: string,
    options: { hint?: string; exitCode?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "UserError";
    this.code = code;
    this.hint = options.hint ?? null;
    this.exitCode = options.exitCode ?? 1;
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message !== "") return error.message;
  // Some errors of the system have a code only, such as the one for several addresses that were tried.
  return "code" in error ? String(error.code) : "no reason given";
}

/** The message of anything that was thrown, with its hint where it has one. */
export function reasonOf(error: unknown): string {
  const hint = error instanceof UserError ? error.hint : null;
  return hint === null ? messageOf(error) : `${messageOf(error)}; ${hint}`;
}

/** Whether the system refused something with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** Whether a file, or a directory on the way to it, isn't there. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, "ENOENT", "ENOTDIR");
}

/** A handler for `catch`: gives `value` for a file that isn't there, and throws every other error again. */
export function ifMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isMissing(error)) return value;
    throw error;
  };
}
