import { hostGateway } from "../model-host.ts";
import { noEgress } from "../../run-api/no-egress.ts";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Job, Script } from "../../../../src/foundation/contracts/job.ts";
import { RunApiError, type RequestAnswer } from "../../../../src/runtime/run-api/protocol.ts";
import { socketSide, openSocket } from "../../run-api/support.ts";
import { held } from "../../../helpers/fake-abilities.ts";
import { aJob, aScripted, type JobOptions } from "../jobs.ts";
import { endMessageOf, logsOf, runOf, startRun, type EndedRun } from "../run-entry.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perTest } from "../../../helpers/per-test.ts";

const workDir = perTest(tempDir);
const side = perTest(socketSide, (side) => side.remove());
const channel = perTest(() => openSocket(side(), "dev-abcdefgh"));

const bash = (command: string) => ({ name: "bash", arguments: { command } });
const resource = "github:acme/app/issues/7";

type Tools = NonNullable<Script["turns"][number]["tools"]>;

/** A run of the pi harness whose model calls these tools, one after the other. */
function job(tools: Tools, more: JobOptions = {}): Job {
  const models = [aScripted([...tools.map((tool) => ({ tools: [tool] })), { text: "Done." }])];
  return aJob(workDir(), { channel: channel(), models, ...more });
}

const resultsOf = (run: EndedRun) =>
  logsOf(run, "tool-result").map(({ fields }) => JSON.parse(String(fields?.output)) as unknown);

const returned = (run: EndedRun) =>
  run.messages.flatMap((message) => (message.type === "return" ? [message] : []));

test("an agent that runs makes requests by tools and by commands, with the same answers", async () => {
  const tools = [
    { name: "al_lock", arguments: { resource, waitSeconds: 3 } },
    bash(`rlock ${resource} --wait 3`),
  ];
  const run = await runOf(job(tools));
  const [byTool, byCommand] = resultsOf(run);
  expect(byTool).toMatchObject({ ok: true, resource, fencingToken: 1 });
  expect(byCommand).toEqual(byTool);
  const [first, second] = side().abilities.asked;
  expect(first).toMatchObject({ ability: "lock", request: { resource, waitSeconds: 3 } });
  expect(second?.request).toEqual(first?.request);
  expect(second?.key).not.toBe(first?.key);
  expect(run.exitCode).toBe(0);
});

test("an agent that runs is rejected by both in the same words, and continues", async () => {
  const path = ["a-1", "b-2", "a-1"];
  const deadlock = { error: "deadlock" as const, detail: "a waits for b", path };
  side().abilities.answers.lock = () => Promise.reject(new RunApiError(deadlock));
  const tools = [
    { name: "al_lock", arguments: { resource } },
    bash(`rlock ${resource} 2>stderr; echo "code $?" >&2; cat stderr >&2`),
    bash("al-rerun"),
    bash("al-return \"$(head -c 70000 /dev/zero | tr '\\0' x)\" | cut -c1-200"),
    bash("rlock not-a-uri"),
  ];
  const run = await runOf(job(tools));
  const outputs = logsOf(run, "tool-result").map(({ fields }) => String(fields?.output));
  expect(JSON.parse(outputs[0] ?? "")).toEqual({ ok: false, ...deadlock });
  expect(outputs[1]).toContain(JSON.stringify({ ok: false, ...deadlock }));
  expect(outputs[1]).toContain("code 1");
  expect(outputs[1]).toContain("rlock: a waits for b");
  expect(outputs[2]).toContain("only a run that its schedule started");
  expect(outputs[3]).toContain("may have 65536");
  expect(outputs[4]).toContain("a resource is a URI");
  expect(side().abilities.asked).toHaveLength(2);
  expect(run.exitCode).toBe(0);
});

test("an agent that runs can't take the messages of people from its harness", async () => {
  const run = await runOf(
    job([bash(`curl -s --unix-socket .al/run.sock -d '{"after":9}' http://al/inbox`)]),
  );
  expect(resultsOf(run)).toEqual([
    { ok: false, error: "malformed", detail: 'there is no request "inbox"' },
  ]);
});

