import { budgetRequests } from "./budget.ts";
import { callRequests } from "./calls.ts";
import type { CommandRow } from "./command-row.ts";
import { lockRequests } from "./locks.ts";
import type { RequestRow } from "./row.ts";
import { signalRequests } from "./signals.ts";
import { waitRequests } from "./waits.ts";

/** Requests that go to the scheduler: `POST /run/<name>` over the run's own socket. */
export const schedulerRequests = {
  ...lockRequests,
  ...callRequests,
  ...waitRequests,
  ...budgetRequests,
} as const;

/** Every request that an agent can make while it runs, in the order in which people and models read them. */
export const runRequests = { ...signalRequests, ...schedulerRequests } as const;

export type RequestName = keyof typeof schedulerRequests;
export type SignalName = keyof typeof signalRequests;
export type RunRequestName = keyof typeof runRequests;

type ToolOf<Row> = Row extends { tool: { name: infer Name } } ? Name : never;
/** The names of the tools that make requests. */
export type ToolName = ToolOf<(typeof runRequests)[RunRequestName]>;

/** All rows with their names. */
export const requestRows = Object.entries(runRequests) as readonly (readonly [
  RunRequestName,
  RequestRow,
])[];

/** The command that makes no request: it joins its input and output to an allowed host. */
export const connectCommandName = "al-connect";

/** The commands in an agent's shell, each with the request that it makes. */
export const agentCommands = requestRows.flatMap(
  ([request, { command }]): readonly (CommandRow & { readonly request: RunRequestName })[] =>
    command === undefined ? [] : [{ ...command, request }],
);

/** What is on the PATH of an agent's shell. */
export const commandNames: readonly string[] = [
  ...agentCommands.map(({ name }) => name),
  connectCommandName,
];
