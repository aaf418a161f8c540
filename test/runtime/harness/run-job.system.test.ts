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
const linesOf = (run: EndedRun, kind: "hook" | "said") => logsOf(run, kind).map(({ msg }) => msg);
const fileOf = (name: string) => readFile(join(workDir(), name), "utf8");
const github = (token: string) => ({
  type: "github_token",
  instance: "default",
  fields: { token },
  env: { GITHUB_TOKEN: token },
});

test("a run's job runs its hooks before and after the session, in order, with the credentials", async () => {
  const tools = [{ name: "bash", arguments: { command: "echo session >> order; env" } }];
  const ended = await runOf(
    aJob(workDir(), {
      models: [aScripted([{ tools }, { text: "Done." }])],
      hooks: hooks(
        ["echo one >> order; export FROM_HOOK=1", `echo "two $GITHUB_TOKEN" >> order`],
        ["echo post >> order"],
      ),
      credentials: [github("t0ken")],
    }),
  );
  expect(ended.exitCode).toBe(0);
  expect(await fileOf("order")).toBe("one\ntwo t0ken\nsession\npost\n");
  expect(String(logsOf(ended, "tool-result")[0]?.fields?.output)).not.toContain("FROM_HOOK");
});

const outcome = 'echo "$AL_OUTCOME" > outcome';

test("a run's job ends at a failing pre hook; its error begins with the last line of stderr", async () => {
  const failing = "echo out; echo no such repository >&2; exit 4";
  const ended = await runOf(aJob(workDir(), { hooks: hooks([failing, "touch never"], [outcome]) }));
  expect(ended.exitCode).toBe(1);
  expect(endMessageOf(ended).error).toBe("no such repository (pre hook, exit 4)");
  const hookLines = [`pre hook: ${failing}`, "out", "pre hook exited with code 4"];
  expect(linesOf(ended, "hook")).toEqual(expect.arrayContaining(hookLines));
  expect(linesOf(ended, "said")).toEqual([]);
  expect(await readdir(workDir())).toEqual(["outcome"]);
  expect(await fileOf("outcome")).toBe("failed\n");
});

test("a run's job fails if a post hook fails, and keeps the session's usage", async () => {
  const ended = await runOf(aJob(workDir(), { hooks: hooks([], [outcome, "exit 2"]) }));
  expect(ended.exitCode).toBe(1);
  const error = "post hook exited with code 2";
  expect(endMessageOf(ended)).toMatchObject({ error, usage: { turns: 1 } });
  expect(await fileOf("outcome")).toBe("succeeded\n");
});

test("a run's job runs its post hooks also after a failed session, until one fails", async () => {
  const models = [aScripted([{ status: 400, error: "broken" }])];
  const post = [outcome, "exit 3", "touch never"];
  const ended = await runOf(aJob(workDir(), { models, hooks: hooks([], post) }));
  expect(endMessageOf(ended).error).toBe(`model "scripted": 400 broken`);
  expect(linesOf(ended, "hook")).toContain("post hook exited with code 3");
  expect(await readdir(workDir())).toEqual(["outcome"]);
  expect(await fileOf("outcome")).toBe("failed\n");
});

test("a run's job stores a webhook's whole body in a file, not in variables or arguments of its hooks", async () => {
  const payload = `{"text":"$(touch pwned) é"}`;
  const look = "env; for p in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $p; echo; done 2>/dev/null";
  const show = `test "$AL_PAYLOAD_FILE" = "$PWD/webhook-payload" && cat "$AL_PAYLOAD_FILE"`;
  const ended = await runOf(aJob(workDir(), { payload, hooks: hooks([look, show]) }));
  const lines = linesOf(ended, "hook");
  expect(lines.filter((line) => line.includes("pwned"))).toEqual([payload]);
  expect(lines).toContain(`AL_PAYLOAD_FILE=${join(workDir(), "webhook-payload")}`);
  expect(await readdir(workDir())).toEqual(["webhook-payload"]);
});

