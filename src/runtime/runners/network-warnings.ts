import type { AgentConfig } from "../../../streams/agent-config.ts";
import { networkOf } from "../../../streams/run-network.ts";
import type { ProjectNetwork } from "../../../streams/run-network.ts";
import { runtimes } from "../../../streams/runtimes.ts";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import { isOwnUser } from "./host-user/supervisor-process.ts";

/** Names of so many agents fit into a line. */
const maxNames = 20;

/**
 * Which agents have an open network: a line for those whose config opens it, and one for those of the scheduler's own OS
 * user that can't be closed. `whyNotClosed` tries to close a network of that user; null when it can.
 */
export async function networkWarnings(
  records: Iterable<Pick<AgentRecord, "config">>,
  project: ProjectNetwork,
  whyNotClosed: () => Promise<string | null>,
): Promise<readonly string[]> {
  const agents = [...records].flatMap(({ config }) => (config === null ? [] : [config]));
  const open = agents.filter((agent) => networkOf(agent, project) === "open");
  const lines = [...line(open, "the network is open, by [local].network, for")];
  const ofOwnUser = agents.filter(
    (agent) => networkOf(agent, project) === "closed-if-possible" && isOfOwnUser(agent),
  );
  const why = ofOwnUser.length === 0 ? null : await whyNotClosed();
  if (why === null) return lines;
  return [...lines, ...line(ofOwnUser, `the network is open, as it can't be closed (${why}), for`)];
}

function isOfOwnUser({ runtime: { type, runAs } }: AgentConfig): boolean {
  return runtimes[type].runsAsUser && isOwnUser(runAs);
}

function line(agents: readonly AgentConfig[], what: string): string[] {
  if (agents.length === 0) return [];
  const names = agents.slice(0, maxNames).map(({ name }) => name);
  const more = agents.length > maxNames ? ` and ${agents.length - maxNames} more` : "";
  const effect = "runs reach hosts that [network].allow does not list; al doctor has the fix";
  return [`${what} ${names.join(", ")}${more}: ${effect}`];
}
