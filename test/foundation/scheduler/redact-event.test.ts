import { redactEvent } from "../../../src/foundation/scheduler/redact-event.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";

const at = { agent: "dev", at: 0 };
const secret = "hunter2-secret";
const item = anItem("1");
const problem = { severity: "error", file: "f", line: 1, column: 1 } as const;
const warning = { ...problem, severity: "warning", message: `unknown key "${secret}"` } as const;
const end = { outcome: "failed", exitCode: 1, usage: null } as const;
const run = { ...at, item, instanceId: "dev-1", startedAt: 0 };

const events: readonly RunEvent[] = [
  {
    ...at,
    type: "agent-invalid",
    problems: [{ ...problem, message: `found "${secret}"` }],
    sources: [],
  },
  { ...at, type: "agent-set", config: anAgent("dev"), warnings: [], summary: `x → ${secret}` },
  { ...at, type: "agent-set", config: anAgent("dev"), warnings: [warning], summary: "loaded" },
  { ...at, type: "agent-requirements", unmet: [warning] },
  { ...at, type: "build-started", text: secret },
  { ...at, type: "build-progress", text: secret },
  { ...at, type: "build-finished", error: secret, usable: false },
  { ...at, type: "refused", item, outcome: "rejected", reason: `no ${secret}` },
  { ...run, type: "finished", end: { ...end, reason: `401: ${secret}` } },
];

describe("an event that is sent to readers", () => {
  test.each(events.map((event) => [event.type, event] as const))(
    "contains no secret, for the type %s",
    (_type, event) => {
      const redacted = redactEvent(event, (text) => text.replaceAll(secret, "[redacted]"));
      expect(JSON.stringify(redacted)).not.toContain(secret);
      expect(JSON.stringify(redacted)).toContain("[redacted]");
    },
  );
});
