import {
  applyUpdate,
  changedAgents,
} from "../../../../src/interfaces/dashboard/live/apply-update.ts";
import { fakeOperations } from "../../../helpers/fake-operations.ts";

test("applyUpdate adds no log line that the snapshot already has", () => {
  const line = (seq: number) => ({
    seq,
    time: "2026-01-05T12:00:00.000Z",
    level: 30 as const,
    agent: "dev",
    instanceId: null,
    msg: `line ${seq}`,
  });
  const snapshot = { ...fakeOperations().snapshot(), recentLogs: [line(7), line(8)] };
  const { recentLogs } = applyUpdate(snapshot, { logs: [line(8), line(9)] });
  expect(recentLogs.map(({ seq }) => seq)).toEqual([7, 8, 9]);
  expect(applyUpdate(snapshot, { logs: [line(8)] }).recentLogs).toBe(snapshot.recentLogs);
});

test("changedAgents names the agents of an update, and those whose spending changes", () => {
  const { agents, ...others } = fakeOperations([{ name: "cat" }, { name: "dev" }]).snapshot();
  const [cat, dev] = agents.map((row) => ({ ...row, statusText: "thinking" }));
  if (cat === undefined || dev === undefined) throw new Error("there are two agents");
  const line = { seq: 1, time: "", level: 30 as const, msg: "" };
  const logs = ["owl", "scheduler"].map((agent) => ({ ...line, agent, instanceId: null }));
  const written = { ...line, agent: "run", instanceId: "run-abcdefgh" };
  const update = { agents: [cat, { ...dev, runningUsd: 1 }], logs: [...logs, written] };
  expect([...changedAgents(update, { agents, ...others })]).toEqual([
    ["cat", false],
    ["dev", true],
    ["owl", true],
  ]);
});
