import { toAgentStatus } from "../../../../streams/status/agent-record.ts";
import type { AgentStatus } from "../../../../streams/status/wire.ts";
import type { Context } from "../context.ts";
import { isNotRunning, noProject } from "../operator/connect.ts";
import { askProject } from "../operator/reader.ts";
import { plainLine } from "../terminal/format.ts";
import { renderTable } from "../terminal/table.ts";

/** An agent as `al agent ls` has it. */
type ListedAgent = Pick<AgentStatus, "name" | "title" | "tags" | "enabled" | "state">;

/** Prints the agents of the project. A project that never ran has its files alone to answer from. */
export async function listAgents(context: Context): Promise<void> {
  const { out } = context;
  const agents = (await agentsOf(context)).map(listed);
  if (out.json) return out.document({ agents });
  if (agents.length === 0) return out.note("no agents yet; al agent new makes one");
  const columns = [
    { title: "Agent" },
    { title: "State" },
    { title: "Tags", shrinks: true },
    { title: "Title", shrinks: true },
  ] as const;
  const { columns: width, colors } = out;
  out.data(renderTable(columns, agents.map(rowOf), { width, colors }));
}

async function agentsOf(context: Context): Promise<readonly AgentStatus[]> {
  try {
    return (await askProject(context, (reader) => reader.status())).agents;
  } catch (error) {
    if (!isNotRunning(error) || noProject(context.projectDir) !== null) throw error;
    const { readProjectFiles } = await import("../../operations/stored-agents.ts");
    return (await readProjectFiles(context.projectDir)).agents.map(toAgentStatus);
  }
}

function listed({ name, title, tags, enabled, state }: AgentStatus): ListedAgent {
  return { name, title, tags, enabled, state };
}

function rowOf({ name, title, tags, enabled, state }: ListedAgent): string[] {
  const shown = enabled ? state : "disabled";
  return [name, shown, tags.map(plainLine).join(", "), plainLine(title)];
}
