import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HistoryPage } from "../../src/foundation/contracts/history.ts";
import { standIn } from "../runtime/harness/llm-cli/stand-in.ts";
import { claudeStream } from "../runtime/harness/llm-cli/streams.ts";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

let project: TestProject;
let scheduler: TestScheduler | null;

beforeEach(async () => {
  project = await copyProject("examples/hello");
  scheduler = null;
});
afterEach(async () => {
  await scheduler?.stop();
  await project.remove();
});

const base = 'schedule = "0 0 1 1 *"\n';
const runtime = '[runtime]\ntype = "host-user"\nrun_as = "$USER"\n';

/** Runs the agent once with this config; the entry in the history and what `al run` said. */
async function runWith(config: string, env: NodeJS.ProcessEnv = {}) {
  const path = join(project.dir, "agents", "hello", "config.toml");
  await writeFile(path, `${base}${config}${runtime}`);
  scheduler = await startTestScheduler(project, { env });
  const { code, stdout, stderr } = await runAl(project, ["run", "hello"]);
  const answer = await scheduler.api("/api/stats/triggers");
  const [trigger] = ((await answer.json()) as HistoryPage).triggers;
  return { code, said: stdout + stderr, trigger };
}

describe("a run", () => {
  test("ends at its own timeout while a hook is at work", async () => {
    const hooks = '[hooks]\npre = ["sleep 300"]\n';
    const { code, trigger } = await runWith(
      `models = ["scripted"]\ncredentials = []\ntimeout = 3\n${hooks}`,
    );
    expect(code).toBe(124);
    expect(trigger).toMatchObject({ outcome: "timed_out", exitCode: 124 });
    expect(trigger?.durationMs).toBeLessThan(20_000);
  });

  test("does not start without a credential, and names the command that adds it", async () => {
    const { code, said, trigger } = await runWith(
      'models = ["scripted"]\ncredentials = ["github_token"]\n',
    );
    expect(code).not.toBe(0);
    expect(said).toContain("credential github_token is missing");
    expect(said).toContain(join(project.home, "credentials", "github_token", "default"));
    expect(trigger).toMatchObject({ outcome: "rejected", startedAt: null });
    expect(trigger?.reason).toContain("al creds add github_token");
  });

  test("starts without the key of a fallback model, and says that it goes without", async () => {
    const { code, said } = await runWith('models = ["scripted", "claude"]\ncredentials = []\n');
    expect(code).toBe(0);
    expect(said).toContain('model "claude": credential anthropic_key is missing');
  });

  test("of the llm-cli harness tells what the CLI did, used and cost", async () => {
    const cli = await standIn(project.dir, "claude", { stream: claudeStream });
    const dir = join(project.home, "credentials", "anthropic_key", "default");
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await writeFile(join(dir, "key"), "sk-of-the-model", { mode: 0o600 });
    const config =
      'models = ["claude", "scripted"]\ncredentials = []\n[harness]\ntype = "llm-cli"\n';
    const { code, said, trigger } = await runWith(config, { PATH: cli.path });
    expect(code).toBe(0);
    expect(said).toContain("Bash: exit 3");
    expect(trigger).toMatchObject({
      outcome: "succeeded",
      model: "claude",
      tokens: 255,
      costUsd: 0.0012,
    });
    const env = await cli.env();
    expect(env.ANTHROPIC_API_KEY).toMatch(/^[0-9a-f]{48}$/);
    expect(JSON.stringify(env)).not.toContain("sk-of-the-model");
  });

  test("of the llm-cli harness says what to install when the CLI is not there", async () => {
    const dir = join(project.home, "credentials", "openai_key", "default");
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await writeFile(join(dir, "key"), "sk-of-the-model", { mode: 0o600 });
    const toml = '[models.gpt]\nprovider = "openai"\nmodel = "gpt-5.2-codex"\n';
    await writeFile(join(project.dir, "config.toml"), toml);
    const harness = '[harness]\ntype = "llm-cli"\ncommand = "codex"\n';
    const { code, trigger } = await runWith(`models = ["gpt"]\ncredentials = []\n${harness}`);
    expect(code).toBe(1);
    expect(trigger?.reason).toContain("npm install -g @openai/codex");
  });
});
