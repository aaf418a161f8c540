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
import { isLong } from "../../../helpers/long.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const bin = await realPrograms();
/** claude refuses to work for root. */
const nobody = 65534;
const models = {
  claude: { provider: "anthropic", model: "claude-sonnet-4-5" },
  codex: { provider: "openai", model: "gpt-5.5" },
  gemini: { provider: "google", model: "gemini-2.5-pro" },
} as const;
const done: Action = { reply: { kind: "text", text: "Done." } };
/** Text of files that are no instructions of the agent. */
const notes = "canary-of-notes-5d1c";
const programs: readonly Program[] = ["claude", "codex", "gemini"];

function refused(status: number, message = `refused with ${status}`): Action {
  const error = { code: status, type: "some_error", message };
  const body = JSON.stringify({ type: "error", error });
  return { status, body, headers: { "content-type": "application/json" } };
}

const streamed = (json: string): Action => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  body: json === "" ? "" : `data: ${json}\n\n`,
});
const ofGemini = (part: object, finishReason?: string): Action =>
  streamed(
    JSON.stringify({ candidates: [{ content: { role: "model", parts: [part] }, finishReason }] }),
  );

function claudeCalls(command: string): Action {
  const body = messages.stream({ kind: "tool", command }).replaceAll('"bash"', '"Bash"');
  return { status: 200, body, headers: { "content-type": "text/event-stream" } };
}

const overload = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
/** An answer of Anthropic that has an error inside; other providers' clients take it for one that breaks off. */
const overloaded: Action = {
  status: 200,
  headers: { "content-type": "text/event-stream" },
  body: `event: error\ndata: ${JSON.stringify(overload)}\n\n`,
};

/** A session of the real program with one retry, through the real gateway and bridge; `sent` comes after its first request. */
async function session(
  program: Program,
  actions: readonly Action[],
  model: Partial<HostedModel> = {},
  sent: string | null = null,
) {
  const upstream = await startFakeUpstream();
  onTestFinished(() => upstream.close());
  const { baseUrl: versioned, requests } = upstream.route(actions);
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
    await expect.poll(() => requests).toHaveLength(1);
    sendTo(job.channel?.token ?? "", sent);
  }
  const ended = await run.ended;
  return { ended, requests, error: endMessageOf(ended).error };
}

describe.skipIf(bin === null)("the real external CLIs", () => {
  test("claude gives the model once a message that arrives while it works", async () => {
    const sent = "Leave the logs alone.";
    const { requests, error, ended } = await session(
      "claude",
      [claudeCalls("sleep 3"), done],
      {},
      sent,
    );
    expect(error).toBeNull();
    expect(requests.map((body) => body.split(sent).length - 1)).toEqual([0, 1]);
    expect(logsOf(ended, "steer").map(({ msg }) => msg)).toEqual([sent]);
    expect(endMessageOf(ended).usage).toMatchObject({ turns: 2 });
  });

  test("claude is not ended before the turn that follows its command in the background", async () => {
    const input = { command: "sleep 3", description: "Waits.", run_in_background: true };
    const calls = [{ id: "toolu_1", name: "Bash", json: JSON.stringify(input) }];
    const actions = ["Waiting.", "Final."].map((text): Action => ({
      reply: { kind: "text", text },
    }));
    const call: Action = { reply: { kind: "calls", calls } };
    const { error, ended } = await session("claude", [call, ...actions]);
    expect(error).toBeNull();
    expect(logsOf(ended, "said").map(({ msg }) => msg)).toEqual(["Waiting.", "Final."]);
    expect(endMessageOf(ended).usage).toMatchObject({ turns: 3, tokens: 36 });
  });

  test("codex offers its model the requests of the run as tools of an MCP server", async () => {
    const { requests, error } = await session("codex", [done]);
    expect(error).toBeNull();
    expect(requests[0]).toContain("mcp__almanac");
  });

  test("claude fails at once if its login has expired in its second turn", async () => {
    const expired = refused(401, "OAuth token has expired");
    const { error, requests } = await session("claude", [claudeCalls("true"), expired]);
    expect(error).toBe('model "main": 401 OAuth token has expired');
    expect(requests).toHaveLength(2);
  });

  test.runIf(isLong).each<[what: string, answer: Action, reason: RegExp]>([
    ["an empty answer", streamed(""), /without a finish reason/],
    ["an answer without an end", ofGemini({ text: "Half" }), /without a finish reason/],
    ["an answer without candidates", streamed('{"candidates":[]}'), /without a finish reason/],
    ["an answer of thoughts", ofGemini({ text: "Hm.", thought: true }, "STOP"), /no final/],
    ["a wrong key", refused(400, "API key not valid"), /400 API key not valid/],
  ])("gemini fails after %s", async (_what, answer, reason) => {
    expect((await session("gemini", [answer])).error).toMatch(reason);
  });

  describe.each(programs)("%s", (program) => {
    test("retries maxRetries times if the provider answers 503, and names the provider", async () => {
      const { ended, error, requests } = await session(program, [refused(503)]);
      expect(requests).toHaveLength(2);
      expect(requests.filter((body) => body.includes(notes))).toHaveLength(0);
      expect(error).toMatch(/refused with 503/);
      expect(error).not.toContain("/model/");
      expect(ended.messages.filter(({ type }) => type === "cooldown")).toHaveLength(1);
    });

    test.each<[string, Action]>([
      ["breaks off", "hang up in the middle"],
      ["has an error", overloaded],
    ])("continues its session after an answer that %s", async (_what, action) => {
      const { error, requests } = await session(program, [action, done]);
      expect(error).toBeNull();
      expect(requests).toHaveLength(2);
    });

    test.runIf(isLong).each<[string, Action, RegExp]>([
      ["a rejected key", refused(401), /401/],
      ["an answer that breaks off", "hang up in the middle", /./],
      ["silence for the model's timeout", "say nothing", /./],
    ])("fails after at most one retry of %s", async (_what, action, reason) => {
      const { error, requests } = await session(program, [action], { timeoutSeconds: 2 });
      expect(error).toMatch(reason);
      expect(requests.length).toBeLessThanOrEqual(2);
    });
  });
});
