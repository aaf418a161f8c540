import type { Diagnostic, RunEvent } from "../../../streams/vocabulary.ts";

/**
 * The event without known secrets in the scheduler's own texts: a problem of a config or an error of a provider may quote
 * one. Output of runs is redacted where it is read.
 */
export function redactEvent(event: RunEvent, redact: (text: string) => string): RunEvent {
  const redacted = (problems: readonly Diagnostic[]): readonly Diagnostic[] =>
    problems.map((one) => {
      const shared = one.shared === undefined ? {} : { shared: redact(one.shared) };
      return { ...one, message: redact(one.message), ...shared };
    });
  const orNull = (text: string | null): string | null => text && redact(text);
  switch (event.type) {
    case "agent-invalid":
      return { ...event, problems: redacted(event.problems) };
    case "agent-requirements":
      return { ...event, unmet: redacted(event.unmet) };
    case "agent-set":
      return { ...event, warnings: redacted(event.warnings), summary: redact(event.summary) };
    case "build-started":
    case "build-progress":
      return { ...event, text: redact(event.text) };
    case "build-finished":
      return { ...event, error: orNull(event.error) };
    case "refused":
      return { ...event, reason: redact(event.reason) };
    case "blocked":
      return { ...event, reason: orNull(event.reason) };
    case "finished":
      return { ...event, end: { ...event.end, reason: orNull(event.end.reason) } };
    default:
      return event;
  }
}
