import type { RunVersion } from "../../../src/foundation/store/runs.ts";
import type { RunEnd, Trigger, WorkItem } from "../../../streams/vocabulary.ts";
import type { MadeAgent } from "./agents.ts";

/** The agent that fails since its config changed. */
export const failing = "sync-billing";
/** The agent whose ticks were skipped, as its runs took longer than their interval. */
export const skipping = "sync-data";
/** The error of the failing agent's runs. */
export const failure = "connect ECONNREFUSED ledger.acme.test:5432";

/** A run of the made day. Times are epoch ms. */
export interface MadeRun {
  readonly item: WorkItem;
  readonly instanceId: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly version: RunVersion;
  /** The model's last text. */
  readonly said: string;
  readonly end: RunEnd;
}

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
/** How long before the end of the day the failing agent's config changed. */
const changedBeforeMs = 9 * 60 * minuteMs;

/** The runs of an agent in the day that ends at `until`, oldest first; the same for the same arguments. */
export function runsOf(agent: MadeAgent, until: number): readonly MadeRun[] {
  const every = agent.role.everyMinutes * minuteMs;
  // Schedules come at their minute; people and their pull requests do not.
  const late = agent.role.kind === "cron" ? 0 : (agent.name.length * 7 * minuteMs) % every;
  const first = Math.ceil((until - dayMs) / every) * every + late;
  const count = Math.floor((until - 5 * minuteMs - first) / every) + 1;
  return Array.from({ length: count }, (_, n) => runAt(agent, n, first + n * every, until));
}

function runAt(agent: MadeAgent, n: number, at: number, until: number): MadeRun {
  const { name, role, area } = agent;
  const startedAt = at + 200;
  const durationMs = 20_000 + ((n * 7_919 + name.length * 1_009) % 160) * 1_000;
  const isChanged = name === failing && at >= until - changedBeforeMs;
  const isFailed = isChanged || (n % 17 === 11 && name.length % 3 === 0);
  const said = isFailed ? "The connection failed; I stop here." : role.says(area, n);
  return {
    item: {
      id: `${name}-item-${n}`,
      agent: name,
      at,
      attempt: 1,
      trigger: triggerOf(agent, n, at),
    },
    instanceId: `${name}-${idOf(`${name} ${n}`)}`,
    startedAt,
    endedAt: startedAt + durationMs,
    version: versionOf(agent, isChanged),
    said,
    end: endOf(isFailed, said, 900 + ((n * 37) % 700)),
  };
}

function endOf(isFailed: boolean, said: string, tokens: number): RunEnd {
  const usage = { model: "scripted", tokens, costUsd: tokens * 0.00003, turns: 2 };
  if (isFailed) return { outcome: "failed", exitCode: 1, reason: failure, usage };
  return { outcome: "succeeded", exitCode: 0, reason: null, usage, value: { summary: said } };
}

function triggerOf({ role, area }: MadeAgent, n: number, at: number): Trigger {
  if (role.kind === "cron") return { kind: "cron", scheduledFor: at };
  if (role.kind === "webhook") return { kind: "manual", prompt: `look at acme/${area}#${n}` };
  return {
    kind: "agent-call",
    callId: `call-${area}-${n}`,
    caller: `review-${area}`,
    callerInstance: `review-${area}-${idOf(`review-${area} ${n}`)}`,
    depth: 1,
    root: `review-${area}-item-${n}`,
    context: `deploy ${area} build ${2_000 + n}`,
    cancelOnExit: false,
  };
}

function versionOf({ name }: MadeAgent, isChanged: boolean): RunVersion {
  const host = isChanged ? "ledger.acme.test" : "ledger-old.acme.test";
  const config = JSON.stringify({ models: ["scripted"], params: { host } }, null, 2);
  const content = { config, instructions: "Copy the new rows. Stop at the first error.\n" };
  return { hash: hex(`${name} ${host}`, 32), content };
}

/** Eight letters, as the ids of instances end. */
function idOf(text: string): string {
  return hex(text, 8).replace(/\d/g, (digit) => "ghijklmnop"[Number(digit)] ?? "g");
}

function hex(text: string, length: number): string {
  let [a, b] = [0x811c9dc5, 0x9e3779b9];
  for (const char of text) {
    a = Math.imul(a ^ char.charCodeAt(0), 0x01000193);
    b = Math.imul(b ^ a, 0x85ebca6b);
  }
  const part = (a >>> 0).toString(16).padStart(8, "0") + (b >>> 0).toString(16).padStart(8, "0");
  return part.repeat(4).slice(0, length);
}
