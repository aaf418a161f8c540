import type { LogPageAnswer } from "../../../../src/interfaces/views/log-page.ts";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { readStream } from "../event-stream.ts";
import { bearer, openApp, startTcp, testDeps } from "../start-gateway.ts";

const path = "/dashboard/api/logs/dev/stream";

async function setUp(lines: number) {
  const deps = testDeps();
  for (let line = 1; line <= lines; line++) {
    const level = line % 2 === 0 ? 40 : 30;
    deps.logs.write({ agent: "dev", msg: `line ${line}`, level, instanceId: `dev-${line % 2}` });
  }
  return { url: await startTcp(deps), deps, logs: deps.logs };
}

function messages(events: readonly { readonly data: unknown }[]): readonly string[] {
  return events.map(({ data }) => (data as { msg: string }).msg);
}

test("the log stream of an agent begins with the last 100 lines and continues with new ones", async () => {
  const { url, logs, deps } = await setUp(150);
  const snapshot = vi.spyOn(deps.operations, "snapshot");
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
  expect(snapshot).not.toHaveBeenCalled();
});

test.each([
  ["", { "last-event-id": "dev-2026-11-21.log:7" }, ["8", "9", "10", "new"]],
  ["?after=dev-2026-11-21.log:7", {}, ["8", "9", "10", "new"]],
  ["?instance=dev-1&lines=2", {}, ["7", "9", "new"]],
  ["?q=LINE&level=warn&lines=2", {}, ["8", "10"]],
])(
  "the log stream with the query %j and headers %j has the lines %j",
  async (query, headers, all) => {
    const { url, logs } = await setUp(10);
    const stream = await readStream(url + path + query, { ...bearer, ...headers });
    await expect.poll(() => stream.events().length).toBeGreaterThan(1);
    logs.write({ agent: "dev", msg: "line new", instanceId: "dev-1" });
    await expect
      .poll(() => messages(stream.events()))
      .toEqual(all.map((number) => `line ${number}`));
  },
);

test.each([
  ["dev/stream?lines=-1", 400],
  ["dev/stream?lines=10001", 400],
  ["scheduler/stream", 200],
  ["gone/stream", 200],
  ["never/stream", 404],
  ["..%2fdev/stream", 404],
])("GET /dashboard/api/logs/%s responds %i", async (address, status) => {
  const { url, logs } = await setUp(0);
  logs.write({ agent: "gone", msg: "last words" });
  expect((await readStream(`${url}/dashboard/api/logs/${address}`, bearer)).status).toBe(status);
});

test("the status stream can include several logs, each resumed from its own position", async () => {
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

test("the log stream of all agents mixes them", async () => {
  const { url, logs } = await setUp(1);
  const stream = await readStream(`${url}/api/logs/stream`, bearer);
  logs.write({ agent: "other", msg: "mine too" });
  await expect.poll(() => messages(stream.events())).toEqual(["line 1", "mine too"]);
});

async function openPages() {
  const { get, deps } = await openApp();
  for (const msg of ["needle 1", "needle 2", "hay", "Needle 3"])
    deps.logs.write({ agent: "dev", msg });
  return (query: string) => get(`/api/logs/agents/dev?${query}`);
}

test("pages of filtered lines cover the whole log, backward and forward", async () => {
  const get = await openPages();
  const pageOf = async (query: string) => {
    const { lines, ...page } = (await get(query)).json<LogPageAnswer>();
    return { ...page, positions: lines.map(({ position }) => position.slice(-1)) };
  };
  const newest = await pageOf("q=needle&limit=2");
  const newer = "dev-2026-11-21.log:4";
  expect(newest).toMatchObject({ positions: ["2", "4"], atEnd: true, newer });
  const older = await pageOf(`q=needle&limit=2&before=${newest.older ?? ""}`);
  expect(older).toMatchObject({ positions: ["1"], older: null });
  const after = await pageOf("after=dev-2026-11-21.log:1&limit=2");
  expect(after).toMatchObject({ positions: ["2", "3"] });
  expect(await pageOf("before=nowhere")).toMatchObject({ older: null });
});
