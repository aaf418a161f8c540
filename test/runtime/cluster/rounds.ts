import { setTimeout as wait } from "node:timers/promises";
import type { HistoryEntry } from "../../../src/foundation/contracts/history.ts";
import type { LiveProject } from "../../helpers/live-project.ts";
import { logsByRun, wholeHistory } from "./rounds-project.ts";
import type { Witness } from "./witness.ts";

export interface RoundsOptions {
  readonly project: () => LiveProject;
  readonly model: () => Witness;
  readonly agents: readonly string[];
  /** Of each run. */
  readonly turns: number;
  /** For all runs that wait, those that are lost, and their second attempts. */
  readonly quietMs: number;
}

/** Work for a cluster, and what must hold whatever befalls it. */
export function createRounds(options: RoundsOptions) {
  const { project, model, agents, turns, quietMs } = options;
  let triggered = 0;

  async function trigger(count: number): Promise<void> {
    for (let each = 0; each < count; each++) {
      const agent = agents[triggered % agents.length] ?? "";
      const answer = await project().scheduler.api(`/control/trigger/${agent}`, { method: "POST" });
      expect(answer.status).toBe(202);
      triggered += 1;
    }
  }

  /** The whole history, once nothing waits or runs. */
  async function quiet(): Promise<readonly HistoryEntry[]> {
    const deadline = performance.now() + quietMs;
    for (;;) {
      const history = await wholeHistory(project().scheduler);
      const open = history.filter(({ outcome }) => outcome === null);
      if (open.length === 0 && history.length > 0) return history;
      if (performance.now() > deadline) throw new Error(`still open: ${JSON.stringify(open)}`);
      await wait(500);
    }
  }

  /** The invariants, whatever happened to the cluster. */
  async function check(): Promise<void> {
    const history = await quiet();
    const logs = await logsByRun(project().dir);
    const recorded = new Set([...logs.keys()]);
    for (const [run, { turns: seen, nonces }] of model().runs) {
      expect(recorded, "a run that the scheduler does not know").toContain(run);
      expect([...nonces], `${run} was there twice`).toHaveLength(1);
      expect(seen, `${run} did its turns in order`).toEqual([...new Set(seen)].sort());
    }
    const first = history.filter(({ attempt }) => attempt === 1);
    expect(first.length, "work that was accepted is in the history").toBe(triggered);
    const lost = first.filter(({ outcome }) => outcome === "lost" || outcome === "interrupted");
    expect(history.length - first.length, "what was lost is tried once more").toBe(lost.length);
    for (const { instanceId, outcome, attempt, reason } of history) {
      const what = `${instanceId ?? ""} (attempt ${attempt}): ${outcome ?? ""}, ${reason ?? ""}`;
      if (outcome === "succeeded") expectComplete(logs.get(instanceId ?? "") ?? [], what);
      else expect(["lost", "rejected", "failed"], what).toContain(outcome);
    }
    for (const [run, entries] of logs) {
      const numbers = entries.flatMap((entry) => ("seq" in entry ? [Number(entry.seq)] : []));
      expect(numbers, `lines of ${run}`).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    }
  }

  function expectComplete(entries: readonly { readonly msg: string }[], what: string): void {
    const text = entries.map((entry) => JSON.stringify(entry)).join("\n");
    for (let turn = 1; turn <= turns; turn++) {
      // On a slow machine it is there as live output, too; that no line is twice is seen by the numbers.
      expect(text, `${what}: turn ${turn}`).toContain(`output":"turn ${turn} of`);
    }
    expect(text, what).toContain('"msg":"all turns are done"');
    expect(text, what).toContain('"outcome":"succeeded"');
  }

  async function tally(): Promise<string> {
    const history = await wholeHistory(project().scheduler);
    const outcomes = Map.groupBy(history, ({ outcome }) => outcome ?? "open");
    const counts = [...outcomes].map(([outcome, all]) => `${all.length} ${outcome}`);
    const reasons = Map.groupBy(history, ({ reason }) => reason ?? "");
    const why = [...reasons].map(([reason, all]) => `${all.length} × ${reason}`);
    return [...counts, ...why.filter((each) => !each.endsWith("× "))].join("; ");
  }

  return { trigger, quiet, check, tally };
}
