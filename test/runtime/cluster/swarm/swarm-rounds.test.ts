import { setTimeout as wait } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import type { HistoryEntry } from "../../../../src/foundation/contracts/history.ts";
import { engineSetupMs, testEngine } from "../../../helpers/docker.ts";
import { isLong } from "../../../helpers/long.ts";
import { forAll } from "../../../helpers/live-project.ts";
import type { LiveProject } from "../../../helpers/live-project.ts";
import type { TestScheduler } from "../../../helpers/scheduler.ts";
import type { SwarmNode } from "../../../helpers/swarm/node.ts";
import { programImage } from "../../../helpers/swarm/program-image.ts";
import { startSwarm } from "../../../helpers/swarm/swarm.ts";
import type { TestSwarm } from "../../../helpers/swarm/swarm.ts";
import { befall, roundOf } from "./chaos.ts";
import { logsByRun, swarmProject, wholeHistory } from "./swarm-project.ts";
import { witness } from "./witness.ts";
import type { Witness } from "./witness.ts";

const { engine: machine, missing } = await testEngine();

/** By hand: AL_SWARM_ROUNDS=100 AL_SWARM_RUNS=100. */
const rounds = Number(process.env.AL_SWARM_ROUNDS ?? (isLong ? 10 : 1));
const runsAtFirst = Number(process.env.AL_SWARM_RUNS ?? (isLong ? 12 : 9));
const firstSeed = Number(process.env.AL_SWARM_SEED ?? (isLong ? 1 : 7));
/** Of each round. */
const runsPerRound = 4;
const turns = 4;
const agents = ["ada", "ben", "cleo"];
const leaseSeconds = 20;
const doorPort = 7443;
/** For all runs that wait, those that are lost, and their second attempts. */
const quietMs = 180_000 + runsAtFirst * 3_000;

describe.skipIf(missing !== null)("al start with a Swarm of three nodes", () => {
  let swarm: TestSwarm;
  let model: Witness;
  let project: LiveProject;
  let scheduler: TestScheduler;
  let triggered = 0;

  forAll(async () => {
    const image = await programImage(machine);
    swarm = await startSwarm(3, { from: machine, images: [image] });
    model = await witness(turns, 600);
    const address = `${swarm.host}:${doorPort}`;
    project = await swarmProject({ baseUrl: model.baseUrl, address, image, agents, leaseSeconds });
    scheduler = await project.start({ env: { DOCKER_HOST: node(0).dockerHost } });
  }, engineSetupMs);
  afterAll(async () => {
    await scheduler.kill();
    await swarm.stop();
    await model.close();
  });

  const node = (index: number) => swarm.nodes[index] as SwarmNode;

  async function trigger(count: number): Promise<void> {
    for (let each = 0; each < count; each++) {
      const agent = agents[triggered % agents.length] ?? "";
      const answer = await scheduler.api(`/control/trigger/${agent}`, { method: "POST" });
      expect(answer.status).toBe(202);
      triggered += 1;
    }
  }

  /** The whole history, once nothing waits or runs. */
  async function quiet(): Promise<readonly HistoryEntry[]> {
    const deadline = performance.now() + quietMs;
    for (;;) {
      const history = await wholeHistory(scheduler);
      const open = history.filter(({ outcome }) => outcome === null);
      if (open.length === 0 && history.length > 0) return history;
      if (performance.now() > deadline) throw new Error(`still open: ${JSON.stringify(open)}`);
      await wait(500);
    }
  }

  /** What must hold whatever befell the Swarm. */
  async function check(): Promise<void> {
    const history = await quiet();
    const logs = await logsByRun(project.dir);
    const recorded = new Set([...logs.keys()]);
    for (const [run, { turns: seen, nonces }] of model.runs) {
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

  /** Of a node that was killed while Swarm removed them: Swarm never looks for them again. */
  async function pruneEnded(): Promise<void> {
    const filters = { label: ["al.project"] };
    await Promise.all(swarm.nodes.map(({ engine }) => engine.calls().pruneContainers({ filters })));
  }

  async function nothingLeft(): Promise<void> {
    for (const each of swarm.nodes) {
      const names = async () => {
        const containers = await each.engine.calls().listContainers({ all: true });
        return containers
          .map(({ Names, Status }) => `${Names[0]}: ${Status}`)
          .filter((name) => !/-door\./.test(name));
      };
      await expect.poll(names, { timeout: 60_000, interval: 500 }).toEqual([]);
    }
    expect(await node(0).engine.calls().listSecrets()).toEqual([]);
    expect(await node(0).engine.calls().listServices()).toHaveLength(1);
  }

  it(
    `runs ${runsAtFirst} runs, spread over the nodes`,
    async () => {
      await trigger(runsAtFirst);
      await check();
      const history = await quiet();
      expect(history.filter(({ outcome }) => outcome !== "succeeded")).toEqual([]);
      const logs = [...(await logsByRun(project.dir)).values()];
      const places = logs.flatMap((entries) => entries.flatMap((entry) => entry.node ?? []));
      const perNode = swarm.nodes.map(({ name }) => places.filter((each) => each === name).length);
      for (const count of perNode) expect(count).toBeGreaterThan(runsAtFirst / 6);
      await nothingLeft();
      process.stdout.write(`${runsAtFirst} runs on ${perNode.join(", ")}\n`);
    },
    quietMs + 60_000,
  );

  it(
    `loses and repeats no output silently in ${rounds} rounds of faults`,
    async () => {
      for (let seed = firstSeed; seed < firstSeed + rounds; seed++) {
        const round = roundOf(seed, swarm.nodes.length, leaseSeconds * 1_000);
        await trigger(runsPerRound);
        await wait(round.afterMs);
        await befall(swarm, round);
        await swarm.settled(120_000);
        if ((seed - firstSeed) % 10 === 9 || seed === firstSeed + rounds - 1) await check();
        process.stdout.write(`seed ${seed}: n${round.node + 1} ${round.fault}; ${await tally()}\n`);
      }
      await pruneEnded();
      await nothingLeft();
    },
    rounds * 120_000 + quietMs,
  );

  async function tally(): Promise<string> {
    const history = await wholeHistory(scheduler);
    const outcomes = Map.groupBy(history, ({ outcome }) => outcome ?? "open");
    const counts = [...outcomes].map(([outcome, all]) => `${all.length} ${outcome}`);
    const reasons = Map.groupBy(history, ({ reason }) => reason ?? "");
    const why = [...reasons].map(([reason, all]) => `${all.length} × ${reason}`);
    return [...counts, ...why.filter((each) => !each.endsWith("× "))].join("; ");
  }
});
