import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Job, Script } from "../../../../src/foundation/contracts/job.ts";
import { refusal } from "../../../../src/runtime/wire/protocol.ts";
import { socketSide, openSocket } from "../../run-api/support.ts";
import { aJob, aScripted, type JobOptions } from "../jobs.ts";
import { endMessageOf, logsOf, runOf, type EndedRun } from "../run-entry.ts";
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

const outputsOf = (run: EndedRun) =>
  logsOf(run, "tool-result").map(({ fields }) => String(fields?.output));
const resultsOf = (run: EndedRun) => outputsOf(run).map((text) => JSON.parse(text) as unknown);

const returned = (run: EndedRun) =>
  run.messages.flatMap((message) => (message.type === "return" ? [message] : []));

describe("a running agent", () => {
  test("gets the same responses by tools and by commands", async () => {
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

  test("gets the same rejection by tools and by commands, and continues", async () => {
    const path = ["a-1", "b-2", "a-1"];
    const detail = "a waits for b";
    const deadlock = { error: "deadlock", detail, path };
    side().abilities.answers.lock = () => Promise.reject(refusal("deadlock", detail, { path }));
    const tools = [
      { name: "al_lock", arguments: { resource } },
      bash(`rlock ${resource} 2>stderr; echo "code $?" >&2; cat stderr >&2`),
      bash("al-rerun"),
      bash("al-return \"$(head -c 70000 /dev/zero | tr '\\0' x)\" | cut -c1-200"),
    ];
    const run = await runOf(job(tools));
    const [byTool = "", byCommand, rerun, value] = outputsOf(run);
    expect(JSON.parse(byTool)).toEqual({ ok: false, ...deadlock });
    expect(byCommand).toContain(JSON.stringify({ ok: false, ...deadlock }));
    expect(byCommand).toMatch(/code 1\nrlock: a waits for b/);
    expect(rerun).toContain("only a scheduled run can request a rerun");
    expect(value).toContain("at most 65536");
    expect(run.exitCode).toBe(0);
  });

  test("can't request people's messages; only the harness can", async () => {
    const take = `curl -s --unix-socket .al/run.sock -d '{"after":9}' http://al/inbox`;
    expect(resultsOf(await runOf(job([bash(take)])))).toEqual([
      { ok: false, error: "malformed", detail: 'there is no request "inbox"' },
    ]);
  });

  test("reports the end of its session before its post hooks run", async () => {
    side().abilities.answers["session-end"] = async () => {
      await writeFile(join(workDir(), "reported"), "");
      return { ok: true };
    };
    const post = ["until [ -e reported ]; do sleep 0.1; done"];
    const run = await runOf(job([], { hooks: { pre: [], post } }));
    expect(run.exitCode).toBe(0);
    expect(logsOf(run, "hook").at(-1)?.msg).toBe("post hook done");
  });

  test("finds the whole body of an awaited delivery in a file", async () => {
    const payload = { issue: { body: "long ".repeat(10_000) } };
    const trigger = { kind: "webhook", event: "issues", body: payload.issue.body, payload };
    side().abilities.answers.wait = () => ({ ok: true, timedOut: false, trigger });
    const wait = { name: "wait_for_trigger", arguments: { kind: "webhook" } };
    const measure = "cat webhook-payload-* | wc -c; wait_for_trigger --kind webhook | wc -c";
    const [answer, sizes = ""] = outputsOf(await runOf(job([wait, bash(measure)])));
    expect(answer).toContain(`"payloadFile":"${join(workDir(), "webhook-payload-")}`);
    const [whole, shown] = sizes.split("\n").map(Number);
    expect(whole).toBe(JSON.stringify(payload, null, 2).length);
    expect(shown).toBeLessThan(17_000);
  });

  test("sends its status, its value and its request for a rerun to the scheduler as output", async () => {
    const long = 'é\\"\u0001'.repeat(4_000);
    const tools = [
      bash("al-status reading  the mail"),
      bash(`al-return '{"n": 7}'`),
      { name: "al_rerun", arguments: {} },
      { name: "al_return", arguments: { value: { long } } },
    ];
    const run = await runOf(job(tools, { trigger: { kind: "cron", scheduledFor: 0 } }));
    expect(run.messages).toContainEqual({ type: "status", text: "reading the mail" });
    expect(run.messages).toContainEqual({ type: "rerun" });
    const [first, ...pieces] = returned(run);
    expect(first?.json).toBe(`{"n":7}`);
    expect(pieces.map(({ more }) => more)).toEqual([...pieces.slice(1).map(() => true), false]);
    const whole = JSON.parse(pieces.map(({ json }) => json).join("")) as { long: string };
    // Control characters do not leave a run.
    expect(whole.long === long.replaceAll("\u0001", "")).toBe(true);
    const bytes = pieces.map((piece) => Buffer.byteLength(JSON.stringify(piece)));
    expect(Math.max(...bytes)).toBeLessThan(30 * 1024);
    expect(resultsOf(run)).toEqual(tools.map(() => ({ ok: true })));
    expect(side().abilities.asked).toEqual([]);
  });

  test("hides its token from commands, returns no secret, and leaves no files", async () => {
    const look = `env; cat /proc/self/environ | tr '\\0' '\\n'; cat .al/bin/*; ls -la .al`;
    const secret = "t0ken-secret";
    const credentials = [
      { type: "t", instance: "default", fields: { token: secret }, env: { T: secret } },
    ];
    const { token, dir } = channel();
    const value = { a: [`with ${secret}`], b: token };
    const tools = [
      bash(`${look}; grep -rl "$(cat ${dir}/../token)" . || echo clean`),
      { name: "al_return", arguments: { value } },
    ];
    await writeFile(join(side().base, "token"), token);
    const run = await runOf(job(tools, { credentials }));
    const [output] = outputsOf(run);
    expect(output).toContain(`AL_RUN_SOCKET=${join(workDir(), ".al/run.sock")}`);
    expect(output).toContain("srw-------");
    expect(output).toContain("clean");
    expect(returned(run)).toHaveLength(1);
    expect(JSON.stringify(run).includes(secret)).toBe(false);
    expect(JSON.stringify(run).includes(token)).toBe(false);
    expect(await readdir(workDir())).toEqual([]);
  });

  test.each([
    ["by the tool", [], { name: "al_exit", arguments: {} }, 0, null],
    ["by the command", [], bash("al-exit; sleep 600"), 0, null],
    ["with a code", [], bash("al-exit 7; sleep 600"), 7, "the agent ended its run with code 7"],
    ["in a pre hook", ["al-exit 0; sleep 600", "touch never"], bash("touch never"), 0, null],
  ])(
    "ends at once when it asks to, %s, and its post hooks get the outcome",
    async (_how, pre, tool, exitCode, error) => {
      const models = [aScripted([{ tools: [tool] }, { delayMs: 600_000, text: "Never." }])];
      const hooks = { pre, post: ['echo "post $AL_OUTCOME" > outcome'] };
      const run = await runOf(job([], { models, hooks }));
      expect(run.exitCode).toBe(exitCode);
      expect(endMessageOf(run).error).toBe(error);
      expect(await readdir(workDir())).toEqual(["outcome"]);
      const outcome = await readFile(join(workDir(), "outcome"), "utf8");
      expect(outcome).toBe(`post ${exitCode === 0 ? "succeeded" : "failed"}\n`);
    },
  );
});
