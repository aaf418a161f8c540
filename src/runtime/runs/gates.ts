import type { AgentConfig, Approval } from "../../../streams/agent-config.ts";
import { hostAndPort, type HostAndPort } from "../../foundation/contracts/deny-reasons.ts";
import { allowsTool } from "../../foundation/contracts/mcp.ts";
import {
  allowedHosts,
  holdsHost,
  type HostGate,
} from "../../foundation/contracts/network-allow.ts";
import { nanoOfUsd, usdText } from "../../foundation/contracts/money.ts";
import type { Question } from "../../foundation/contracts/questions.ts";
import { createApprovals, type Held, type HeldRequest } from "./approvals.ts";
import type { LiveRun } from "./live-run.ts";
import { createPictures } from "./picture.ts";
import type { RequestContext } from "./request-context.ts";

/** A tool of an MCP server. */
export interface ServedTool {
  /** `server.tool` */
  readonly name: string;
  /** Where its server is; null inside of the run. */
  readonly host: HostAndPort | null;
}

/** A call of a tool of an MCP server. */
export interface HeldTool extends ServedTool {
  /** JSON. */
  readonly args: string;
  /** The parts in which the tool differs from the one that was last allowed, one line each; null if it does not. */
  readonly change: { readonly hash: string; readonly parts: readonly string[] } | null;
}

/** How much a run may spend without a further approval. */
interface Approved {
  /** Null without a gate, and once a person allowed the whole run. */
  readonly usd: number | null;
  readonly isDenied: boolean;
}

/** The `[approve]` of an agent, with the hosts that its `[network]` names. Null can't be read, and holds everything. */
interface Gate extends HostGate {
  readonly name: string;
}

/**
 * The gates of runs, outside of their models: hosts and calls that a person has to allow. A run has the gates of its
 * agent, and of all agents whose calls led to it or to the session that it continues. Answers are in the stored questions, so
 * they outlive a scheduler.
 */
export function createGates(context: RequestContext) {
  const { questions, redact } = context;
  const pictureOf = createPictures(context.splitSecrets, context.store.settings.maskKey());
  const { tooMany, ask, pass } = createApprovals(context);
  const gatesOf = (run: LiveRun) => gatesOfRun(run, context);
  const approved = (run: LiveRun) => approvedOf(gatesOf(run), questions.ofRun(run.instanceId));
  /** `asks` is what the run wants to do, `changes` the parts of a tool that its server changed. */
  const heldOf = (
    { agent }: LiveRun,
    about: HeldRequest,
    gates: readonly Gate[],
    asks: string,
    changes: readonly string[] | null = null,
  ): Held => ({
    ...about,
    gates: [...new Set(gates.map(({ name }) => name))],
    ...pictureOf({ text: `${agent} wants to ${asks}`, changes }),
  });

  const gatesOfTool = (run: LiveRun, { name, host }: ServedTool): readonly Gate[] =>
    gatesOf(run).filter(
      ({ approve, ...gate }) =>
        !approve ||
        allowsTool(approve.tools, name) ||
        (host !== null && holdsHost({ approve, ...gate }, host)),
    );

  const holding = (run: LiveRun, asked: HostAndPort) =>
    gatesOf(run).filter((gate) => gate.approve === null || holdsHost(gate, asked));

  return {
    approved,
    isHeld: (run: LiveRun, asked: HostAndPort) => holding(run, asked).length > 0,
    /** Null if the run may spend more than the approved amount, else why not; waits for a person. */
    over: async (run: LiveRun, usd: number, signal: AbortSignal): Promise<string | null> => {
      const subject = usdText(nanoOfUsd(usd));
      const gates = gatesOf(run).filter(({ approve }) => approve?.over !== null);
      const asks = `spend more than ${subject} in this run`;
      const held = heldOf(run, { kind: "over", subject, hasAlways: false }, gates, asks);
      const why = tooMany(run, held);
      if (why !== null) return `${why}, and no person approved more than ${subject}`;
      await ask(run, held, signal);
      signal.throwIfAborted();
      return approved(run).isDenied ? deniedText : null;
    },
    /** Null if the run may reach a host, else why not; waits for a person if a gate holds it. */
    host: async (run: LiveRun, asked: HostAndPort, signal: AbortSignal): Promise<string | null> => {
      const gates = holding(run, asked);
      if (gates.length === 0) return null;
      const subject = hostAndPort(asked);
      // The run made it up below a wildcard: it can neither be shown nor be told from others once it is redacted.
      if (redact(subject) !== subject && !isNamed(gates, asked))
        return "its name contains a secret";
      const hasAlways = gates.every(({ name, approve }) => name === run.agent && approve !== null);
      const held = heldOf(run, { kind: "host", subject, hasAlways }, gates, `reach ${subject}`);
      return run.whileOpen(() => pass(run, held, signal));
    },
    /** Null if the run may call an agent, else why not; waits for a person if a gate holds it. */
    call: async (run: LiveRun, callee: string, context: string, signal: AbortSignal) => {
      const gates = gatesOf(run).filter(
        ({ approve }) => !approve || approve.agents.some((name) => name === callee || name === "*"),
      );
      if (gates.length === 0) return null;
      const hasAlways = gates.every(
        ({ name, approve }) => name === run.agent && approve?.agents.includes("*") === false,
      );
      const asks = `call ${callee}: ${context}`;
      return pass(
        run,
        heldOf(run, { kind: "call", subject: callee, hasAlways }, gates, asks),
        signal,
      );
    },
    /** Whether gates hold the calls of a tool, by its name or the host of its server. */
    holdsTool: (run: LiveRun, tool: ServedTool): boolean => gatesOfTool(run, tool).length > 0,
    /** Null if the run may call a tool, else why not; waits for a person if a gate holds it. A changed tool is another subject. */
    tool: async (run: LiveRun, tool: HeldTool, signal: AbortSignal) => {
      const { name, args, change } = tool;
      const gates = gatesOfTool(run, tool);
      if (gates.length === 0) return null;
      const isOwn = gates.every(
        (gate) => gate.name === run.agent && gate.approve?.tools.includes(name) === true,
      );
      const subject = change === null ? name : `${name} as changed (${change.hash})`;
      const hasAlways = isOwn && change === null;
      const asks = `call the tool ${name}: ${args}`;
      const about = { kind: "tool", subject, hasAlways } as const;
      return pass(run, heldOf(run, about, gates, asks, change?.parts), signal);
    },
  };
}

