import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runInCli } from "../../../../src/runtime/harness/llm-cli/run-llm-cli.ts";
import type { People } from "../../../../src/runtime/harness/run-api/people.ts";
import { noPeople, runSession } from "../pi/run-session.ts";
import { prepared, type Program } from "./play.ts";
import type { Behaviour } from "./stand-in.ts";
import { claudeStream, codexStream, geminiStream } from "./streams.ts";

const never = "sleep 600";
const [init] = claudeStream;
const result = claudeStream.at(-1);

/** A session of a stand-in. Of the limits for its exit, this one is over as soon as it begins. */
async function session(program: Program, behaviour: Behaviour, over = 1, people?: People) {
  const limits: number[] = [];
  const { cli, job, workDir } = await prepared(program, behaviour, { maxRetries: 0 });
  const after = (ms: number, end: () => void) => {
    if (limits.push(ms) === over) end();
    return () => undefined;
  };
  const end = await runSession({
    workDir,
    job,
    time: { after },
    ...(people && { people }),
    harness: (time) => (given) => runInCli({ ...given, commandEnv: { PATH: cli.path } }, time),
  });
  return { end, limits, workDir };
}

test.each([
  ["claude", claudeStream],
  ["codex", codexStream],
  ["gemini", geminiStream],
] as const)(
  "%s is ended 30 s after its result if it does not exit, with a warning, and the result counts",
  async (program, stream) => {
    const { end, limits } = await session(program, { stream, then: never });
    expect(end.error).toBeNull();
    expect(end.usage.tokens).toBeGreaterThan(200);
    expect(limits).toEqual([30_000]);
    expect(end.log).toContain(`${program} did not exit within 30 s of its result, and is ended`);
  },
);

const final = { type: "assistant", message: { content: [{ type: "text", text: "Final." }] } };
const task = (subtype: string) => ({ type: "system", subtype, task_id: "b1" });

test("claude is ended 11 minutes after its result if it still reports work in the background", async () => {
  const stream = [init, task("task_started"), result];
  const { end, limits } = await session("claude", { stream, then: never });
  expect(end.error).toBeNull();
  expect(limits).toEqual([660_000]);
  expect(end.log).toContain("claude did not exit within 660 s of its result, and is ended");
});

test.each([
  ["a task", [init, task("task_started"), result, task("task_notification"), init], 3],
  ["a message", [init, result, init], 2],
] as const)(
  "claude is not ended after its result while it works in another turn, after %s",
  async (_reason, begin, over) => {
    const stream = [...begin, final, result];
    const { end, limits } = await session("claude", { stream, then: never }, over);
    expect(end).toMatchObject({ error: null, usage: { turns: 4, tokens: 510 } });
    expect(end.log).toContain("Final.");
    expect(limits).toHaveLength(over);
  },
);

test("claude gets a person's message before its input is closed", async () => {
  const late = [{ seq: 1, kind: "steer", text: "One more.", by: "the dashboard" }] as const;
  const left = [...late];
  const people: People = {
    ...noPeople,
    last: (onMessage) => {
      const message = left.shift();
      if (message !== undefined) onMessage(message);
      return Promise.resolve(message !== undefined);
    },
  };
  const then = `head -n 1 > late; echo '${JSON.stringify(result)}'; cat > rest`;
  const stream = [init, result];
  const { end, workDir } = await session("claude", { stream, then }, 0, people);
  expect(end).toMatchObject({ error: null, usage: { turns: 4 } });
  expect(await readFile(join(workDir, "late"), "utf8")).toContain("One more.");
});
