import { chown } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messages } from "../pi/wires/messages.ts";
import { aJob, aModel } from "../jobs.ts";
import { endMessageOf, logsOf, startRun } from "../run-entry.ts";
import type { Action } from "../pi/answer-table.ts";
import { startFakeUpstream } from "../pi/fake-upstream.ts";
import { realPrograms } from "./real-programs.ts";
import { isLong } from "../../../helpers/long.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const bin = await realPrograms();
/** claude refuses to work for root. */
const nobody = 65534;
const models = {
  claude: { provider: "anthropic", model: "claude-sonnet-4-5" },
  gemini: { provider: "google", model: "gemini-2.5-pro" },
} as const;

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

/** A session of the real program with one retry, through the real gateway and bridge. */
async function session(program: keyof typeof models, actions: readonly Action[]) {
  const upstream = await startFakeUpstream();
  onTestFinished(() => upstream.close());
  const { baseUrl: versioned, requests } = upstream.route(actions);
  const baseUrl = versioned.replace("/v1", "");
  const workDir = tempDir();
  const uid = process.getuid?.() === 0 ? nobody : null;
  if (uid !== null) await chown(workDir, uid, uid);
  const all = { ...models[program], maxRetries: 1 };
  const job = aJob(workDir, {
    harness: { type: "llm-cli", command: join(bin ?? "", program) },
    models: [aModel("main", baseUrl, all)],
    instructions: "You are the tested agent.",
    trigger: { kind: "manual", prompt: "Look around." },
  });
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
  const ended = await startRun(job, env, uid).ended;
  return { ended, requests, error: endMessageOf(ended).error };
}

describe.skipIf(bin === null)("a real command line", () => {
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
});
