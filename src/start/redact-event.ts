import type { Problem, RunEvent } from "../../streams/vocabulary.ts";

/**
 * The event with every known secret taken out of the texts that the scheduler itself put in. What a run says is
 * redacted where it comes in; a config's problem or a provider's error may quote anything.
 */
export function redactEvent(event: RunEvent, redact: (text: string) => string): RunEvent {
  switch (event.type) {
    case "agent-invalid":
      return { ...event, problems: redactProblems(event.problems, redact) };
    case "agent-requirements":
      return { ...event, unmet: redactProblems(event.unmet, redact) };
    case "agent-set": {
      const warnings = redactProblems(event.warnings, redact);
      return { ...event, warnings, summary: redact(event.summary) };
    }
    case "build-started":
    case "build-progress":
      return { ...event, text: redact(event.text) };
    case "build-finished":
      return event.error === null ? event : { ...event, error: redact(event.error) };
    case "refused":
      return { ...event, reason: redact(event.reason) };
    case "finished": {
      const { reason } = event.end;
      return reason === null ? event : { ...event, end: { ...event.end, reason: redact(reason) } };
    }
    default:
      return event;
  }
}

function redactProblems(
  problems: readonly Problem[],
  redact: (text: string) => string,
): readonly Problem[] {
  return problems.map((one) => ({ ...one, message: redact(one.message) }));
}
