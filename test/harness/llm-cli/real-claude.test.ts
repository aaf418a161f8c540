import { chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { aJob, aModel } from "../jobs.ts";
import type { JobOptions } from "../jobs.ts";
import { endMessageOf, logsOf, startRun } from "../run-entry.ts";
import type { EndedRun } from "../run-entry.ts";
import { fakeAnthropic } from "./fake-anthropic.ts";
import type { AnthropicTurn, FakeAnthropic } from "./fake-anthropic.ts";

/** Path of the real program, such as …/node_modules/.bin/claude of `npm i @anthropic-ai/claude-code`. */
const program = process.env.AL_TEST_CLAUDE;
/** It refuses to work for root without asking. */
const nobody = 65534;

if (program === undefined) {
  process.stderr.write("skipped: the real claude CLI (set AL_TEST_CLAUDE=<path of claude>)\n");
}

describe.skipIf(program === undefined)("the real claude", () => {
  let dir: string;
  let workDir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "al-claude-"));
    workDir = join(dir, "work");
    await mkdir(workDir);
    await writeFile(join(dir, "CLAUDE.md"), "planted above");
    await writeFile(join(workDir, "CLAUDE.md"), "planted here");
    if (process.getuid?.() === 0) {
      await chown(dir, nobody, nobody);
      await chown(workDir, nobody, nobody);
    }
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  async function run(
    turns: readonly AnthropicTurn[],
    job: JobOptions = {},
  ): Promise<{ ended: EndedRun; fake: FakeAnthropic }> {
    const fake = await fakeAnthropic(turns);
    onTestFinished(() => fake.close());
    const model = aModel("main", fake.baseUrl, {
      provider: "anthropic",
      model: "claude-sonnet-4-5",
      key: "sk-canary-key",
    });
    const whole = aJob(workDir, {
      harness: { type: "llm-cli", command: program ?? "" },
      models: [model],
      instructions: "You are the tested agent.",
      trigger: { kind: "manual", prompt: "Look around." },
      ...job,
    });
    const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
    return {
      ended: await startRun(whole, env, process.getuid?.() === 0 ? nobody : null).ended,
      fake,
    };
  }

  it("completes a session with a tool call", async () => {
    const bash = {
      name: "Bash",
      input: { command: "echo from-$AL_AGENT; id -u", description: "x" },
    };
    const { ended, fake } = await run([{ text: "Looking.", tool: bash }, { text: "Done." }]);
    expect(endMessageOf(ended)).toMatchObject({
      error: null,
      usage: { model: "main", tokens: 240, turns: 2 },
    });
    expect(endMessageOf(ended).usage.costUsd).toBeGreaterThan(0);
    expect(logsOf(ended, "said").map(({ msg }) => msg)).toEqual(["Looking.", "Done."]);
    expect(logsOf(ended, "tool-result")[0]?.fields).toMatchObject({ tool: "Bash", isError: false });
    expect(String(logsOf(ended, "tool-result")[0]?.fields?.output)).toContain("from-dev");
    const [first] = fake.requests;
    expect(first?.headers["x-api-key"]).toBe("sk-canary-key");
    expect(JSON.stringify(first?.body.system)).toContain("You are the tested agent.");
    expect(JSON.stringify(first?.body.messages)).toContain("Look around.");
    expect(JSON.stringify(first?.body)).not.toContain("planted");
  }, 60_000);

  it.each([401, 429, 529])(
    "fails by a provider that answers %i",
    async (status) => {
      const { ended } = await run([{ status }]);
      expect(ended.exitCode).toBe(1);
      expect(endMessageOf(ended).error).toMatch(new RegExp(`^model "main": ${status} `));
      const cooldowns = ended.messages.filter(({ type }) => type === "cooldown");
      expect(cooldowns).toHaveLength(status === 401 ? 0 : 1);
    },
    60_000,
  );
});
