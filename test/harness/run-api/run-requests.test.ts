import { describe, expect, it } from "vitest";
import type { RunRequestName } from "../../../src/contracts/run-requests/table.ts";
import { createRunRequests, refusedAnswer } from "../../../src/harness/run-api/run-requests.ts";
import type { RunApiClient } from "../../../src/harness/run-api/client.ts";
import { createSessionExit } from "../../../src/harness/run-api/signals.ts";
import { createRedactor } from "../../../src/credentials/redactor.ts";
import { anItem } from "../../helpers/agents.ts";

const secret = "hunter2-hunter2";

function aRun() {
  const asked: unknown[] = [];
  const redactor = createRedactor();
  redactor.add([secret]);
  const client: RunApiClient = {
    ask: (ability, request) => {
      asked.push([ability, request]);
      return Promise.reject(new Error("asked"));
    },
  };
  const requests = createRunRequests({
    job: { trigger: anItem("1").trigger, workDir: "/nowhere" },
    emit: () => undefined,
    exit: createSessionExit(),
    redact: redactor.redactValue,
    client,
  });
  const ask = (name: RunRequestName, input: unknown) =>
    requests.perform(name, input, new AbortController().signal).catch((error: unknown) => error);
  return { ask, asked };
}

describe("what people are shown of a request", () => {
  it.each<[RunRequestName, object]>([
    ["lock", { resource: `x:${secret}` }],
    ["unlock", { resource: `x:${Buffer.from(secret).toString("base64")}` }],
    ["wait", { kind: "webhook", event: secret }],
    ["wait", { kind: "agent-call", source: secret }],
  ])("holds no secret of the run: %s", async (name, input) => {
    const { ask, asked } = aRun();
    const problem = refusedAnswer(await ask(name, input));
    expect(problem).toMatchObject({ ok: false, error: "malformed" });
    expect(JSON.stringify(problem)).not.toContain(secret);
    expect(asked).toEqual([]);
  });

  it("is asked for when it holds none", async () => {
    const { ask, asked } = aRun();
    await ask("lock", { resource: "x:y" });
    await ask("wait", { kind: "webhook", event: "issues" });
    expect(asked).toEqual([
      ["lock", { resource: "x:y" }],
      ["wait", { kind: "webhook", event: "issues" }],
    ]);
  });
});
