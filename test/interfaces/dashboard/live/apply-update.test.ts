import { applyUpdate } from "../../../../src/interfaces/dashboard/live/apply-update.ts";
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
