import { getPriority } from "node:os";
import type { HistoryEntry } from "../../src/foundation/contracts/history.ts";
import { commandAgents } from "../helpers/command-agents.ts";
import { ownLog, slowly } from "../helpers/live-project.ts";

const names = Array.from({ length: 6 }, (_, n) => `agent-${n}`);

/** From when the run's process was started until it is ready, epoch ms. */
async function startOf({ instanceId }: HistoryEntry): Promise<{ from: number; to: number }> {
  const log = await ownLog(instanceId ?? "");
  const timeOf = (line: RegExp): number => Date.parse(line.exec(log)?.[1] ?? "");
  return { from: timeOf(/^(\S+) run /m), to: timeOf(/^(\S+) out \{"type":"ready"\}/m) };
}

/** How many of the runs were starting at once at most. */
async function mostAtOnce(runs: readonly HistoryEntry[]): Promise<number> {
  const starts = await Promise.all(runs.map(startOf));
  return Math.max(
    ...starts.map(({ from }) => starts.filter((one) => one.from <= from && from < one.to).length),
  );
}

test("at most local.starting runs start at once, by its current value, at a lower priority than the scheduler", async () => {
  const project = await commandAgents((dir) =>
    Object.fromEntries(names.map((name) => [name, `nice > '${dir}/${name}.nice'`])),
  );
  await project.append("config.toml", "[local]\nstarting = 2\n");
  const { pid, waitForOutput } = await project.start();

  const runAll = async (): Promise<readonly HistoryEntry[]> => {
    const before = (await project.history()).length;
    expect(new Set(await project.trigger(...names))).toEqual(new Set([202]));
    const succeeded = async () => (await project.history("outcome=succeeded")).length;
    await expect.poll(succeeded, slowly).toBe(before + names.length);
    return (await project.history()).slice(0, names.length);
  };

  expect(await mostAtOnce(await runAll())).toBe(2);
  await project.edit("config.toml", "starting = 2", "starting = 1");
  await waitForOutput(/local\.starting/);
  expect(await mostAtOnce(await runAll())).toBe(1);
  expect(Number(await project.read("agent-0.nice"))).toBeGreaterThan(getPriority(pid));
}, 120_000);
