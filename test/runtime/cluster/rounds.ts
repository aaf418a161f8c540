import type { HistoryEntry } from "../../../src/foundation/contracts/history.ts";
import type { MemoryView } from "../../../src/features/memory/memory-views.ts";
import { randomBy } from "../../helpers/random.ts";
import type { LiveProject } from "../../helpers/live-project.ts";
import { pause } from "../../helpers/pause.ts";
import { logsByRun, wholeHistory } from "./rounds-project.ts";
import type { Witness } from "./witness.ts";

const runsPerRound = 4;
/** What befalls a node. */
const faults = ["killed", "cut off", "drained", "cut off for longer than the lease"] as const;
type Fault = (typeof faults)[number];

export interface RoundsOptions {
  readonly project: () => LiveProject;
  readonly model: () => Witness;
  readonly agents: readonly string[];
  /** Of each run. */
  readonly turns: number;
  /** For all runs that wait, those that are lost, and their second attempts. */
  readonly quietMs: number;
}

/** What befalls one node of a cluster. */
export interface Round {
  readonly fault: Fault;
  /** Index of the node. */
  readonly node: number;
  /** When it begins, in ms after the start of the round's runs. */
  readonly afterMs: number;
  /** How long it lasts, in ms. */
  readonly forMs: number;
}

/** The rounds of these seeds. A fault whose name says so lasts longer than the lease. */
export interface Rounds {
  readonly count: number;
  readonly firstSeed: number;
  readonly nodes: number;
  readonly leaseMs: number;
  /** Resolves once the cluster is as it was before. */
  befall(round: Round): Promise<void>;
}

function roundOf(seed: number, { nodes, leaseMs }: Rounds): Round {
  const random = randomBy(seed);
  const fault = faults[Math.floor(random() * faults.length)] ?? faults[0];
  const isLong = fault.endsWith("longer than the lease");
  return {
    fault,
    node: Math.floor(random() * nodes),
    afterMs: 500 + random() * 6_000,
    forMs: isLong ? leaseMs + 2_000 + random() * 4_000 : 500 + random() * (leaseMs / 2),
  };
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
    let history: readonly HistoryEntry[] = [];
    const open = async () => {
      history = await wholeHistory(project().scheduler);
      return history.filter(({ outcome }) => outcome === null);
    };
    await expect.poll(open, { timeout: quietMs, interval: 500 }).toEqual([]);
    return history;
  }

  /** The invariants, whatever happened to the cluster. */
  async function check(): Promise<void> {
    const history = await quiet();
    const logs = await logsByRun(project().dir);
    const recorded = new Set([...logs.keys()]);
    for (const [run, { turns: seen, nonces }] of model().runs) {
      expect(recorded, "a run that the scheduler does not know").toContain(run);
      expect([...nonces], `${run} was there twice`).toHaveLength(1);
      // A request whose answer a fault cut off is sent again.
      const order = seen.filter((turn, at) => turn !== seen[at - 1]);
      expect(order, `${run} did its turns in order`).toEqual([...new Set(seen)].sort());
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
    await expectFiles(history);
    for (const [run, entries] of logs) {
      const numbers = entries.flatMap((entry) => ("seq" in entry ? [Number(entry.seq)] : []));
      expect(numbers, `lines of ${run}`).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    }
  }

  /** Each run that succeeded left a line for each turn, and its file in the memory of its agent. */
  async function expectFiles(history: readonly HistoryEntry[]): Promise<void> {
    const succeeded = history.filter(({ outcome }) => outcome === "succeeded");
    for (const agent of agents) {
      const own = succeeded.flatMap(({ agent: name, instanceId }) =>
        name === agent && instanceId !== null ? instanceId : [],
      );
      const { files } = await project().json<MemoryView>(`/api/agents/${agent}/memory`);
      const names = files.map(({ path }) => path);
      expect(names, `memory of ${agent}`).toEqual(expect.arrayContaining(own));
      for (const run of own) {
        const answer = await project().scheduler.api(`/api/runs/${run}/files/turns`);
        const text = await answer.text();
        for (let turn = 1; turn <= turns; turn++) expect(text).toContain(`turn ${turn} of ${run}`);
      }
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

  /** Runs work without faults: all of it succeeds. Returns the nodes that the logs name, as often as they do. */
  async function spread(count: number): Promise<readonly unknown[]> {
    await trigger(count);
    await check();
    const history = await quiet();
    expect(history.filter(({ outcome }) => outcome !== "succeeded")).toEqual([]);
    const logs = [...(await logsByRun(project().dir)).values()];
    return logs.flatMap((entries) => entries.flatMap((entry) => entry.node ?? []));
  }

  async function play(rounds: Rounds): Promise<void> {
    const { count, firstSeed } = rounds;
    for (let seed = firstSeed; seed < firstSeed + count; seed++) {
      const round = roundOf(seed, rounds);
      await trigger(runsPerRound);
      await pause(round.afterMs, "the fault comes while the runs work");
      await rounds.befall(round);
      if ((seed - firstSeed) % 10 === 9 || seed === firstSeed + count - 1) await check();
      process.stdout.write(`seed ${seed}: n${round.node + 1} ${round.fault}\n`);
    }
  }

  return { trigger, quiet, check, spread, play };
}
