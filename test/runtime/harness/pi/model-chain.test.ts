import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HostedModel } from "../model-host.ts";
import { fakeProvider, hangingUp, refusing } from "../fake-provider.ts";
import type { FakeProvider } from "../fake-provider.ts";
import { aJob, aModel, aScripted } from "../jobs.ts";
import { endMessageOf, logsOf, runOf } from "../run-entry.ts";
import type { EndedRun } from "../run-entry.ts";

describe("the chain of models", () => {
  let workDir: string;
  const open: FakeProvider[] = [];
  beforeEach(async () => {
    workDir = await mkdtemp(join(tmpdir(), "al-fallback-"));
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((provider) => provider.close()));
    await rm(workDir, { recursive: true, force: true });
  });

  async function provider(...answer: Parameters<typeof fakeProvider>): Promise<FakeProvider> {
    const made = await fakeProvider(...answer);
    open.push(made);
    return made;
  }

  /** A port where nobody listens. */
  async function refused(): Promise<string> {
    const closed = await fakeProvider(refusing(500, ""));
    await closed.close();
    return closed.baseUrl;
  }

  const run = (models: readonly HostedModel[]) => runOf(aJob(workDir, { models }));
  const cooldowns = ({ messages }: EndedRun) =>
    messages.flatMap((message) => (message.type === "cooldown" ? [message] : []));
  /** Without the waits between retries. */
  const once = { maxRetries: 0 };
  const good = aScripted([{ text: "From the backup." }], "backup");

  it("goes on past one that is rate-limited, one that is overloaded and one that is not there", async () => {
    const limited = await provider(refusing(429, "Rate limit reached, try again in 20s"));
    const overloaded = await provider(refusing(503, "overloaded"));
    const before = Date.now();
    const ended = await run([
      aModel("limited", limited.baseUrl),
      aModel("overloaded", overloaded.baseUrl, once),
      aModel("absent", await refused(), once),
      good,
    ]);
    expect(ended.exitCode).toBe(0);
    expect(logsOf(ended, "said").map(({ msg }) => msg)).toEqual(["From the backup."]);
    expect(logsOf(ended, "fallback").map(({ fields }) => fields)).toMatchObject([
      { from: "limited", to: "overloaded", error: "429 Rate limit reached, try again in 20s" },
      { from: "overloaded", to: "absent", error: "503 overloaded" },
      { from: "absent", to: "backup", error: expect.stringMatching(/cannot be reached/) as string },
    ]);
    expect(cooldowns(ended).map(({ model }) => model)).toEqual(["limited", "overloaded", "absent"]);
    const [first, second] = cooldowns(ended).map(({ until }) => until - before);
    expect(first).toBeGreaterThanOrEqual(20_000);
    expect(first).toBeLessThan(40_000);
    expect(second).toBeGreaterThanOrEqual(60_000);
    expect(limited.requests).toHaveLength(1);
    expect(endMessageOf(ended).usage.model).toBe("backup");
  });

  it("keeps the conversation when a model fails after a tool call", async () => {
    const turns = [
      { text: "Step one.", tools: [{ name: "bash", arguments: { command: "echo kept" } }] },
      { status: 529, error: "overloaded" },
    ];
    const dying = aScripted(turns, "dying");
    const heir = aScripted([{ text: "never said" }, { text: "Step two." }], "heir");
    const ended = await run([dying, heir]);
    expect(ended.exitCode).toBe(0);
    expect(logsOf(ended, "said").map(({ msg }) => msg)).toEqual(["Step one.", "Step two."]);
    expect(logsOf(ended, "tool")).toHaveLength(1);
  });

  it("goes on past one that hangs up in the middle of its answer", async () => {
    const cut = await provider(hangingUp);
    const ended = await run([aModel("cut", cut.baseUrl, once), good]);
    expect(ended.exitCode).toBe(0);
    expect(logsOf(ended, "said").at(-1)?.msg).toBe("From the backup.");
  });

  it("goes on past a wrong key, but does not leave that model out, as waiting does not mend it", async () => {
    const locked = await provider(refusing(401, "Incorrect API key provided"));
    const ended = await run([aModel("locked", locked.baseUrl), good]);
    expect(ended.exitCode).toBe(0);
    expect(cooldowns(ended)).toEqual([]);
  });

  it("uses each model's own key where two share a provider", async () => {
    const one = await provider(refusing(429, "slow down"));
    const two = await provider(refusing(429, "slow down"));
    const groq = { provider: "groq", model: "llama-3.3-70b-versatile", maxRetries: 0 } as const;
    await run([aModel("one", one.baseUrl, groq), aModel("two", two.baseUrl, groq)]);
    expect(one.requests[0]?.authorization).toBe("Bearer key-of-one");
    expect(two.requests[0]?.authorization).toBe("Bearer key-of-two");
  });

  it.each([
    [400, "max_tokens is too large", null],
    [401, "Incorrect API key provided", null],
    [429, "Rate limit reached", "last"],
    [500, "The server had an error", "last"],
  ] as const)(
    "fails with the provider's message when the last model answers %i",
    async (status, message, cooled) => {
      const broken = await provider(refusing(status, message));
      const ended = await run([aModel("last", broken.baseUrl, once)]);
      expect(ended.exitCode).toBe(1);
      expect(endMessageOf(ended).error).toBe(`model "last": ${status} ${message}`);
      expect(cooldowns(ended).map(({ model }) => model)).toEqual(cooled === null ? [] : [cooled]);
    },
  );

  it("skips a model with a problem and warns of it, with the reason", async () => {
    const problem = "credential openai_key is missing; write it to /x";
    const ended = await run([aModel("broken", "http://127.0.0.1:9/v1", { problem }), good]);
    expect(ended.exitCode).toBe(0);
    expect(logsOf(ended, "run").find(({ level }) => level === 40)?.msg).toBe(
      `model "broken": ${problem}`,
    );
  });

  it("fails when no model can be reached, and when none can be used", async () => {
    const absent = await run([aModel("absent", await refused(), once)]);
    expect(absent.exitCode).toBe(1);
    expect(endMessageOf(absent).error).toMatch(/^model "absent": 502 .* cannot be reached/);
    const problem = "its key is missing";
    const keyless = await run([aModel("keyless", "http://127.0.0.1:9/v1", { problem })]);
    expect(keyless.exitCode).toBe(1);
    expect(endMessageOf(keyless).error).toContain(`model "keyless": its key is missing`);
  });
});
