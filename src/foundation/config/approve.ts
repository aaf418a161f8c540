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
      "Hosts that need a person's approval, in the forms of `[network].allow`. Each connection, and each plain HTTP request, waits before anything is sent. Calls to an MCP server on such a host need approval like `tools`. A wildcard does not apply to hosts that the agent's `[network].allow` names.",
    ),
  over: usd()
    .optional()
    .describe(
      "Spending per run, in USD, above which a model call needs approval. Each one-time approval adds the same amount again. With the llm-cli harness, the command line waits for its model for up to a day.",
    ),
  agents: list(text(), 'a list of agents, e.g. ["deployer"] or ["*"]')
    .default([])
    .describe('Agents that need approval before they are called; "*" matches every agent.'),
  tools: list(toolPattern, toolsError)
    .default([])
    .describe(
      'Tools of `[[mcp]]` servers that need approval before each call, e.g. "github.create_issue" or "github.*". If a tool\'s description changes, runs see the old one until a person allows the new one.',
    ),
});

/** An agent's `[approve]`. */
export const approveKey = agentKey({
  inFile: "approve",
  field: approveSchema
    .optional()
    .describe(
      "Actions that need a person's approval: once, for the run, or always. While a run waits, it uses no slot. Without an answer within a day it ends as `unanswered`. The rules also apply to the runs that it calls, at any depth.",
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
    const why = `approve.hosts has no effect, because local.network is ${JSON.stringify(connected)}`;
    diagnostics.warn(["approve", "hosts"], `${why}; set local.network = "none"`);
  }
  const run = budget.run ?? project.budget.runUsd;
  if (approve.over === undefined || run === null || approve.over < run) return;
  const why = `approve.over has no effect, because budget.run is ${run}`;
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
