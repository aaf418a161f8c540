import type { DoctorContext } from "./doctor-context.ts";

/**
 * `ok` and `note` say how things are, a `warning` what may go wrong, an `error` what is broken. `fixed` was broken
 * until the doctor fixed it.
 */
export type Severity = "ok" | "note" | "warning" | "error" | "fixed";

/** What a check found out. */
export interface Finding {
  readonly severity: Severity;
  /** What is so, in a sentence without full stop. */
  readonly what: string;
  /** The file (with line and column), address or program that it is about; null when `what` says it. */
  readonly where: string | null;
  /** The command that fixes it, or what to do where no command can; null when nothing is to be done. */
  readonly fix: string | null;
  /** Repairs it; there only where that is safe without asking. Rejects with the reason when it can't. */
  readonly repair?: () => Promise<void>;
}

/** One check of the doctor. It changes nothing; only a finding's `repair` does. */
export interface Check {
  readonly name: string;
  readonly run: (context: DoctorContext) => Promise<readonly Finding[]>;
}

export function ok(what: string): Finding {
  return { severity: "ok", what, where: null, fix: null };
}

export function note(what: string, fix: string | null = null): Finding {
  return { severity: "note", what, where: null, fix };
}
