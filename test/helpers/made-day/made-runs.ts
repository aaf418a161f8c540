import { createHash } from "node:crypto";
import type { RunVersion } from "../../../src/foundation/store/runs.ts";
import type { RunEnd, WorkItem } from "../../../streams/vocabulary.ts";
import type { MadeAgent } from "./agents.ts";

/** The agent that fails since its config changed. */
export const failing = "sync-billing";
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
  const first = Math.ceil((until - dayMs) / every) * every;
  const count = Math.floor((until - 5 * minuteMs - first) / every) + 1;
  return Array.from({ length: count }, (_, n) => runAt(agent, n, first + n * every, until));
}

function runAt({ name, role, area }: MadeAgent, n: number, at: number, until: number): MadeRun {
  const startedAt = at + 200;
  const durationMs = 20_000 + ((n * 7_919 + name.length * 1_009) % 160) * 1_000;
  const isChanged = name === failing && at >= until - changedBeforeMs;
  const isFailed = isChanged || (n % 17 === 11 && name.length % 3 === 0);
  const said = isFailed ? "The connection failed; I stop here." : role.says(area, n);
  const id = `${name}-item-${n}`;
  return {
    item: { id, agent: name, at, attempt: 1, trigger: role.trigger(area, n, at) },
    instanceId: `${name}-${lettersOf(id)}`,
    startedAt,
    endedAt: startedAt + durationMs,
    version: versionOf(name, isChanged),
    said,
    end: endOf(isFailed, said, 900 + ((n * 37) % 700)),
  };
}

function endOf(isFailed: boolean, said: string, tokens: number): RunEnd {
  const usage = { model: "scripted", tokens, costUsd: tokens * 0.00003, turns: 2 };
  if (isFailed) return { outcome: "failed", exitCode: 1, reason: failure, usage };
  return { outcome: "succeeded", exitCode: 0, reason: null, usage, value: { summary: said } };
}

function versionOf(name: string, isChanged: boolean): RunVersion {
  const host = isChanged ? "ledger.acme.test" : "ledger-old.acme.test";
  const config = JSON.stringify({ models: ["scripted"], params: { host } }, null, 2);
  const content = { config, instructions: "Copy the new rows. Stop at the first error.\n" };
  return { hash: hashOf(`${name} ${host}`).slice(0, 32), content };
}

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

/** Eight letters, as the ids of instances end. */
const lettersOf = (text: string) =>
  hashOf(text)
    .slice(0, 8)
    .replace(/\d/g, (digit) => "ghijklmnop".charAt(Number(digit)));