/** The gates of its agent, and of those whose calls led to it. */
function gatesOfRun(run: LiveRun, { configOf, store }: RequestContext): readonly Gate[] {
  const own = configOf(run.agent) ?? run.request.agent;
  const earlier = store.calls.ledTo(run.instanceId).map(({ agent, instance }) => {
    if (instance === null) return storedGate(agent, null);
    const config = configOf(agent);
    // An agent whose config is now broken or removed: its run keeps the gates that it started with.
    return config ? gateOf(config) : storedGate(agent, store.calls.config(instance));
  });
  return [gateOf(own), ...earlier].filter((gate) => gate !== null);
}

/** Each approval for once adds the amount again. */
function approvedOf(gates: readonly Gate[], asked: readonly Question[]): Approved {
  const amounts = gates.flatMap(({ approve }) => (approve ? (approve.over ?? []) : 0));
  if (amounts.length === 0) return { usd: null, isDenied: false };
  const answers = asked.flatMap(({ kind, answer }) => (kind === "over" ? [answer] : []));
  const times = 1 + answers.filter((answer) => answer === "once").length;
  const usd = answers.includes("run") ? null : Math.min(...amounts) * times;
  return { usd, isDenied: answers.includes("deny") };
}

function isNamed(gates: readonly Gate[], { host }: HostAndPort): boolean {
  const entries = gates.flatMap(({ approve, network }) => [
    ...(approve?.hosts ?? []),
    ...(network?.allow ?? []),
  ]);
  return allowedHosts(entries).some((entry) => !entry.isWildcard && entry.host === host);
}

/** The reason of a run that ends because a person denied it more money. */
export const deniedText = "a person denied this run more than [approve].over allows";

export type Gates = ReturnType<typeof createGates>;

/** Null without one. */
function gateOf({ name, network, approve }: AgentConfig): Gate | null {
  return approve && { name, network, approve };
}

/** The gate in a stored config; without one it holds everything. A wildcard of `[network].allow` does not open it: the project's may be among them. */
function storedGate(name: string, config: string | null): Gate | null {
  if (config === null) return { name, network: null, approve: null };
  const { approve } = JSON.parse(config) as { readonly approve?: Partial<Approval> };
  return approve ? { name, network: null, approve: { ...holdsNothing, ...approve } } : null;
}

/** The stored form has no empty values. */
const holdsNothing: Approval = { hosts: [], over: null, agents: [], tools: [] };
