import { z } from "zod";
import { agentParams, unknownAgent } from "../../foundation/contracts/params.ts";
import { pageSize } from "../../foundation/contracts/wire-fields.ts";
import type { LogFilter } from "../../foundation/logs/log-query.ts";
import type { LogSource } from "../../foundation/logs/log-source.ts";
import { operationsOf } from "../../foundation/operation.ts";
import { logLevelNames, logLevels, logPageSchema } from "../views/log-page.ts";

export interface LogContext {
  readonly logs: LogSource;
  /** Undefined for an unknown agent. */
  readonly status: { readonly agent: (name: string) => unknown };
}

export const logFilterQuery = z.object({
  instance: z.string().max(200).optional().meta({ description: "Only lines of this run" }),
  q: z.string().max(1000).default("").meta({
    description: "Only lines with this text, ignoring case",
  }),
  level: z
    .enum(logLevelNames)
    .default("debug")
    .meta({ description: "Only lines of this level and above" }),
});
const position = z.string().max(500).optional();
const pageQuery = logFilterQuery.extend({
  before: position.meta({ description: "A position to read backward from. Default: the end" }),
  after: position.meta({ description: "A position to read forward from" }),
  limit: pageSize(1_000, 100).meta({
    description: "How many lines at most",
  }),
});

/** Reads a part of an agent's log. */
export const readLog = operationsOf<LogContext>("Logs").read("/api/logs/agents/:name", {
  summary: "A part of an agent's whole log, filtered",
  description:
    "The newest lines that match, or those before or after a position. One request reads 32 MiB at most: with `older` " +
    "there may be more matches, even if it found none.",
  params: agentParams,
  input: pageQuery,
  output: logPageSchema,
  problems: [404],
  perform: async ({ name, instance = null, before = null, after, limit, ...filter }, context) => {
    const { lines, ...places } = await context.logs.page({
      agent: await agentWithLog(name, context),
      instanceId: instance,
      filter: filterOf(filter),
      lines: limit,
      from: after === undefined ? { before } : { after },
    });
    return { lines: lines.map(({ id, entry }) => ({ position: id, entry })), ...places };
  },
});

/** The agent, also one that is gone: it still has its log. The scheduler has one too. Rejects with a 404. */
export async function agentWithLog(agent: string, { status, logs }: LogContext): Promise<string> {
  if (agent === "scheduler" || status.agent(agent) !== undefined) return agent;
  const lines = await logs.read({ agent, instanceId: null, lines: 1, after: null });
  if (lines.length > 0) return agent;
  throw unknownAgent(agent);
}

export function filterOf({
  q,
  level,
}: Pick<z.output<typeof logFilterQuery>, "q" | "level">): LogFilter {
  return { text: q, level: logLevels[level] };
}
