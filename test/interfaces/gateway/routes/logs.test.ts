import type { LogPageAnswer } from "../../../../src/interfaces/views/log-page.ts";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { readStream } from "../event-stream.ts";
import { bearer, startTcp, testDeps } from "../start-gateway.ts";

const path = "/dashboard/api/logs/dev/stream";

async function setUp(lines: number) {
  const deps = testDeps();
  for (let line = 1; line <= lines; line++) {
    deps.logs.write({ agent: "dev", msg: `line ${line}`, instanceId: `dev-${line % 2}` });
  }
  return { url: await startTcp(deps), logs: deps.logs };
}

function messages(events: readonly { readonly data: unknown }[]): readonly string[] {
  return events.map(({ data }) => (data as { msg: string }).msg);
}

test("the log stream of an agent begins with the last 100 lines and continues with new ones", async () => {
  const { url, logs } = await setUp(150);
  const stream = await readStream(url + path, bearer);
  await expect.poll(() => stream.events()).toHaveLength(100);
  expect(messages(stream.events())[0]).toBe("line 51");
  logs.write({ agent: "other", msg: "not mine" });
  logs.write({ agent: "dev", msg: "new\nline" });
  await expect.poll(() => stream.events()).toHaveLength(101);
  expect(stream.events()[100]).toMatchObject({
    event: "log",
    id: "dev-2026-11-21.log:152",
    data: { msg: "new\nline", agent: "dev", level: 30 },
  });
});

test("the log stream of an agent resumes after the last event that the client has", async () => {
  const { url, logs } = await setUp(10);
  const position = "dev-2026-11-21.log:7";
  const byHeader = await readStream(url + path, { ...bearer, "last-event-id": position });
  const byQuery = await readStream(`${url}${path}?after=${position}`, bearer);
  logs.write({ agent: "dev", msg: "new" });
  for (const stream of [byHeader, byQuery]) {
    await expect.poll(() => stream.events()).toHaveLength(4);
    expect(messages(stream.events())).toEqual(["line 8", "line 9", "line 10", "new"]);
  }
});

test("the log stream of an agent shows one run, and as many lines as asked for", async () => {
  const { url } = await setUp(10);
  const stream = await readStream(`${url}${path}?instance=dev-0&lines=2`, bearer);
  await expect.poll(() => messages(stream.events())).toEqual(["line 8", "line 10"]);
});

test("the log stream of an agent shows the first line of an agent that never ran", async () => {
  const { url, logs } = await setUp(0);
  const stream = await readStream(url + path, bearer);
  await expect.poll(() => stream.text()).toContain(":\n\n");
  logs.write({ agent: "dev", msg: "first" });
  await expect.poll(() => messages(stream.events())).toEqual(["first"]);
});

test("the log stream of an agent exists for the scheduler and for a removed agent, not for an unknown one", async () => {
  const { url, logs } = await setUp(0);
  logs.write({ agent: "gone", msg: "last words" });
  const statusOf = async (agent: string): Promise<number> =>
    (await readStream(`${url}/dashboard/api/logs/${agent}/stream`, bearer)).status;
  expect(await statusOf("scheduler")).toBe(200);
  expect(await statusOf("gone")).toBe(200);
  expect(await statusOf("never")).toBe(404);
  expect(await statusOf("..%2fdev")).toBe(404);
});

test("the log stream of an agent reads only its agent's log", async () => {
  const deps = testDeps();
  const url = await startTcp(deps);
  const snapshot = vi.spyOn(deps.operations, "snapshot");
  expect((await readStream(url + path, bearer)).status).toBe(200);
  expect(snapshot).not.toHaveBeenCalled();
});

test.each(["lines=-1", "lines=x", "lines=10001"])(
  "the log stream of an agent: ?%s is malformed",
  async (query) => {
    const { url } = await setUp(0);
    expect((await readStream(`${url}${path}?${query}`, bearer)).status).toBe(400);
  },
);

