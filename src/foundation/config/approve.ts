import { z } from "zod";
import type { Approval, NetworkConfig } from "../../../streams/agent-config.ts";
import { parseAllowEntry } from "../contracts/network-allow.ts";
import { usd } from "./budget.ts";
import { agentKey, factOf } from "./config-key.ts";
import { list, pattern, table, text } from "./fields.ts";
import { describeKeys } from "./format-value.ts";
import type { Diagnostics } from "./validate.ts";

const hostError =
  'a host such as "api.example.com", "*.example.com", "example.com:22" or "10.0.0.7:5432 private"';
const host = z
  .string({ error: hostError })
  .refine((entry) => typeof parseAllowEntry(entry) !== "string", { error: hostError });

const toolsError = 'a list of tools, e.g. ["github.create_issue", "github.*"]';
const toolPattern = pattern(
  /^[a-z][a-z0-9-]{0,31}\.[\w*./-]{1,128}$/,
  'a tool of a server, e.g. "github.create_issue" or "github.*"',
);

const approveSchema = table({
  hosts: list(host, 'a list of hosts, e.g. ["api.example.com"]')
    .default([])
    .describe(
      "Hosts that runs reach only once a person allows it, in the forms of network.allow. Each connection, and each request over plain HTTP, is held at the door before anything is sent; calls of tools of an MCP server there are held as tools are. A wildcard does not hold a host that network.allow of the same agent names itself.",
    ),
  over: usd()
    .optional()
    .describe(
      "USD of one run. The call to a model that would exceed it is held. To allow it once adds the same amount again. A command line of the llm-cli harness is told to wait a day for its model.",
    ),
  agents: list(text(), 'a list of agents, e.g. ["deployer"] or ["*"]')
    .default([])
    .describe('Agents whose calls are held before they are made; "*" is every agent.'),
  tools: list(toolPattern, toolsError)
    .default([])
    .describe(
      'Tools of [[mcp]] servers whose calls are held before they are sent, e.g. "github.create_issue" or "github.*". A tool whose description changed since it was last allowed keeps its old one until a person allows the new one.',
    ),
});

/** An agent's `[approve]`. */
export const approveKey = agentKey({
  inFile: "approve",
  field: approveSchema
    .optional()
    .describe(
      "What a person has to allow: once, for the run, or always. The run waits without a slot; without an answer in a day it ends as unanswered. Runs that it calls, at any depth, are held as well.",
    ),
  resolve: (given): Approval | null =>
    given === undefined ? null : { ...given, over: given.over ?? null },
  value: z
    .object({
      hosts: z.array(z.string()).readonly(),
      over: z.number().nullable(),
      agents: z.array(z.string()).readonly(),
      tools: z.array(z.string()).readonly(),
    })
    .nullable(),
  change: (before, after) => describeKeys("approve", before, after),
  facts: (approval) => factOf("A person approves", approval === null ? [] : factsOf(approval)),
});

interface CheckedTable {
  readonly approve?:
    | { readonly hosts: readonly string[]; readonly over?: number | undefined }
    | undefined;
  readonly network?: NetworkConfig | undefined;
  readonly local: { readonly network?: string | undefined };
  readonly budget: { readonly run?: number | undefined };
}

/** Warns of gates that hold nothing. */
export function checkApprove(
  { approve, local, budget }: CheckedTable,
  project: {
    readonly local: { readonly network: string };
    readonly budget: { readonly runUsd: number | null };
  },
  diagnostics: Diagnostics,
): void {
  if (approve === undefined) return;
  const connected = local.network ?? project.local.network;
  if (approve.hosts.length > 0 && connected !== "none") {
    const why = `approve.hosts has no effect, as local.network is ${JSON.stringify(connected)}`;
    diagnostics.warn(["approve", "hosts"], `${why}; set local.network = "none"`);
  }
  const run = budget.run ?? project.budget.runUsd;
  if (approve.over === undefined || run === null || approve.over < run) return;
  const why = `approve.over has no effect, as budget.run is ${run}`;
  diagnostics.warn(["approve", "over"], `${why}; give a smaller amount`);
}

function factsOf({ hosts, over, agents, tools }: Approval): readonly string[] {
  return [
    ...hosts,
    ...(over === null ? [] : [`more than $${over} of a run`]),
    ...agents.map((name) => (name === "*" ? "every call" : `calls of ${name}`)),
    ...tools.map((name) => `the tool ${name}`),
  ];
}
