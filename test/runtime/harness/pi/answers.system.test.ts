import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostedModel } from "../model-host.ts";
import type { RunMessage } from "../../../../src/runtime/harness/run-messages.ts";
import type { Provider } from "../../../../streams/agent-config.ts";
import { answerTable, type AnswerRow, type Outcome } from "./answer-table.ts";
import { startFakeUpstream } from "./fake-upstream.ts";
import { runSession } from "./run-session.ts";
import { aModel } from "../jobs.ts";
import { perFile } from "../../../helpers/per-test.ts";

/** A provider of each wire format, with a model of pi's own table. */
const models = {
  anthropic: "claude-opus-4-5",
  openai: "gpt-5.1",
  google: "gemini-2.5-pro",
  mistral: "mistral-medium-latest",
  custom: "local-1",
} as const satisfies Partial<Record<Provider, string>>;

const backup = { reply: { kind: "text", text: "From the backup." } } as const;

/** Nothing listens here, and no other program is given this port. */
const absent = "http://127.0.0.1:1/0/v1";

describe.concurrent.each(Object.keys(models) as (keyof typeof models)[])("%s", (provider) => {
  const workDir = perFile(() => mkdtemp(join(tmpdir(), "al-answers-")));
  const upstream = perFile(startFakeUpstream);
  afterAll(async () => {
    await upstream().close();
    await rm(workDir(), { recursive: true, force: true });
  });

  function modelOf(row: AnswerRow, baseUrl: string): HostedModel {
    const { maxRetries = null, timeoutSeconds = null } = row;
    const model = { provider, model: models[provider], maxRetries, timeoutSeconds };
    return aModel("first", baseUrl, model);
  }

  async function session(row: AnswerRow, hasFallback: boolean) {
    // The limit of silence is over when the provider falls silent, however slow this machine is.
    const timers = new Set<() => void>();
    const first = upstream().route(row.actions, () => timers.forEach((expire) => expire()));
    const second = upstream().route([backup]);
    const baseUrl = row.actions.length === 0 ? absent : first.baseUrl;
    const fallback = hasFallback ? [aModel("backup", second.baseUrl)] : [];
    const models = [modelOf(row, baseUrl), ...fallback];
    const after = (_ms: number, expire: () => void) => {
      timers.add(expire);
      return () => void timers.delete(expire);
    };
    const ended = await runSession({ workDir: workDir(), models, time: { after } });
    return { ...ended, first, second };
  }

  function expectOutcome(
    { error, usage, waits, messages, first, second }: Awaited<ReturnType<typeof session>>,
    outcome: Outcome,
  ): void {
    if (outcome.error === null) expect(error).toBeNull();
    else expect(error).toMatch(outcome.error);
    expect(error ?? 'model "first": ').toMatch(/^model "first": /);
    expect(first.requests).toHaveLength(outcome.requests);
    expect(second.requests).toHaveLength(outcome.fellBack === true ? 1 : 0);
    expect(usage.model).toBe(outcome.fellBack === true ? "backup" : "first");
    expect(waits).toEqual(outcome.waits);
    expect(retriesIn(messages)).toEqual(waits.map((wait) => wait * 1000));
  }

  const retriesIn = (messages: readonly RunMessage[]) =>
    messages.flatMap((message) =>
      message.type === "log" && message.kind === "run" ? (message.fields?.delayMs ?? []) : [],
    );

  test.each(answerTable)("a model answers alone with $name", async (row) => {
    expectOutcome(await session(row, false), row.alone);
  });

  test.each(answerTable)("a model answers before a fallback with $name", async (row) => {
    expectOutcome(await session(row, true), row.withFallback);
  });
});