test("one stream has the status and several logs, each resumed from its own position", async () => {
  const deps = testDeps();
  const write = (agent: string, msg: string, level: 30 | 50 = 30): void =>
    deps.logs.write({ agent, msg, level });
  write("dev", "dev 1");
  write("cat", "cat 1");
  const url = await startTcp(deps);
  const streamOf = (...logs: string[]) => {
    const query = logs.map((log) => `log=${encodeURIComponent(log)}`).join("&");
    return readStream(`${url}/dashboard/api/status-stream?${query}`, bearer);
  };
  const lines = ({ events }: Awaited<ReturnType<typeof streamOf>>) =>
    events().flatMap(({ event, data }) =>
      event.startsWith("log") ? [`${event} ${(data as LogEntry).msg}`] : [],
    );
  const stream = await streamOf("?agent=dev", "?agent=nobody", "?agent=cat&level=error");
  await expect.poll(() => lines(stream)).toEqual(["log-0 dev 1"]);
  expect(stream.events()[0]?.event).toBe("snapshot");
  write("cat", "cat 2", 50);
  await expect.poll(() => lines(stream)).toEqual(["log-0 dev 1", "log-2 cat 2"]);
  const position = stream.events().find(({ event }) => event === "log-0")?.id ?? "";
  write("dev", "dev 2");
  const resumed = await streamOf(`?agent=dev&after=${encodeURIComponent(position)}`);
  await expect.poll(() => lines(resumed)).toEqual(["log-0 dev 2"]);
  expect((await streamOf("?agent=dev&lines=x")).status).toBe(400);
});

test("the stream over all agents mixes them", async () => {
  const { url, logs } = await setUp(1);
  const stream = await readStream(`${url}/api/logs/stream`, bearer);
  logs.write({ agent: "other", msg: "mine too" });
  await expect.poll(() => messages(stream.events())).toEqual(["line 1", "mine too"]);
});

const pages = "/api/logs/agents/dev";
async function setUpMixed() {
  const deps = testDeps();
  const write = (msg: string, level: 30 | 40 | 50, instanceId: string): void =>
    deps.logs.write({ agent: "dev", msg, level, instanceId });
  write("needle 1", 30, "dev-a");
  write("needle 2", 40, "dev-a");
  write("hay", 50, "dev-a");
  write("Needle 3", 50, "dev-b");
  return { url: await startTcp(deps), logs: deps.logs };
}

test("filters of an agent's log apply to the lines of a stream so far and to new ones", async () => {
  const { url, logs } = await setUpMixed();
  const stream = await readStream(`${url}${path}?q=NEEDLE&level=warn`, bearer);
  await expect.poll(() => messages(stream.events())).toEqual(["needle 2", "Needle 3"]);
  logs.write({ agent: "dev", msg: "needle 4" });
  logs.write({ agent: "dev", msg: "hay", level: 50 });
  logs.write({ agent: "dev", msg: "needle 5", level: 40 });
  await expect.poll(() => messages(stream.events())).toEqual(["needle 2", "Needle 3", "needle 5"]);
  const resumed = await readStream(`${url}${path}?q=needle&after=dev-2026-11-21.log:2`, bearer);
  await expect.poll(() => messages(resumed.events())).toEqual(["Needle 3", "needle 4", "needle 5"]);
});

test("pages of filtered lines cover the whole log, backward and forward", async () => {
  const { url } = await setUpMixed();
  const ask = async (query: string): Promise<LogPageAnswer> => {
    const response = await fetch(`${url}${pages}?${query}`, { headers: bearer });
    return (await response.json()) as LogPageAnswer;
  };
  const positionsOf = ({ lines }: LogPageAnswer): readonly string[] =>
    lines.map(({ position }) => position.slice(-1));
  const newest = await ask("q=needle&limit=2");
  expect(positionsOf(newest)).toEqual(["2", "4"]);
  expect(newest).toMatchObject({ atEnd: true, newer: "dev-2026-11-21.log:4" });
  const older = await ask(`q=needle&limit=2&before=${newest.older ?? ""}`);
  expect(positionsOf(older)).toEqual(["1"]);
  expect(older.older).toBeNull();
  expect(positionsOf(await ask("after=dev-2026-11-21.log:1&limit=2"))).toEqual(["2", "3"]);
  expect(positionsOf(await ask("instance=dev-b"))).toEqual(["4"]);
});

test.each([
  ["/api/logs/agents/never", 404],
  ["/api/logs/agents/..%2fdev", 404],
  [`${pages}?level=loud`, 400],
  [`${pages}?limit=1001`, 400],
  [`${pages}?q=${"x".repeat(1001)}`, 400],
  [`${pages}?before=nowhere`, 200],
])("filters of an agent's log: %s is answered with %i", async (address, status) => {
  const { url } = await setUp(1);
  expect((await fetch(url + address, { headers: bearer })).status).toBe(status);
});

test("filters of an agent's log need the key", async () => {
  const { url } = await setUp(1);
  expect((await fetch(url + pages)).status).toBe(401);
});
