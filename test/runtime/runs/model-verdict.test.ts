import { randomUUID } from "node:crypto";
import { anAgent } from "../../helpers/agents.ts";
import { startedWorld } from "./of-world.ts";

const failed = (message: string) => ({ failure: { kind: "fallback", message } as const });

test("a live run's latest 16 calls to models have a verdict, of those without an id the last", async () => {
  const { world, run } = await startedWorld({ agents: [anAgent("a")] });
  const live = world.runs.get(run);
  const verdictOn = async (call?: string) =>
    (await world.ask(run, "model-verdict", call === undefined ? {} : { call })).verdict;
  expect(await verdictOn()).toBeNull();
  const [first, ...later] = Array.from({ length: 16 }, () => randomUUID());
  for (const call of ["", first ?? "", ...later.slice(1)]) {
    live.addModelCall(call, () => failed(call));
  }
  live.addModelCall("", () => failed("404 no"));
  expect(await verdictOn()).toEqual({ ...failed("404 no"), failures: 2 });
  expect(await verdictOn(first)).toEqual(failed(first ?? ""));
  live.addModelCall(later[0] ?? "", () => null);
  expect([await verdictOn(later[0]), await verdictOn(first)]).toEqual([null, null]);
});