test.each(["pi", "llm-cli"] as const)(
  "a run reports the end of its session before its post hooks work: %s",
  async (type) => {
    side().abilities.answers["session-end"] = async () => {
      await writeFile(join(workDir(), "reported"), "");
      return { ok: true };
    };
    const hook = "until [ -e reported ]; do sleep 0.1; done";
    const run = await runOf(
      job([], { harness: { type, command: "codex" }, hooks: { pre: [], post: [hook] } }),
    );
    // A command line plays no script.
    expect(run.exitCode).toBe(type === "pi" ? 0 : 1);
    expect(logsOf(run, "hook").at(-1)?.msg).toBe("post hook done");
  },
);

test("an agent that runs hands work over with its context on standard input, and waits for the result", async () => {
  const callId = "7d444840-9dc0-41d1-b245-5ffdce74fad2";
  const call = { callId, agent: "b", state: "ended", outcome: "succeeded", exitCode: 0 } as const;
  side().abilities.answers["call-wait"] = () => ({
    ok: true,
    timedOut: false,
    calls: [{ ...call, value: { done: 7 }, reason: null }],
  });
  const command = `id=$(echo 'please look' | al-subagent b --cancel-on-exit | sed 's/.*"callId":"\\([^"]*\\)".*/\\1/'); al-subagent-wait "$id" --timeout 9`;
  const run = await runOf(job([bash(command)]));
  expect(resultsOf(run)).toMatchObject([{ ok: true, calls: [{ value: { done: 7 } }] }]);
  const [called, waited] = side().abilities.asked;
  expect(called?.request).toEqual({ agent: "b", context: "please look\n", cancelOnExit: true });
  expect(waited?.request).toEqual({ callIds: [called?.key], timeoutSeconds: 9 });
});

test("an agent that runs keeps waiting when the scheduler restarts, by tool and by command", async () => {
  const { promise, resolve } = held<RequestAnswer<"wait">>();
  side().abilities.answers.wait = () => promise;
  const where = `--where issue.number=7 --where 'action=opened' --where labels.0.id='"7"'`;
  const tools = [
    { name: "wait_for_trigger", arguments: { kind: "agent-call", source: "b" } },
    bash(`wait_for_trigger --kind webhook --event issues ${where}`),
  ];
  const run = startRun(job([], { models: [aScripted([{ tools }, { text: "Done." }])] }));
  const { asked } = side().abilities;
  const restart = async () => {
    await side().sockets.close();
    side().sockets = side().successor();
    side().sockets.serve({ runApi: side().abilities, models: hostGateway, egress: noEgress });
    await side().sockets.restore(new Set(["dev-abcdefgh"]));
  };
  await expect.poll(() => asked.length, { timeout: 20_000 }).toBe(2);
  await restart();
  await expect.poll(() => asked.length, { timeout: 20_000 }).toBe(4);
  const trigger = { kind: "agent-call", caller: "b", context: "go on" };
  resolve({ ok: true, timedOut: false, trigger });
  const ended = await run.ended;
  const answer = { ok: true, timedOut: false, trigger };
  expect(resultsOf(ended)).toEqual([answer, answer]);
  expect(new Set(asked.map(({ key }) => key)).size).toBe(2);
  expect(asked.map(({ request }) => request)).toContainEqual({
    kind: "webhook",
    event: "issues",
    where: { "issue.number": 7, action: "opened", "labels.0.id": "7" },
  });
});

test("an agent that runs finds the whole body of an awaited delivery in a file", async () => {
  const payload = { issue: { body: "long ".repeat(10_000) } };
  const event = { kind: "webhook", event: "issues", body: payload.issue.body };
  side().abilities.answers.wait = () => ({
    ok: true,
    timedOut: false,
    trigger: { ...event, payload },
  });
  const wait = { name: "wait_for_trigger", arguments: { kind: "webhook" } };
  const run = await runOf(
    job([wait, bash("cat webhook-payload-* | wc -c; wait_for_trigger --kind webhook | wc -c")]),
  );
  const [answer, sizes = ""] = logsOf(run, "tool-result").map(({ fields }) =>
    String(fields?.output),
  );
  expect(answer).toContain(`"payloadFile":"${join(workDir(), "webhook-payload-")}`);
  const [whole, told] = sizes.split("\n").map(Number);
  expect(whole).toBe(JSON.stringify(payload, null, 2).length);
  expect(told).toBeLessThan(17_000);
});

