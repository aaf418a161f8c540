import { callRequests } from "./calls.ts";
import { lockRequests } from "./locks.ts";
import { mcpRequests } from "./mcp.ts";
import { memoryCheckRequests, memoryRequests } from "./memory.ts";
import { modelRequests } from "./models.ts";
import { peopleRequests } from "./people.ts";
import { questionRequests } from "./questions.ts";
import type { RequestRow, CommandRow } from "./row.ts";
import { signalRequests } from "./signals.ts";
import { waitRequests, budgetRequests } from "./waits.ts";

/** Requests that go to the scheduler: `POST /run/<name>` over the run's own socket. */
export const schedulerRequests = {
  ...lockRequests,
  ...callRequests,
  ...waitRequests,
  ...questionRequests,
  ...budgetRequests,
  ...peopleRequests,
  ...mcpRequests,
  ...modelRequests,
  ...memoryRequests,
} as const;

/** Every request that an agent can make while it runs, in the order in which people and models read them. */
export const runRequests = {
  ...signalRequests,
  ...schedulerRequests,
  ...memoryCheckRequests,
} as const;

export type RequestName = keyof typeof schedulerRequests;
export type SignalName = keyof typeof signalRequests;
export type RunRequestName = keyof typeof runRequests;

/** All rows with their names. */
export const requestRows = Object.entries(runRequests) as readonly (readonly [
  RunRequestName,
  RequestRow,
])[];

/** A command without a request: connects its standard input and output to an allowed host. */
export const connectCommandName = "al-connect";

/** The command by which command lines reach an MCP server of the agent. */
export const mcpCommandName = "al-mcp";

/** The commands in an agent's shell, each with the request that it makes. */
export const agentCommands = requestRows.flatMap(
  ([request, { command }]): readonly (CommandRow & { readonly request: RunRequestName })[] =>
    command === undefined ? [] : [{ ...command, request }],
);

/** Names of the commands on the PATH of an agent's shell. */
export const commandNames: readonly string[] = [
  ...agentCommands.map(({ name }) => name),
  connectCommandName,
  mcpCommandName,
];
