import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import { UserError } from "../errors.ts";
import type { FindAgent } from "./status-store.ts";

/** An agent's record, even of a removed one whose work continues. Throws UserError `unknown_agent`. */
export function knownAgent(status: FindAgent, name: string): AgentRecord {
  const record = status.agent(name);
  if (record === undefined) throw new UserError("unknown_agent", `no agent "${name}"`);
  return record;
}
