import { aJob, aModel, aScripted } from "../jobs.ts";
import { fakeProvider, saying } from "../fake-provider.ts";
import { endMessageOf, logsOf, runOf } from "../run-entry.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const job = (script: string, models = [aScripted([])]) =>
  aJob(tempDir(), {
    models,
    instructions: "Be the instructed one.",
    trigger: { kind: "manual", prompt: "the asked thing" },
    harness: { type: "llm-cli", command: "/bin/sh", args: ["-c", script, "my-llm", "an argument"] },
  });

test("a user's own program reads instructions and prompt, and the end of its output is its answer", async () => {
  const run = await runOf(
    job('cat; echo \'{"type":"result"}\'; echo "$1 $AL_AGENT"; echo problem >&2'),
  );
  const [said = ""] = logsOf(run, "said").map(({ msg }) => msg);
  expect(said).toMatch(/^Be the instructed one\.[^]+the asked thing[^]+an argument dev$/);
  expect(said).toContain('{"type":"result"}');
  expect(said).not.toContain("problem");
  expect(endMessageOf(run).error).toBeNull();
});

test("the answer of a user's own program has at most 32 KiB", async () => {
  const run = await runOf(job("yes line | head -c 50000; echo the end"));
  const said = logsOf(run, "said")
    .map(({ msg }) => msg)
    .join("");
  expect(said).toMatch(/the end$/);
  expect(said.length).toBeGreaterThan(30_000);
  expect(said.length).toBeLessThanOrEqual(32 * 1024);
});

test("a run fails with the exit code and last lines of a user's own program", async () => {
  const run = await runOf(job("echo no luck >&2; exit 3"));
  expect(run.exitCode).toBe(1);
  expect(endMessageOf(run).error).toBe("sh ended with code 3\nno luck");
});

test("a user's own program finds its model by the variables of the provider's SDK, and no key", async () => {
  const provider = await fakeProvider(saying("ok"));
  onTestFinished(() => provider.close());
  const key = "sk-of-the-model";
  const script = `curl -sS "$OPENAI_BASE_URL/chat/completions" -H "authorization: Bearer $OPENAI_API_KEY" -d "{\\"model\\":\\"$AL_MODEL\\",\\"messages\\":[]}"; env`;
  const run = await runOf(job(script, [aModel("local", provider.baseUrl, { key })]));
  expect(provider.requests[0]?.authorization).toBe(`Bearer ${key}`);
  const said = logsOf(run, "said")
    .map(({ msg }) => msg)
    .join("");
  expect(said).toContain("AL_MODEL=local-1");
  expect(said).not.toContain(key);
});
