import { gzipSync } from "node:zlib";
import { text } from "node:stream/consumers";
import { Readable } from "node:stream";
import { openStore } from "../../../src/features/open-store.ts";
import { createSessionStore } from "../../../src/features/sessions/session-store.ts";
import { createSessions } from "../../../src/features/sessions/sessions.ts";
import type { TreeUpload } from "../../../src/foundation/contracts/file-tree.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { createBlobs } from "../../../src/foundation/files/blobs.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { Outcome } from "../../../streams/outcomes.ts";
import type { RunEvent, RunRequest, Trigger } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { perTest } from "../../helpers/per-test.ts";
import { randomBy } from "../../helpers/random.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { changeStore } from "../../runtime/runs/of-world.ts";

const dayMs = 86_400_000;
const secret = "hunter2-hunter2";

/** The service over the real store and real blobs, at a time of its own. */
function service() {
  const dir = tempDir();
  let now = 100 * dayMs;
  const store = openStore(dir, () => now);
  onTestFinished(() => store.close());
  const redactor = createRedactor();
  redactor.add([secret]);
  const sessions = store.tables(createSessionStore);
  const { redactValue } = redactor;
  const blobs = createBlobs(dir);
  const { trees, onEvent } = createSessions({
    store: sessions,
    blobs,
    redactValue,
    now: () => now,
  });
  let count = 0;
  const begin = async (key: string, config: Partial<AgentConfig> = {}, trigger?: Trigger) => {
    const session = { key: "{url}", keepMs: dayMs, maxTokens: null, whileRunning: "wait" } as const;
    const agent = anAgent("dev", { session, ...config });
    const id = (count += 1);
    const item = { ...anItem(`t${id}`, "dev", trigger), session: key };
    const request: RunRequest = { instanceId: `dev-${id}`, agent, item };
    await store.work.enqueue([item]);
    await store.work.claim(request, null, null, () => sessions.link(request, now));
    return request;
  };
  const put = (request: RunRequest, ...files: readonly [path: string, content: string][]) =>
    trees.write?.({ instanceId: request.instanceId, request }, "session", uploadOf(files));
  const end = async (request: RunRequest, outcome: Outcome = "succeeded") => {
    const { instanceId, item } = request;
    const usage = null;
    const ended = { outcome, exitCode: 0, reason: null, usage };
    const event = { type: "finished", agent: "dev", at: now, item, instanceId, startedAt: now };
    const also = onEvent({ ...event, end: ended } as RunEvent);
    await store.work.end(item, { instanceId, startedAt: now, end: ended }, also);
  };
  const read = async (request: RunRequest) => {
    const entries = await trees.read?.({ instanceId: request.instanceId, request }, "session");
    const texts: string[] = [];
    for await (const { content } of entries ?? []) texts.push(await text(content));
    return texts;
  };
  /** A whole run of a key; what it got of the last one. */
  const run = async (key: string, line: object, outcome?: Outcome) => {
    const request = await begin(key);
    const got = await read(request);
    await put(request, ["session.jsonl", `${JSON.stringify(line)}\n`]);
    await end(request, outcome);
    return { request, got };
  };
  const later = (ms: number) => (now += ms);
  return { dir, store, sessions, begin, put, end, read, run, later, now: () => now };
}

const here = perTest(service);

function uploadOf(files: readonly [path: string, content: string][]): TreeUpload {
  const entries = files.map(([path, content]) => {
    const bytes = Buffer.from(content);
    return { path, bytes: bytes.length, isExecutable: false, content: Readable.from([bytes]) };
  });
  return Object.assign(Readable.from(entries) as unknown as TreeUpload, { leftOut: () => [] });
}

