import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { contentOf } from "../../../src/features/search/log-cursor.ts";
import { fakeProvider, saying } from "./fake-provider.ts";
import { aJob, aModel, aScripted } from "./jobs.ts";
import { endMessageOf, logsOf, runOf, type EndedRun } from "./run-entry.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { perTest } from "../../helpers/per-test.ts";

const workDir = perTest(tempDir);

const hooks = (pre: string[], post: string[] = []) => ({ pre, post });
const says = (run: EndedRun) => logsOf(run, "hook").map(({ msg }) => msg);
const github = {
  type: "github_token",
  instance: "default",
  fields: {},
  env: { GITHUB_TOKEN: "t0ken" },
};

test("a job runs its hooks around the session, in order, with the credentials", async () => {
  const command = { command: "echo session >> order; env" };
  const ended = await runOf(
    aJob(workDir(), {
      models: [aScripted([{ tools: [{ name: "bash", arguments: command }] }, { text: "Done." }])],
      hooks: hooks(
        ["echo one >> order; export FROM_HOOK=1", `echo "two $GITHUB_TOKEN" >> order`],
        ["echo post >> order"],
      ),
      credentials: [github],
    }),
  );
  expect(ended.exitCode).toBe(0);
  const order = await readFile(join(workDir(), "order"), "utf8");
  expect(order).toBe("one\ntwo t0ken\nsession\npost\n");
  const output = String(logsOf(ended, "tool-result")[0]?.fields?.output);
  expect(output).not.toContain("FROM_HOOK");
});

test("a job ends at a failing pre hook; its error begins with the last line of stderr", async () => {
  const failing = "echo out; echo no such repository >&2; exit 4";
  const ended = await runOf(aJob(workDir(), { hooks: hooks([failing, "touch never"]) }));
  expect(ended.exitCode).toBe(1);
  const { error } = endMessageOf(ended);
  expect(error).toBe(`no such repository · pre hook "${failing}" exited with code 4:\nout`);
  expect(logsOf(ended, "said")).toEqual([]);
  expect(await readdir(workDir())).toEqual([]);
});

test("a job fails by a post hook that fails, and keeps the session's usage", async () => {
  const ended = await runOf(aJob(workDir(), { hooks: hooks([], ["exit 2"]) }));
  expect(ended.exitCode).toBe(1);
  expect(endMessageOf(ended)).toMatchObject({
    error: `post hook "exit 2" exited with code 2`,
    usage: { turns: 1 },
  });
});

test("a job runs its post hooks after a failed session too, which learn that", async () => {
  const models = [aScripted([{ status: 400, error: "broken" }])];
  const post = ['echo "$AL_OUTCOME" > outcome', "exit 3", "touch never"];
  const ended = await runOf(aJob(workDir(), { models, hooks: hooks([], post) }));
  expect(endMessageOf(ended).error).toBe(`model "scripted": 400 broken`);
  expect(says(ended)).toContain('post hook "exit 3" exited with code 3');
  expect(await readdir(workDir())).toEqual(["outcome"]);
  expect(await readFile(join(workDir(), "outcome"), "utf8")).toBe("failed\n");
});

test.each([
  ["succeeded", [], null],
  ["failed", ["exit 4"], 'pre hook "exit 4" exited with code 4'],
  ["succeeded", ["al-exit 0; sleep 20"], null],
  ["failed", ["al-exit 7; sleep 20"], "the agent ended its run with code 7"],
])("a job sets AL_OUTCOME to %s for its post hooks", async (outcome, pre, error) => {
  const post = ['echo "outcome $AL_OUTCOME"'];
  const ended = await runOf(aJob(workDir(), { hooks: hooks(pre, post) }));
  expect(says(ended)).toContain(`outcome ${outcome}`);
  expect(endMessageOf(ended).error).toBe(error);
});

test("a job logs the output of a hook, and does not wait for its background processes", async () => {
  const before = performance.now();
  const ended = await runOf(aJob(workDir(), { hooks: hooks(["echo hello; sleep 20 &"]) }));
  expect(performance.now() - before).toBeLessThan(10_000);
  expect(says(ended)).toContain("hello");
  expect(ended.exitCode).toBe(0);
});

test("a job has a webhook's whole body as a file, which hooks find by a variable", async () => {
  const payload = `{"text":"$(touch pwned) é"}`;
  const hook = `test "$AL_PAYLOAD_FILE" = "$PWD/webhook-payload" && cat "$AL_PAYLOAD_FILE"`;
  const ended = await runOf(aJob(workDir(), { payload, hooks: hooks([hook]) }));
  expect(says(ended)).toContain(payload);
  expect(await readdir(workDir())).toEqual(["webhook-payload"]);
});

test("a job keeps a webhook's body out of the environment and the command lines of its hooks", async () => {
  const payload = `{"text":"marker-of-the-body"}`;
  const hook = "env; for p in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $p; echo; done 2>/dev/null";
  const ended = await runOf(aJob(workDir(), { payload, hooks: hooks([hook]) }));
  expect(says(ended).length).toBeGreaterThan(10);
  expect(JSON.stringify(logsOf(ended, "hook"))).not.toContain("marker-of-the-body");
});

