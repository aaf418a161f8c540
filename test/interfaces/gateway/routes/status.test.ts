import { Observable } from "rxjs";
import type { StatusUpdate } from "../../../../streams/status/wire.ts";
import { fakeOperations } from "../../../helpers/fake-operations.ts";
import { memorySessions } from "../../../helpers/memory-sessions.ts";
import { statusEvents } from "../../../../src/interfaces/gateway/routes/status.ts";
import { readStream } from "../event-stream.ts";
import { apiKey, bearer, startTcp, testDeps } from "../start-gateway.ts";

const path = "/dashboard/api/status-stream";

test("the status stream begins with the retry time and a snapshot, then sends changes", async () => {
  const deps = testDeps();
  const stream = await readStream((await startTcp(deps)) + path, bearer);
  expect(stream.status).toBe(200);
  expect(stream.headers.get("content-type")).toContain("text/event-stream");
  expect(stream.headers.get("cache-control")).toBe("no-cache, no-transform");
  expect(stream.headers.get("x-accel-buffering")).toBe("no");
  // Not kept: a client that sent its next request over it would find it closed.
  expect(stream.headers.get("connection")).toBe("close");
  expect(stream.headers.get("x-content-type-options")).toBe("nosniff");
  await expect.poll(() => stream.events()).toHaveLength(1);
  expect(stream.text().startsWith("retry: 2000\n\n")).toBe(true);
  expect(stream.events()[0]).toMatchObject({
    event: "snapshot",
    data: { agents: [{ name: "dev" }], recentLogs: [] },
  });
  deps.operations.setAgent({ name: "dev", state: "running" });
  await expect.poll(() => stream.events()).toHaveLength(2);
  expect(stream.events()[1]).toMatchObject({
    event: "update",
    id: String(Number(stream.events()[0]?.id) + 1),
    data: { agents: [{ name: "dev", state: "running" }] },
  });
});

test("the status stream begins with the same data as GET /control/status", async () => {
  const url = await startTcp(testDeps());
  const stream = await readStream(url + path, bearer);
  await expect.poll(() => stream.events()).toHaveLength(1);
  const status = await fetch(`${url}/control/status`, { headers: bearer });
  expect(stream.events()[0]?.data).toEqual(await status.json());
});

test("the status stream stops listening to the scheduler when the client leaves", async () => {
  let listeners = 0;
  const update$ = new Observable<StatusUpdate>(() => {
    listeners += 1;
    return () => (listeners -= 1);
  });
  const deps = testDeps();
  Object.assign(deps.operations, { update$ });
  const stream = await readStream((await startTcp(deps)) + path, bearer);
  await expect.poll(() => listeners).toBe(1);
  stream.close();
  await expect.poll(() => listeners).toBe(0);
});

test("the status stream ends for the session that logs out, and for no other", async () => {
  const url = await startTcp(testDeps());
  const cookies = await Promise.all([1, 2].map(() => logInAt(url)));
  const [mine, other] = await Promise.all(
    cookies.map((cookie) => readStream(url + path, { cookie })),
  );
  await fetch(`${url}/logout`, { headers: { cookie: cookies[0] ?? "" }, redirect: "manual" });
  await expect.poll(() => mine?.isEnded()).toBe(true);
  expect(other?.isEnded()).toBe(false);
});

test.each(["session", "key"])(
  "the status stream ends if the caller's %s ended while its logs were read",
  async (kind) => {
    let key = apiKey;
    const deps = testDeps({ apiKey: () => key });
    const reads = Promise.withResolvers<null>();
    const read = Promise.withResolvers<null>();
    const { page } = deps.logs;
    deps.logs.page = async (query) => {
      reads.resolve(null);
      await read.promise;
      return page(query);
    };
    const url = await startTcp(deps);
    const headers = kind === "key" ? bearer : { cookie: await logInAt(url) };
    const opened = readStream(`${url}${path}?log=${encodeURIComponent("?agent=dev")}`, headers);
    await reads.promise;
    deps.sessions.endAll();
    key = "another";
    read.resolve(null);
    const stream = await opened;
    await expect.poll(() => stream.isEnded()).toBe(true);
    expect(stream.events()).toEqual([]);
  },
);

