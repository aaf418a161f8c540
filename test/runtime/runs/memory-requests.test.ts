import { createMemoryRuns } from "../../../src/features/memory/memory-runs.ts";
import { aMemory, anAgent } from "../../helpers/agents.ts";
import { webhookItem } from "../../foundation/store/support.ts";
import { startedWorld } from "./of-world.ts";

const seen = { act: "has", id: "issue-7" } as const;

test("a run remembers ids for all later runs of its agent", async () => {
  const agents = [
    anAgent("a", { memory: aMemory(), scale: 2 }),
    anAgent("b", { memory: aMemory() }),
  ];
  const { world, run } = await startedWorld({ agents });
  expect(await world.ask(run, "seen", seen)).toEqual({ ok: true, isSeen: false });
  expect(await world.ask(run, "seen", { ...seen, act: "add" })).toEqual({
    ok: true,
    isSeen: false,
  });
  expect(await world.ask(run, "seen", { ...seen, act: "add" })).toEqual({ ok: true, isSeen: true });
  expect(await world.ask(await world.run("a"), "seen", seen)).toEqual({ ok: true, isSeen: true });
  expect(await world.ask(await world.run("b"), "seen", seen)).toEqual({ ok: true, isSeen: false });
});

test("a run of an agent without a memory remembers no ids", async () => {
  const { world, run } = await startedWorld({ agents: [anAgent("a")] });
  await expect(world.ask(run, "seen", seen)).rejects.toMatchObject({ code: "disabled" });
});

test('a run that a stranger started only asks for ids with untrusted = "read"', async () => {
  const memory = aMemory({ untrusted: "read" });
  const { world, run } = await startedWorld({ agents: [anAgent("a", { memory, scale: 2 })] });
  await world.ask(run, "seen", { ...seen, act: "add" });
  const stranger = await world.run("a", webhookItem("w", "r", "a").trigger);
  expect(await world.ask(stranger, "seen", seen)).toEqual({ ok: true, isSeen: true });
  const add = world.ask(stranger, "seen", { act: "add", id: "x" });
  await expect(add).rejects.toMatchObject({ code: "not_approved" });
});

test("the reason of a run not to keep its files is stored without secrets", async () => {
  const { world, run } = await startedWorld({ agents: [anAgent("a", { memory: aMemory() })] });
  const runs = world.store.tables(createMemoryRuns);
  await runs.begin(run, [{ name: "a", mayWrite: true }], aMemory());
  await world.ask(run, "memory-problem", {
    tree: "memory",
    problem: "memory/ has hunter2-hunter2.",
  });
  const answer = await runs.upload(run, "a", {
    files: [{ path: "x", hash: "0", bytes: 1, isExecutable: false }],
    problem: null,
  });
  expect(answer).toBe("memory/ has [redacted].");
});
