import { refusal } from "../../../../src/runtime/wire/protocol.ts";
import type { Answer } from "../../../../src/runtime/harness/run-api/run-requests.ts";
import { aScripted } from "../jobs.ts";
import { refuseCalls } from "../model-host.ts";
import { runSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perTest } from "../../../helpers/per-test.ts";

const workDir = perTest(tempDir);

/** A session whose calls are refused with these codes first; the scheduler answers its waits with these. */
async function session(
  codes: Parameters<typeof refuseCalls>[1],
  answers: readonly (() => Promise<Answer>)[] = [],
  signal = new AbortController().signal,
) {
  const asked: string[] = [];
  const waits = [...answers];
  refuseCalls("poor", codes);
  const requests = {
    perform: (name: string) => {
      asked.push(name);
      return waits.shift()?.() ?? Promise.reject(new Error("it asked once more"));
    },
  };
  const models = [aScripted([{ text: "One." }], "poor"), aScripted([{ text: "Two." }], "second")];
  return { ...(await runSession({ workDir: workDir(), models, requests, signal })), asked };
}

const paid = () => Promise.resolve({ ok: true, paid: true });

test("a session of pi repeats the same turn after each wait for budget", async () => {
  const { error, log, usage, asked } = await session(
    ["budget_exceeded", "budget_exceeded"],
    [paid, paid],
  );
  expect(error).toBeNull();
  expect(asked).toEqual(["budget-wait", "budget-wait"]);
  expect(log).toMatch(/the model is asked again.*\n.*the model is asked again.*\nOne\./);
  expect(usage).toMatchObject({ model: "poor", turns: 1 });
});

test.each([
  ["the agent has onLimit = stop", () => Promise.resolve({ ok: true, paid: false })],
  ["no scheduler answers", () => Promise.reject(refusal("unavailable", "it did not answer"))],
])("a session of pi over budget ends without a fallback when %s", async (_when, answer) => {
  const { error, asked, usage } = await session(["budget_exceeded"], [answer]);
  expect(error).toMatch(/all is spent/);
  expect(asked).toEqual(["budget-wait"]);
  expect(usage.model).toBe("poor");
});

test("a session of pi with no turns left ends without waiting for budget", async () => {
  const { error, asked } = await session(["too_many_turns"]);
  expect(error).toMatch(/all is spent/);
  expect(asked).toEqual([]);
});

test("a session of pi that waits for budget ends when it is stopped", async () => {
  const stop = new AbortController();
  const wait = () => {
    stop.abort();
    return Promise.reject(refusal("unavailable", "the request was cancelled"));
  };
  const { error } = await session(["budget_exceeded"], [wait], stop.signal);
  expect(error).toBe("it was stopped before it finished");
});
