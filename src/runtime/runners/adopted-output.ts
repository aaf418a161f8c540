import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import { reasonOf } from "../../foundation/errors.ts";
import type { RunToResume } from "./adopt-runs.ts";
import { runOutput } from "./run-output.ts";
import type { RunOutput } from "./run-output.ts";
import type { RunnerOptions } from "./runner-options.ts";

/** How a runtime finds the position in a run's output up to which it was recorded. */
export interface RecordedPosition {
  /** Whether this is the line that was recorded last. */
  readonly isLast: (entry: LogEntry, last: LogEntry) => boolean;
  /** Whether this line comes after that one for sure, so that the position was missed. */
  readonly isLater: (entry: LogEntry, last: LogEntry) => boolean;
}

/**
 * Takes the output of a run of an earlier scheduler. Its job is prepared again only to redact its secrets: they are
 * read anew, and equal those of the run unless they changed since. If the job can't be prepared, the secrets are
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

/** Stands for a run's redactor where its secrets can't be read. */
export function withhold(error: unknown): (text: string) => string {
  return () => `(not shown, as its secrets are not known: ${reasonOf(error)})`;
}

/**
 * Emits log lines from the first after `last` on, which is the last one that was recorded, and each event that is not
 * a log line; with null all of them.
 */
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