test("a job expands the commands in SKILL.md after the pre hooks, with the credentials", async () => {
  const provider = await fakeProvider(saying("Done."));
  onTestFinished(() => provider.close());
  const token = "t0ken-of-this-job";
  const ended = await runOf(
    aJob(workDir(), {
      models: [aModel("m", provider.baseUrl)],
      instructions: "You know: !`cat made; echo $GITHUB_TOKEN`",
      hooks: hooks(["echo by-a-hook > made"]),
      credentials: [{ ...github, fields: { token }, env: { GITHUB_TOKEN: token } }],
    }),
  );
  expect(ended.exitCode).toBe(0);
  const [system] = provider.requests[0]?.body.messages ?? [];
  expect(JSON.stringify(system)).toContain(`You know: by-a-hook\\n${token}`);
  expect(JSON.stringify(ended.messages)).not.toContain("t0ken");
  const [prompt] = logsOf(ended, "prompt");
  expect(prompt?.fields?.output).toContain("You know: by-a-hook\n[redacted]\n");
});

test("a job logs a long prompt whole, in pieces that the search finds completely", async () => {
  const instructions = `${"Read the manual. ".repeat(2_500)}Then begin.`;
  const trigger = { kind: "manual", prompt: "Fix the needle." } as const;
  const entries = logsOf(await runOf(aJob(workDir(), { instructions, trigger })), "prompt");
  const text = entries.map(({ fields }) => String(fields?.output)).join("");
  expect(text).toContain(`System prompt:\n\n${instructions}\n\nUser prompt:\n\n<agent-config>`);
  expect(text).toMatch(/<user-prompt>\nFix the needle\.\n<\/user-prompt>$/);
  for (const { msg, fields } of entries) {
    const found = contentOf(JSON.stringify({ time: 1, level: 30, kind: "prompt", msg, ...fields }));
    expect(found?.text).toBe(`${msg}\n${String(fields?.output)}`);
  }
});

test("a job writes none of its secrets in any output, and fails without them", async () => {
  const secret = "canary-<of>-this-job";
  const credential = { ...github, fields: { token: secret }, env: { GITHUB_TOKEN: secret } };
  const tools = [
    { name: "al_status", arguments: { text: `with ${secret}` } },
    { name: "bash", arguments: { command: "echo $GITHUB_TOKEN" } },
  ];
  const ended = await runOf(
    aJob(workDir(), {
      models: [aScripted([{ text: `I know ${secret}.`, tools }, { text: "Done." }])],
      hooks: hooks(["echo $GITHUB_TOKEN"], [`echo "$GITHUB_TOKEN"; exit 3`]),
      credentials: [credential],
      params: { quoted: secret },
    }),
  );
  expect(JSON.stringify(ended.messages)).not.toMatch(/canary|this-job/);
  const [prompt, ...others] = logsOf(ended, "prompt");
  expect(others).toEqual([]);
  expect(prompt?.msg).toMatch(/^prompt of [\d,]+ characters$/);
  expect(prompt?.fields?.output).toMatch(/^System prompt:\n\n[^]+User prompt:\n\n<agent-config>/);
  expect(prompt?.fields?.output).toContain('"quoted": "[redacted]"');
  expect(endMessageOf(ended).error).toMatch(/^\[redacted\] · post hook/);
  expect(logsOf(ended, "said")[0]?.msg).toBe("I know [redacted].");
  expect(ended.messages).toContainEqual({ type: "status", text: "with [redacted]" });
});

test.each([
  ["behind 480 characters", `printf '%0480d%s\\n' 0 "$GITHUB_TOKEN" >&2; exit 3`],
  ["over several lines", `printf %s "$GITHUB_TOKEN" | base64 -w 8 >&2; exit 3`],
  ["over more lines than it quotes", `echo "$GITHUB_TOKEN" | fold -w 5; echo >&2; exit 3`],
  ["over both outputs", `echo abcdefghij-klmno; sleep 0.2; echo pqrst-uvwxyz12345 >&2; exit 3`],
])("a job quotes no part of a secret %s in the reason of a failed hook", async (_, command) => {
  const token = "abcdefghij-klmnopqrst-uvwxyz12345";
  const credential = { ...github, fields: { token }, env: { GITHUB_TOKEN: token } };
  const job = aJob(workDir(), { hooks: hooks([command]), credentials: [credential] });
  const { error } = endMessageOf(await runOf(job));
  const [head = "", ...lines] = String(error).replace(command, "").split("\n");
  expect(head).toMatch(/^0{0,480}\[redacted\] · pre hook/);
  expect(lines.filter((line) => line !== "")).toEqual([]);
});

test("a job fails without quoting anything when it is not valid", async () => {
  const job = { ...aJob(workDir()), credentials: [{ ...github, env: { KEY: 5 }, type: "s3cret" }] };
  const wrong = await runOf(`${JSON.stringify(job)}\n`);
  expect(wrong.exitCode).toBe(1);
  expect(endMessageOf(wrong).error).toContain("credentials.0.env.KEY (invalid_type)");
  const broken = await runOf(`{"key":"s3cret"\n`);
  expect(endMessageOf(broken).error).toBe("the job on standard input is not JSON");
  expect(JSON.stringify([wrong, broken])).not.toContain("s3cret");
});

test("a job fails when its input ends before a whole job came", async () => {
  const ended = await runOf(`{"instanceId":`, {}, true);
  expect(endMessageOf(ended).error).toBe("standard input ended before a whole job came");
  expect(ended.exitCode).toBe(1);
});