test("a run's job expands the commands in SKILL.md after the pre hooks, with the credentials", async () => {
  const provider = await fakeProvider(saying("Done."));
  onTestFinished(() => provider.close());
  const token = "t0ken-of-this-job";
  const ended = await runOf(
    aJob(workDir(), {
      models: [aModel("m", provider.baseUrl)],
      instructions: "You know: !`cat made; echo $GITHUB_TOKEN`",
      hooks: hooks(["echo by-a-hook > made"]),
      credentials: [github(token)],
    }),
  );
  expect(ended.exitCode).toBe(0);
  const [system] = provider.requests[0]?.body.messages ?? [];
  expect(JSON.stringify(system)).toContain(`You know: by-a-hook\\n${token}`);
  expect(JSON.stringify(ended.messages)).not.toContain("t0ken");
  const [prompt] = logsOf(ended, "prompt");
  expect(prompt?.fields?.output).toContain("You know: by-a-hook\n[redacted]\n");
});

test("a run's job logs a long prompt in pieces that a search finds completely", async () => {
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

test("a run's job writes no secrets in its output, also if it fails", async () => {
  const secret = "canary-<of>-this-job";
  const tools = [
    { name: "al_status", arguments: { text: `with ${secret}` } },
    { name: "bash", arguments: { command: "echo $GITHUB_TOKEN" } },
  ];
  const ended = await runOf(
    aJob(workDir(), {
      models: [aScripted([{ text: `I know ${secret}.`, tools }, { text: "Done." }])],
      hooks: hooks(["echo $GITHUB_TOKEN"], [`echo "$GITHUB_TOKEN"; exit 3`]),
      credentials: [github(secret)],
      params: { quoted: secret },
    }),
  );
  expect(JSON.stringify(ended.messages)).not.toMatch(/canary|this-job/);
  const [prompt, ...others] = logsOf(ended, "prompt");
  expect(others).toEqual([]);
  expect(prompt?.msg).toMatch(/^prompt of [\d,]+ characters$/);
  expect(prompt?.fields?.output).toContain('"quoted": "[redacted]"');
  expect(endMessageOf(ended).error).toMatch(/^\[redacted\] \(post hook, exit 3\)$/);
  expect(linesOf(ended, "said")[0]).toBe("I know [redacted].");
  expect(ended.messages).toContainEqual({ type: "status", text: "with [redacted]" });
});

test.each([
  ["behind 480 characters", `printf '%0480d%s\\n' 0 "$GITHUB_TOKEN" >&2; exit 3`],
  ["over several lines", `printf %s "$GITHUB_TOKEN" | base64 -w 8 >&2; exit 3`],
  ["over more lines than it quotes", `echo "$GITHUB_TOKEN" | fold -w 5; echo >&2; exit 3`],
  ["over both outputs", `echo abcdefghij-klmno; sleep 0.2; echo pqrst-uvwxyz12345 >&2; exit 3`],
])(
  "a run's job quotes no part of a secret %s in the reason of a failed hook",
  async (_, command) => {
    const credentials = [github("abcdefghij-klmnopqrst-uvwxyz12345")];
    const job = aJob(workDir(), { hooks: hooks([command]), credentials });
    const { error } = endMessageOf(await runOf(job));
    expect(error).toMatch(/^0{0,480}\[redacted\] \(pre hook, exit 3\)$/);
  },
);

test.each([
  ["has an invalid field", { KEY: 5 }, /credentials\.0\.env\.KEY \(invalid_type\)/],
  ["is not JSON", `{"key":"s3cret"\n`, /^the job on standard input is not JSON$/],
  ["ends early", `{"key":"s3cret`, /^standard input ended before the complete job arrived$/],
])("a run's job fails without quoting its text if it %s", async (_what, given, error) => {
  const job = { ...aJob(workDir()), credentials: [{ ...github("s3cret"), env: given }] };
  const input = typeof given === "string" ? given : `${JSON.stringify(job)}\n`;
  const ended = await runOf(input, {}, true);
  expect(ended.exitCode).toBe(1);
  expect(endMessageOf(ended).error).toMatch(error);
  expect(JSON.stringify(ended)).not.toContain("s3cret");
});