test("a log that can't be read once is followed later, and the stream's others at once", async () => {
  const deps = testDeps();
  for (const agent of ["dev", "scheduler"]) deps.logs.write({ agent, msg: `of ${agent}` });
  const { page } = deps.logs;
  let reads = 0;
  deps.logs.page = (query) =>
    query.agent === "dev" && ++reads === 1 ? Promise.reject(new Error("EMFILE")) : page(query);
  const logs = ["dev", "scheduler"].map((agent) => `log=${encodeURIComponent(`?agent=${agent}`)}`);
  const stream = await readStream(`${await startTcp(deps)}${path}?${logs.join("&")}`, bearer);
  const events = () => stream.events().map(({ event }) => event);
  await expect.poll(events).toEqual(["snapshot", "log-1"]);
  await expect.poll(events, { timeout: 20_000 }).toEqual(["snapshot", "log-1", "log-0"]);
}, 30_000);

test("a background request asks only the scheduler, and prolongs no session", async () => {
  const sessions = memorySessions();
  const touched: string[] = [];
  const touch = (token: string) => {
    touched.push(token);
    return sessions.touch(token);
  };
  const deps = testDeps({ sessions: { ...sessions, touch } });
  const url = await startTcp(deps);
  const headers = { cookie: await logInAt(url) };
  const answer = await fetch(`${url}/dashboard/api/scheduler`, { headers });
  expect(await answer.json()).toEqual(deps.operations.snapshot().scheduler);
  expect(touched).toEqual([]);
  await fetch(`${url}/control/status`, { headers });
  expect(touched).toHaveLength(1);
  sessions.endAll();
  expect((await fetch(`${url}/dashboard/api/scheduler`, { headers })).status).toBe(401);
});

test("the texts of the status stream loses nothing between snapshot and updates", () => {
  const operations = fakeOperations();
  operations.setAgent({ name: "before" });
  const texts: string[] = [];
  const subscription = statusEvents(operations)().subscribe((text) => texts.push(text));
  operations.setAgent({ name: "after" });
  subscription.unsubscribe();
  expect(texts).toHaveLength(2);
  expect(texts[0]).toContain('"before"');
  expect(texts[1]).toContain('"after"');
});

test("the texts of the status stream are the missed updates for a client that says which it had last, else a snapshot", () => {
  const operations = fakeOperations([{ name: "dev" }]);
  const eventsSince = statusEvents(operations);
  const firstOf = (since?: number): string => {
    const texts: string[] = [];
    eventsSince(since)
      .subscribe((text) => texts.push(text))
      .unsubscribe();
    return texts.join("");
  };
  const idOf = (text: string): number => Number(/^id: (\d+)/.exec(text)?.[1]);
  const open = eventsSince().subscribe();
  const id = idOf(firstOf());
  operations.setAgent({ name: "dev", state: "running" });
  operations.setAgent({ name: "dev", state: "error" });
  expect(firstOf(id + 2)).toBe(`id: ${id + 2}\nevent: update\ndata: {}\n\n`);
  expect(firstOf(id + 1)).toMatch(/^id: \d+\nevent: update\n.*"error"/);
  for (const since of [undefined, NaN, 0, id + 3])
    expect(firstOf(since), String(since)).toContain("event: snapshot");
  open.unsubscribe();
  operations.setAgent({ name: "dev", state: "idle" });
  expect(firstOf(id + 2)).toContain("event: snapshot");
});

test("the texts of the status stream are serialized once for all clients", () => {
  const operations = fakeOperations([{ name: "dev" }]);
  const events$ = statusEvents(operations)();
  const seen: string[][] = [[], []];
  const subscriptions = seen.map((texts) => events$.subscribe((text) => texts.push(text)));
  operations.setAgent({ name: "dev", state: "error" });
  for (const subscription of subscriptions) subscription.unsubscribe();
  // Equal ids: a text of its own would have counted on.
  expect(seen[0]).toEqual(seen[1]);
  expect(seen[0]?.[1]).toContain("event: update\n");
});

async function logInAt(url: string): Promise<string> {
  const response = await fetch(`${url}/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key: apiKey }),
  });
  return response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
}
