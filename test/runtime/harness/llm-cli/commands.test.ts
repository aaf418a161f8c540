import { readdir } from "node:fs/promises";
import { socketSide, openSocket } from "../../run-api/support.ts";
import { play } from "./play.ts";
import { claudeStream } from "./streams.ts";
import { perTest } from "../../../helpers/per-test.ts";

const side = perTest(socketSide, (side) => side.remove());

test("an external CLI can run the commands for agents, and its prompt names them", async () => {
  const channel = await openSocket(side(), "dev-abcdefgh");
  const then = `rlock demo:x --wait 1; bash -lc "al-status busy"; al-return '{"n":1}'`;
  const { cli, run, workDir } = await play(
    "claude",
    { stream: claudeStream, then },
    {},
    { channel },
  );
  expect(run.exitCode).toBe(0);
  expect(await readdir(workDir)).toEqual([".llm-cli"]);
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
