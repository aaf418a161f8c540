import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import { Problem } from "../errors.ts";
import type { StatusStore } from "./status-store.ts";

/** An agent's record, even of a removed one whose work continues. Throws Problem `unknown_agent`. */
export function knownAgent(status: Pick<StatusStore, "agent">, name: string): AgentRecord {
  const record = status.agent(name);
  if (record === undefined) throw new Problem("unknown_agent", `no agent "${name}"`);
  return record;
}