describe("the session of a run", () => {
  test("is stored line by line without secrets, without other files", async () => {
    const { begin, put, end, read } = here();
    const first = await begin("a");
    const lines = `{"said":"${secret}","${secret}":1}\n\n{"n":2}`;
    await put(first, ["s.jsonl", lines], ["notes.txt", "no JSON"]);
    await end(first);
    expect(await read(await begin("a"))).toEqual([
      '{"said":"[redacted]","[redacted]":1}\n{"n":2}\n',
    ]);
  });

  test.each([
    ["is not JSON", "{"],
    ["is longer than 2 MiB", `"${"x".repeat(3 * 1024 * 1024)}"`],
    ["has more than 20,000 values", `[${"{},".repeat(20_000)}{}]`],
  ])("is not stored if a line %s", async (_what, line) => {
    const { begin, put } = here();
    await expect(put(await begin("a"), ["s.jsonl", line])).rejects.toMatchObject({
      code: "malformed",
    });
  });

  test("that an earlier version of the program stored in parts is continued", async () => {
    const { begin, read, dir, sessions } = here();
    const parts = ['{"n":1}\n{"n":2}', '{"n":3}'].map((part) => gzipSync(part).toString("hex"));
    parts.forEach((hex, part) =>
      changeStore(
        { dir } as never,
        `INSERT INTO run_sessions (instance_id, at, part, is_last, entries)
        VALUES ('dev-old', 1, ${part}, ${part}, x'${hex}')`,
      ),
    );
    const continues = { instanceId: "dev-old", endedAt: 1 };
    const request = await begin("a", {}, { kind: "manual", prompt: "Go on.", continues });
    expect(await read(request)).toEqual(['{"n":1}\n{"n":2}\n{"n":3}']);
    expect(sessions.programOf("dev-old")).toBe("pi");
  });
});

describe("a session key", () => {
  test("continues the session of its last run, also of a failed one, and of no other key", async () => {
    const { run } = here();
    await run("a", { n: 1 }, "failed");
    expect((await run("b", { n: 2 })).got).toEqual([]);
    expect((await run("a", { n: 3 })).got).toEqual(['{"n":1}\n']);
    expect((await run("a", { n: 4 })).got).toEqual(['{"n":3}\n']);
  });

  test("begins anew after keep, and with another program", async () => {
    const { run, begin, read, later, store, sessions } = here();
    await run("a", { n: 1 });
    const claude = { harness: { type: "llm-cli", command: "/bin/claude" } } as const;
    expect(await read(await begin("a", claude))).toEqual([]);
    later(dayMs + 1);
    expect(await read(await begin("a"))).toEqual([]);
    await store.prune({ now: 102 * dayMs, days: 365, maxBytes: Infinity });
    expect(sessions.list("dev")).toEqual([]);
  });

  test("is tried again from the session before a run that was lost", async () => {
    const { run } = here();
    await run("a", { n: 1 });
    await run("a", { n: 2 }, "lost");
    expect((await run("a", { n: 3 })).got).toEqual(['{"n":1}\n']);
  });

  test("begins anew after its session was removed, also during a live run of it", async () => {
    const { run, begin, put, end, sessions } = here();
    await run("a", { n: 1 });
    await run("b", { n: 1 });
    const live = await begin("a");
    expect(await sessions.remove("dev", "a")).toBe(2);
    expect(await put(live, ["session.jsonl", "{}"])).toMatchObject({ kept: 0 });
    await end(live);
    expect(sessions.list("dev").map(({ key }) => key)).toEqual(["b"]);
    expect((await run("a", { n: 2 })).got).toEqual([]);
  });

  test("never meets the session of another one, with many keys at once", async () => {
    const { begin, read, put, end } = here();
    const random = randomBy(47);
    const last = new Map<string, number>();
    const live = new Map<string, RunRequest>();
    for (let step = 0; step < 300; step += 1) {
      const key = `key-${Math.floor(random() * 5)}`;
      const running = live.get(key);
      if (running === undefined) {
        const request = await begin(key);
        const expected = last.has(key) ? [`{"key":"${key}","n":${String(last.get(key))}}\n`] : [];
        expect(await read(request)).toEqual(expected);
        live.set(key, request);
      } else {
        await put(running, ["session.jsonl", JSON.stringify({ key, n: step })]);
        const isLost = random() < 0.2;
        await end(running, isLost ? "lost" : random() < 0.5 ? "failed" : "succeeded");
        if (!isLost) last.set(key, step);
        live.delete(key);
      }
    }
  });
});
