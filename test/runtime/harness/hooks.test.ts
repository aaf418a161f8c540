import { tmpdir } from "node:os";
import type { RunMessage } from "../../../src/runtime/harness/run-messages.ts";
import { runHooks } from "../../../src/runtime/harness/hooks.ts";
import { aJob } from "./jobs.ts";

async function hook(
  command: string | readonly string[],
  timeoutMs: number,
  signal = new AbortController().signal,
) {
  const messages: RunMessage[] = [];
  const job = aJob(tmpdir(), { hooks: { pre: [command].flat(), post: [] } });
  const env = { PATH: process.env.PATH ?? "" };
  const before = performance.now();
  const reason = await runHooks("pre", job, {
    emit: (message) => void messages.push(message),
    env,
    signal,
    timeoutMs,
    redact: (text) => text,
  });
  return { reason, messages, tookMs: performance.now() - before };
}

test("a hook runs in a /bin/sh of its own, without effect on the next one", async () => {
  const said = "echo $0 $PWD [$FROM_HOOK]";
  const { reason, messages } = await hook([`cd /; export FROM_HOOK=1; ${said}`, said], 20_000);
  expect(reason).toBeNull();
  const lines = messages.flatMap((message) =>
    message.type === "log" && message.fields?.stream === "stdout" ? [message.msg] : [],
  );
  expect(lines).toEqual(["/bin/sh / [1]", `/bin/sh ${tmpdir()} []`]);
});

test("a hook has its time to itself: earlier hooks don't count", async () => {
  const { reason, tookMs } = await hook(["sleep 0.4", "sleep 0.4", "sleep 0.4"], 800);
  expect(reason).toBeNull();
  expect(tookMs).toBeGreaterThan(1100);
});

test("a hook is ended with all its processes when it takes too long", async () => {
  const { reason, tookMs } = await hook("sleep 30 & sleep 30", 200);
  expect(reason).toContain("took longer than 0.2 s");
  expect(tookMs).toBeLessThan(10_000);
});

test("a hook is ended when the run is stopped", async () => {
  const { reason, tookMs } = await hook("sleep 30", 60_000, AbortSignal.timeout(100));
  expect(reason).toContain("was stopped");
  expect(tookMs).toBeLessThan(10_000);
});

test("a hook shows its output behind the lines that are logged one by one, while it runs", async () => {
  const { messages } = await hook("seq 600; sleep 1.2", 30_000);
  const live = messages.filter(
    (message) => message.type === "log" && message.kind === "tool-output",
  );
  expect(live).toHaveLength(1);
  expect(live[0]).toMatchObject({ msg: "pre hook still running", fields: { tool: "pre hook" } });
  expect(JSON.stringify(live[0])).toContain("501\\n502\\n");
});

test("a hook may print without end: the log gets the beginning, memory stays bounded", async () => {
  const { reason, messages } = await hook(
    "yes | head -n 100000; head -c 9000000 /dev/zero",
    30_000,
  );
  expect(reason).toBeNull();
  expect(messages.length).toBeLessThan(510);
  expect(JSON.stringify(messages)).toContain("more lines of output left out");
});
