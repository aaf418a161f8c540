import { Readable } from "node:stream";
import { z } from "zod";
import { agentCommands, runRequests } from "../../../../src/runtime/wire/requests/table.ts";
import type { RunRequestName } from "../../../../src/runtime/wire/requests/table.ts";
import {
  agentCommand,
  commandBody,
} from "../../../../src/runtime/harness/commands/agent-command.ts";

/** Calls a command as its script does, outside of a run unless `env` says otherwise. */
async function run(args: readonly string[], env: Record<string, string> = {}) {
  const said = { stdout: "", stderr: "" };
  const stdin = Readable.from(["from stdin"]) as unknown as NodeJS.ReadStream;
  const code = await agentCommand(args, {
    env,
    stdin,
    out: (text) => (said.stdout += text),
    err: (text) => (said.stderr += text),
  });
  return { code, ...said };
}

const callId = "7d444840-9dc0-41d1-b245-5ffdce74fad2";

function commandOf(name: string) {
  const command = agentCommands.find((one) => one.name === name);
  if (command === undefined) throw new Error(`there is no ${name}`);
  return command;
}
const bodyOf = (name: string, ...args: string[]) =>
  commandBody(commandOf(name), args, () => Promise.resolve("from stdin"));

describe("a command for agents, such as rlock,", () => {
  test.each<[string, string[], RegExp]>([
    ["has an unknown name", ["no-such"], /no such command/],
    ["lacks an argument", ["rlock"], /the resource is missing; usage: rlock/],
    ["has one argument too many", ["runlock", "a:b", "c"], /"c" is one argument too many/],
    ["has an unknown option", ["rlock", "a:b", "--force"], /--force/],
    ["has an invalid time", ["rlock", "a:b", "--wait", "soon"], /--wait soon is not a number/],
    ["has an invalid exit code", ["al-exit", "300"], /not an exit code/],
    ["lacks the kind of trigger to wait for", ["wait_for_trigger"], /--kind webhook/],
    [
      "has an invalid condition",
      ["wait_for_trigger", "--kind", "webhook", "--where", "x"],
      /not path=value/,
    ],
  ])("that %s exits with 2, and reports it as JSON and text", async (_what, args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: "usage" });
    expect(stderr).toMatch(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test.each([
    ["fails outside of a run", {}, "no_run"],
    ["fails when the run's socket is gone", { AL_RUN_SOCKET: "/no/such.sock" }, "unavailable"],
  ])("%s", async (_what, env: Record<string, string>, error) => {
    const { code, stdout } = await run(["al-rerun"], env);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error });
  });

  test("prints a usage that begins with the command's name", async () => {
    const { code, stdout, stderr } = await run(["rlock", "--help"]);
    expect([code, stderr]).toEqual([0, `usage: ${commandOf("rlock").usage}\n`]);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true });
    for (const { name, usage } of agentCommands) expect(usage).toMatch(new RegExp(`^${name}\\b`));
  });

  test.each<[string, string[], object]>([
    [
      "the argument of al-return as JSON if it is valid JSON",
      ["al-return", '{"a":[1]}'],
      { value: { a: [1] } },
    ],
    ["any other argument of al-return as text", ["al-return", "just text"], { value: "just text" }],
    ["the value of al-return from standard input", ["al-return"], { value: "from stdin" }],
    [
      "several words of al-status as one text",
      ["al-status", "two", "words"],
      { text: "two words" },
    ],
  ])("reads %s", async (_what, [name = "", ...args], body) => {
    expect(await bodyOf(name, ...args)).toEqual(body);
  });

  test.each<[string, string[], RunRequestName]>([
    ["rlock", ["x:y", "--ttl", "60", "--wait", "0.5"], "lock"],
    ["runlock", ["x:y"], "unlock"],
    ["rlock-heartbeat", ["x:y", "--ttl=5"], "lock-heartbeat"],
    ["al-subagent", ["b", "--cancel-on-exit"], "call"],
    ["al-subagent-check", [callId, callId], "call-check"],
    ["al-subagent-wait", [callId, "--timeout", "0"], "call-wait"],
    ["wait_for_trigger", ["--kind", "webhook", "--where", "a.0.b=true"], "wait"],
  ])("sends a request that the scheduler accepts: %s %j", async (name, args, asked) => {
    expect(commandOf(name).request).toBe(asked);
    const request: unknown = JSON.parse(JSON.stringify(await bodyOf(name, ...args)));
    expect(runRequests[asked].request(z).safeParse(request)).toMatchObject({ success: true });
  });
});
