import { createSpend } from "../../../src/features/spend/spend-store.ts";
import type { CallGrant, CallRefusal } from "../../../src/foundation/contracts/model-gateway.ts";
import { gatedMeter } from "../../../src/runtime/runs/gated-meter.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { answered, plan, tempMeter } from "../../features/spend/support.ts";
import { anAgent } from "../../helpers/agents.ts";
import {
  answer,
  approving,
  asked,
  entryOf,
  expectThawed,
  openedQuestion,
  startedWorld,
  untilFrozen,
} from "./of-world.ts";

/** A run that may spend a cent; each call costs one, and `spend` makes one. */
async function started(type: AgentConfig["harness"]["type"]) {
  const a = anAgent("a", { ...approving({ over: 0.01 }), harness: { type, command: "claude" } });
  const { world, run } = await startedWorld({ agents: [a] });
  const gated = gatedMeter(world.requests.gates, world.runs, tempMeter({}).meter);
  const { signal } = new AbortController();
  const spend = async (): Promise<CallGrant | CallRefusal> => {
    const cent = { maxOutputTokens: 10_000, minOutputTokens: 10_000 };
    const call = await gated.begin({ ...plan, ...cent, instanceId: run, agent: "a" }, signal);
    if (call.granted) call.settle(answered(10_000));
    return call;
  };
  expect(await spend()).toMatchObject({ granted: true });
  return { world, run, spend };
}

const refusal = { granted: false, code: "budget_exceeded" };

describe("a model call of an external CLI beyond the approved amount", () => {
  test('waits for approval; "once" allows the same amount again', async () => {
    const { world, run, spend } = await started("llm-cli");
    const second = spend();
    expect(await openedQuestion(world)).toMatchObject({
      kind: "over",
      subject: "$0.01",
      prompt: "a wants to spend more than $0.01 in this run",
      form: { choices: ["once", "run", "deny"] },
    });
    await untilFrozen(world, run);
    await answer(world, "once");
    expect(await second).toMatchObject({ granted: true });
    const third = spend();
    expect((await answer(world, "run")).subject).toBe("$0.02");
    expect(await third).toMatchObject({ granted: true });
    expect(await spend()).toMatchObject({ granted: true });
    expect(asked(world)).toBe(2);
  });

  test("is rejected until the end of the run once a person denied it", async () => {
    const { world, spend } = await started("llm-cli");
    const second = spend();
    await answer(world, "deny");
    expect(await second).toMatchObject(refusal);
    const detail = expect.stringContaining("a person denied") as string;
    expect(await spend()).toMatchObject({ ...refusal, detail });
  });
});

async function refused() {
  const all = await started("pi");
  const call = await all.spend();
  expect(call).toMatchObject(refusal);
  await all.world.refuseCall(all.run, "detail" in call ? call.detail : "");
  return all;
}

describe("a run of pi beyond the approved amount", () => {
  test("waits for the approval, and repeats the model call", async () => {
    const { world, run, spend } = await refused();
    const waiting = world.ask(run, "budget-wait", {});
    expect((await answer(world, "once")).kind).toBe("over");
    expect(await waiting).toEqual({ ok: true, paid: true });
    expectThawed(world, run);
    expect(world.store.tables(createSpend).refusal(run)).toBeNull();
    expect(await spend()).toMatchObject({ granted: true });
  });

  test("ends as over_budget with the person's denial as reason", async () => {
    const { world, run } = await refused();
    const waiting = world.ask(run, "budget-wait", {});
    await answer(world, "deny");
    expect(await waiting).toEqual({ ok: true, paid: false });
    world.end(run, { exitCode: 1, error: "403" });
    await expect.poll(() => entryOf(world, run)?.outcome).toBe("over_budget");
    expect(entryOf(world, run)?.reason).toContain("a person denied");
  });
});
