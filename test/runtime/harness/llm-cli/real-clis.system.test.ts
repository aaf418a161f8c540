import { chown, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messages } from "../pi/wires/messages.ts";
import { sendTo, type HostedModel } from "../model-host.ts";
import { aJob, aModel } from "../jobs.ts";
import { endMessageOf, logsOf, startRun } from "../run-entry.ts";
import type { Action } from "../pi/answer-table.ts";
import { startFakeUpstream } from "../pi/fake-upstream.ts";
import type { Program } from "./play.ts";
import { realPrograms } from "./real-programs.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const bin = await realPrograms();
/** claude refuses to work for root. */
const nobody = 65534;
const models = {
  claude: { provider: "anthropic", model: "claude-sonnet-4-5" },
  codex: { provider: "openai", model: "gpt-5.5" },
  gemini: { provider: "google", model: "gemini-2.5-pro" },
} as const;
/** The other cases take a minute: with AL_TEST_LLM_CLIS=all. */
const isWhole = process.env.AL_TEST_LLM_CLIS === "all";
/** Text of files that are no instructions of the agent. */
const notes = "canary-of-notes-5d1c";
const programs: readonly Program[] = ["claude", "codex", "gemini"];

function refused(status: number): Action {
  const error = { code: status, type: "some_error", message: `refused with ${status}` };
  const body = JSON.stringify({ type: "error", error });
  return { status, body, headers: { "content-type": "application/json" } };
}

/** A session of the real program with one retry, through the real gateway and bridge; `sent` comes after its first request. */
async function session(
  program: Program,
  action: Action | Action[],
  model: Partial<HostedModel> = {},
  sent: string | null = null,
) {
  const upstream = await startFakeUpstream();
  onTestFinished(() => upstream.close());
  const { baseUrl: versioned, requests } = upstream.route([action].flat());
  const baseUrl = versioned.replace("/v1", "");
  const workDir = tempDir();
  const uid = process.getuid?.() === 0 ? nobody : null;
  if (uid !== null) await chown(workDir, uid, uid);
  for (const name of ["CLAUDE.md", "AGENTS.md"]) await writeFile(join(workDir, name), notes);
  const all = { ...models[program], maxRetries: 1, ...model };
  const job = aJob(workDir, {
    harness: { type: "llm-cli", command: join(bin ?? "", program) },
    models: [aModel("main", baseUrl, all)],
    instructions: "You are the tested agent.",
    trigger: { kind: "manual", prompt: "Look around." },
  });
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
  const run = startRun(job, env, uid);
  if (sent !== null) {
    await expect.poll(() => requests, { timeout: 30_000 }).toHaveLength(1);
    sendTo(job.channel?.token ?? "", sent);
  }
  const ended = await run.ended;
  const warnings = logsOf(ended, "run").flatMap(({ level, msg }) => (level === 40 ? [msg] : []));
  return { ended, requests, warnings, error: endMessageOf(ended).error };
}

describe.skipIf(bin === null)("the real claude", () => {
  test("gives the model a message that comes while it works, once", async () => {
    const call = messages.stream({ kind: "tool", command: "sleep 3" }).replace('"bash"', '"Bash"');
    const headers = { "content-type": "text/event-stream" };
    const actions: Action[] = [
      { status: 200, body: call, headers },
      { reply: { kind: "text", text: "Done." } },
    ];
    const { requests, error, ended } = await session(
      "claude",
      actions,
      {},
      "Leave the logs alone.",
    );
    expect(error).toBeNull();
    const times = requests.map((body) => body.split("Leave the logs alone.").length - 1);
    expect(times).toEqual([0, 1]);
    expect(logsOf(ended, "steer").map(({ msg }) => msg)).toEqual(["Leave the logs alone."]);
    expect(endMessageOf(ended).usage).toMatchObject({ turns: 2 });
  }, 60_000);
});

describe.skipIf(bin === null).each(programs)(
  "the real %s",
  (program) => {
    test.runIf(isWhole)("the real CLI succeeds by the model's answer", async () => {
      const { ended, error, requests } = await session(program, {
        reply: { kind: "text", text: "Hello." },
      });
      expect(error).toBeNull();
      expect(logsOf(ended, "said").map(({ msg }) => msg)).toEqual(["Hello."]);
      const [first, ...others] = requests;
      expect(others).toEqual([]);
      expect(first).toContain("You are the tested agent.");
    });

    test("the real CLI retries a provider that answers 503 maxRetries times, and names it", async () => {
      const { ended, error, requests } = await session(program, refused(503));
      expect(requests).toHaveLength(2);
      expect(requests.filter((body) => body.includes(notes))).toHaveLength(0);
      expect(error).toMatch(/refused with 503/);
      expect(error).not.toContain("/model/");
      // gemini leaves the status out.
      const cooldowns = ended.messages.filter(({ type }) => type === "cooldown");
      expect(cooldowns).toHaveLength(program === "gemini" ? 0 : 1);
    });

    test.runIf(isWhole)("the real CLI retries no more often with a rejected key", async () => {
      const { ended, error, requests } = await session(program, refused(401));
      expect(requests.length).toBeLessThanOrEqual(2);
      expect(error).toMatch(/401/);
      expect(ended.messages).not.toContainEqual(expect.objectContaining({ type: "cooldown" }));
    });

    test.runIf(isWhole)(
      "the real CLI retries a provider that breaks off its answer at most maxRetries times",
      async () => {
        const { error, requests, warnings } = await session(program, "hang up in the middle");
        expect(error).not.toBeNull();
        // gemini does not retry an answer that began.
        expect(requests).toHaveLength(program === "gemini" ? 1 : 2);
        expect(warnings).toContain("the model's provider broke its answer off");
        expect(warnings.join("\n")).not.toContain("scheduler");
      },
    );

    test.runIf(isWhole)(
      "the real CLI waits for a silent provider as long as the model's timeout",
      async () => {
        const { error, requests } = await session(program, "say nothing", { timeoutSeconds: 2 });
        expect(error).not.toBeNull();
        expect(requests.length).toBeLessThanOrEqual(2);
      },
    );
  },
  60_000,
);
