import { personText } from "../../foundation/contracts/questions.ts";
import { refusal } from "../run-api/protocol.ts";
import type { Performers } from "./live-run.ts";
import type { RequestContext } from "./request-context.ts";

type Requests = Performers<"inbox" | "keep-session" | "kept-session">;

/** Messages of people to runs, and the sessions of runs. */
export function createPeopleRequests({
  inbox,
  sessions,
  clock,
  redactValue,
}: Pick<RequestContext, "inbox" | "sessions" | "clock" | "redactValue">): Requests {
  return {
    inbox: async (run, { request: { after, isLast = false }, signal }) => {
      // Before the search: a message that is accepted later would never be received.
      if (isLast) run.takesMessages = false;
      const asked = isLast ? AbortSignal.abort() : signal;
      const found = await inbox.next(run.instanceId, after, asked);
      if (isLast) run.takesMessages = found.length > 0;
      const messages = found.flatMap(({ seq, kind, text, by }) =>
        kind === "continue" ? [] : [{ seq, kind, text, by: personText(by) }],
      );
      return { ok: true, messages };
    },
    "keep-session": async ({ instanceId }, { request }) => {
      const entries = redactedLines(request.entries, redactValue);
      await sessions.add(instanceId, { ...request, entries }, clock.now());
      return { ok: true };
    },
    "kept-session": ({ request: { item } }, { request: { part } }) => {
      const { continues } = { continues: undefined, ...item.trigger };
      const found = continues && sessions.part(continues.instanceId, part);
      if (!found)
        throw refusal("unavailable", "The session that it continues is no longer stored.");
      return Promise.resolve({ ok: true, ...found });
    },
  };
}

/** The scheduler knows secrets that the run does not have. Throws a RunApiError `malformed`. */
function redactedLines(lines: string, redactValue: (value: unknown) => unknown): string {
  try {
    return lines
      .split("\n")
      .map((line) => JSON.stringify(redactValue(JSON.parse(line))))
      .join("\n");
  } catch {
    throw refusal("malformed", "entries: a line is not JSON");
  }
}
