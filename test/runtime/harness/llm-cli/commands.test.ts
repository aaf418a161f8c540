import { mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { socketSide, openSocket } from "../../run-api/support.ts";
import { aJob, aModel } from "../jobs.ts";
import { endMessageOf, runOf } from "../run-entry.ts";
import { standIn } from "./stand-in.ts";
import { claudeStream } from "./streams.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perTest } from "../../../helpers/per-test.ts";

const dir = perTest(tempDir);
const side = perTest(socketSide, (side) => side.remove());

/** A session of a stand-in for claude, which does what the shell code says. */
async function session(then: string) {
  const cli = await standIn(dir(), "claude", { stream: claudeStream, then });
  const channel = await openSocket(side(), "dev-abcdefgh");
  const harness = { type: "llm-cli", command: "claude" } as const;
  const models = [aModel("main", "", { provider: "anthropic", baseUrl: null })];
  const workDir = await mkdtemp(join(dir(), "work-"));
  const run = await runOf(aJob(workDir, { harness, models, channel }), { PATH: cli.path });
  expect(await readdir(workDir)).toEqual([".llm-cli"]);
  return { cli, channel, run };
}

test("an external CLI has the commands in its shell, and a prompt that names them", async () => {
  const { cli, channel, run } = await session(
    `rlock demo:x --wait 1; bash -lc "al-status busy"; al-return '{"n":1}'`,
  );
  expect(run.exitCode).toBe(0);
  expect(side().abilities.asked).toMatchObject([
    { request: { resource: "demo:x", waitSeconds: 1 } },
  ]);
  expect(run.messages).toContainEqual({ type: "status", text: "busy" });
  expect(run.messages).toContainEqual({ type: "return", json: '{"n":1}', more: false });
  expect(await cli.input()).toContain("al-subagent-wait <callId>... [--timeout SECONDS]");
  expect(await cli.env()).toMatchObject({ BASH_DEFAULT_TIMEOUT_MS: "2147483647" });
  const seen = JSON.stringify([await cli.env(), await cli.args(), await cli.input()]);
  expect(seen).not.toContain(channel.token);
});

test("an external CLI ends at once when the agent asks to, with its code", async () => {
  const { run } = await session("al-exit 5; sleep 60");
  expect(run.exitCode).toBe(5);
  expect(endMessageOf(run).error).toBe("the agent ended its run with code 5");
});
