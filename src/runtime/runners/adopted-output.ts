import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import { reasonOf } from "../../foundation/errors.ts";
import type { RunToResume } from "./adopt-runs.ts";
import { runOutput, type RunOutput } from "./run-output.ts";
import type { RunnerOptions } from "./runner-options.ts";

/** How a runtime finds the recorded position in a run's output. */
export interface RecordedPosition {
  /** Whether this is the last recorded line. */
  readonly isLast: (entry: LogEntry, last: LogEntry) => boolean;
  /** Whether this line certainly comes after that one, so that the position was missed. */
  readonly isLater: (entry: LogEntry, last: LogEntry) => boolean;
}

/**
 * Receives the output of a run of an earlier scheduler. Its job is prepared again only to redact its secrets: they are
 * read again, and equal those of the run unless they changed since. If the job can't be prepared, the secrets are
 * unknown, so all text is withheld.
 */
export async function adoptedOutput(
  { request, last }: RunToResume,
  { position, emit, workDir }: AdoptedOutputOptions,
  { prepare, redactorFor, onCooldown }: RunnerOptions,
): Promise<RunOutput> {
  const redact = await prepare(request, workDir).then(redactorFor, withhold);
  return runOutput({ request, redact, emit: eventsAfter(last, position, emit), onCooldown });
}

interface AdoptedOutputOptions {
  readonly position: RecordedPosition;
  readonly emit: (event: RunnerEvent) => void;
  readonly workDir: string;
}

/** Replaces a run's redactor if its secrets can't be read. */
export function withhold(error: unknown): (text: string) => string {
  return () => `(not shown, because its secrets are unknown: ${reasonOf(error)})`;
}

/** Emits log lines after `last`, the last recorded one (null for all lines), and each event that is not a log line. */
function eventsAfter(
  last: LogEntry | null,
  { isLast, isLater }: RecordedPosition,
  emit: (event: RunnerEvent) => void,
): (event: RunnerEvent) => void {
  let past = last === null;
  return (event) => {
    if (past || last === null || event.type !== "output") return emit(event);
    past = isLast(event.entry, last);
    if (past || !isLater(event.entry, last)) return;
    past = true;
    emit(event);
  };
}