test("an agent that runs sends its status, its value and its rerun to the scheduler in its output", async () => {
  const long = 'é\\"\u0001'.repeat(4_000);
  const tools = [
    bash("al-status reading  the mail"),
    { name: "al_return", arguments: { value: "first" } },
    bash(`al-return '{"n": 7}'`),
    { name: "al_rerun", arguments: {} },
    { name: "al_return", arguments: { value: { long } } },
  ];
  const run = await runOf(job(tools, { trigger: { kind: "cron", scheduledFor: 0 } }));
  expect(run.messages).toContainEqual({ type: "status", text: "reading the mail" });
  expect(run.messages).toContainEqual({ type: "rerun" });
  const texts = returned(run);
  expect(texts.slice(0, 2).map(({ json }) => json)).toEqual([`"first"`, `{"n":7}`]);
  const pieces = texts.slice(2);
  expect(pieces.map(({ more }) => more)).toEqual([...pieces.slice(1).map(() => true), false]);
  const whole = JSON.parse(pieces.map(({ json }) => json).join("")) as { long: string };
  // Control characters do not leave a run.
  expect(whole.long === long.replaceAll("\u0001", "")).toBe(true);
  for (const piece of pieces) {
    expect(Buffer.byteLength(JSON.stringify(piece))).toBeLessThan(30 * 1024);
  }
  expect(resultsOf(run)).toEqual(tools.map(() => ({ ok: true })));
  expect(side().abilities.asked).toEqual([]);
});

test("an agent that runs shows its token to no command, returns no secret, and leaves nothing", async () => {
  const look = `env; cat /proc/self/environ | tr '\\0' '\\n'; cat .al/bin/*; ls -la .al`;
  const credentials = [
    {
      type: "t",
      instance: "default",
      fields: { token: "t0ken-secret" },
      env: { T: "t0ken-secret" },
    },
  ];
  const value = { a: ["with t0ken-secret"], b: channel().token };
  const tools = [
    bash(`${look}; grep -rl "$(cat ${channel().dir}/../token)" . || echo clean`),
    { name: "al_return", arguments: { value } },
  ];
  await writeFile(join(side().base, "token"), channel().token);
  const run = await runOf(job(tools, { credentials }));
  const [output = ""] = logsOf(run, "tool-result").map(({ fields }) => String(fields?.output));
  expect(output).toContain(`AL_RUN_SOCKET=${join(workDir(), ".al/run.sock")}`);
  expect(output).toContain("srw-------");
  expect(output).toContain("clean");
  expect(returned(run)).toHaveLength(1);
  expect(JSON.stringify(run).includes("t0ken-secret")).toBe(false);
  expect(JSON.stringify(run).includes(channel().token)).toBe(false);
  expect(await readdir(workDir())).toEqual([]);
});

const hooks = { pre: [], post: ['echo "post $AL_OUTCOME" >> order'] };
const order = () => readFile(join(workDir(), "order"), "utf8").catch(() => "");

test.each([
  ["by the tool", { name: "al_exit", arguments: {} }],
  ["by the command", bash("al-exit; sleep 30")],
])(
  "an agent that runs ends at once when it asks to, %s, and counts as succeeded",
  async (_how, tool) => {
    const models = [aScripted([{ tools: [tool] }, { delayMs: 20_000, text: "never" }])];
    const run = await runOf(job([], { models, hooks }));
    expect(run.exitCode).toBe(0);
    expect(endMessageOf(run)).toMatchObject({ error: null, usage: { model: "scripted" } });
    expect(JSON.stringify(run.messages)).not.toContain("never");
    expect(await order()).toBe("post succeeded\n");
  },
);

test("an agent that runs fails with the code that it asks for, which its post hooks get", async () => {
  const run = await runOf(job([bash("al-exit 7; sleep 30")], { hooks }));
  expect(run.exitCode).toBe(7);
  expect(endMessageOf(run).error).toBe("the agent ended its run with code 7");
  expect(await order()).toBe("post failed\n");
});

test("an agent that runs has its commands in hooks too, where al-exit skips the session", async () => {
  const pre = ["al-status nothing to do; al-exit 0; sleep 30", "echo never >> order"];
  const run = await runOf(job([bash("echo session >> order")], { hooks: { ...hooks, pre } }));
  expect(run.messages).toContainEqual({ type: "status", text: "nothing to do" });
  expect(run.exitCode).toBe(0);
  expect(await order()).toBe("post succeeded\n");
});
