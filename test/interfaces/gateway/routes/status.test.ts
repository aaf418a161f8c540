import { Observable } from "rxjs";
import type { StatusUpdate } from "../../../../streams/status/wire.ts";
import { fakeOperations } from "../../../helpers/fake-operations.ts";
import { memorySessions } from "../../../helpers/memory-sessions.ts";
import { statusEvents } from "../../../../src/interfaces/gateway/routes/status.ts";
import { readStream } from "../event-stream.ts";
import { apiKey, bearer, logIn, openApp, startTcp, testDeps } from "../start-gateway.ts";

const path = "/dashboard/api/status-stream";

/** A listening gateway, and an app of the same sessions to log in at. */
async function setUp(deps = testDeps()) {
  const { app } = await openApp(deps);
  const url = (await startTcp(deps)) + path;
  const cookie = async () => ({ cookie: await logIn(app) });
  return {
    app,
    deps,
    cookie,
    open: (headers = {}, query = "") => readStream(url + query, headers),
  };
}

describe("the status stream", () => {
  test("begins with the retry time and a snapshot, then sends changes", async () => {
    const { deps, open } = await setUp();
    const stream = await open(bearer);
    expect(stream.status).toBe(200);
    expect(Object.fromEntries(stream.headers)).toMatchObject({
      "content-type": expect.stringContaining("text/event-stream") as string,
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      // Not kept: a client that sent its next request over it would find it closed.
      connection: "close",
      "x-content-type-options": "nosniff",
    });
    await expect.poll(() => stream.events()).toHaveLength(1);
    expect(stream.text().startsWith("retry: 2000\n\n")).toBe(true);
    const data = { agents: [{ name: "dev" }], recentLogs: [] };
    expect(stream.events()[0]).toMatchObject({ event: "snapshot", data });
    deps.operations.setAgent({ name: "dev", state: "running" });
    await expect.poll(() => stream.events()).toHaveLength(2);
    expect(stream.events()[1]).toMatchObject({
      event: "update",
      id: String(Number(stream.events()[0]?.id) + 1),
      data: { agents: [{ name: "dev", state: "running" }] },
    });
  });

  test("begins with the same data as GET /control/status", async () => {
    const { app, open } = await setUp();
    const stream = await open(bearer);
    await expect.poll(() => stream.events()).toHaveLength(1);
    const status = await app.inject({ url: "/control/status", headers: bearer });
    expect(stream.events()[0]?.data).toEqual(status.json());
  });

  test("unsubscribes from the scheduler when the client leaves", async () => {
    let listeners = 0;
    const update$ = new Observable<StatusUpdate>(() => {
      listeners += 1;
      return () => (listeners -= 1);
    });
    const deps = testDeps();
    Object.assign(deps.operations, { update$ });
    const stream = await (await setUp(deps)).open(bearer);
    await expect.poll(() => listeners).toBe(1);
    stream.close();
    await expect.poll(() => listeners).toBe(0);
  });

  test("ends for the session that logs out, and for no other", async () => {
    const { app, cookie, open } = await setUp();
    const headers = await cookie();
    const mine = await open(headers);
    const other = await open(await cookie());
    await app.inject({ url: "/logout", headers });
    await expect.poll(() => mine.isEnded()).toBe(true);
    expect(other.isEnded()).toBe(false);
  });

  test.each(["session", "key"])(
    "ends if the caller's %s ended while its logs were read",
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
      const { cookie, open } = await setUp(deps);
      const opened = open(kind === "key" ? bearer : await cookie(), "?log=%3Fagent%3Ddev");
      await reads.promise;
      deps.sessions.endAll();
      key = "another";
      read.resolve(null);
      const stream = await opened;
      await expect.poll(() => stream.isEnded()).toBe(true);
      expect(stream.events()).toEqual([]);
    },
  );

  test("follows a log that can't be read once later, and its others at once", async () => {
    const deps = testDeps();
    for (const agent of ["dev", "scheduler"]) deps.logs.write({ agent, msg: `of ${agent}` });
    const { page } = deps.logs;
    let reads = 0;
    deps.logs.page = (query) =>
      query.agent === "dev" && ++reads === 1 ? Promise.reject(new Error("EMFILE")) : page(query);
    const { open } = await setUp(deps);
    const stream = await open(bearer, "?log=%3Fagent%3Ddev&log=%3Fagent%3Dscheduler");
    const events = () => stream.events().map(({ event }) => event);
    await expect.poll(events).toEqual(["snapshot", "log-1", "log-0"]);
  });
});

test("a background request asks only the scheduler, and prolongs no session", async () => {
  const sessions = memorySessions();
  const touch = vi.fn(sessions.touch);
  const { app, deps } = await openApp({ sessions: { ...sessions, touch } });
  const headers = { cookie: await logIn(app) };
  const ask = (url: string) => app.inject({ url, headers });
  const answer = await ask("/dashboard/api/scheduler");
  expect(answer.json()).toEqual(deps.operations.snapshot().scheduler);
  expect(touch).not.toHaveBeenCalled();
  await ask("/control/status");
  expect(touch).toHaveBeenCalledOnce();
  sessions.endAll();
  expect((await ask("/dashboard/api/scheduler")).statusCode).toBe(401);
});

describe("the texts of the status stream", () => {
  test("are a snapshot, then each update, serialized once for all clients", () => {
    const operations = fakeOperations([{ name: "dev" }]);
    operations.setAgent({ name: "before" });
    const events$ = statusEvents(operations)();
    const seen: string[][] = [[], []];
    const subscriptions = seen.map((texts) => events$.subscribe((text) => texts.push(text)));
    operations.setAgent({ name: "after" });
    for (const subscription of subscriptions) subscription.unsubscribe();
    const texts = [/snapshot\n.*"before"/, /update\n.*"after"/].map(
      (text) => expect.stringMatching(text) as string,
    );
    expect(seen[0]).toEqual(texts);
    // Equal ids: a text of its own would have counted on.
    expect(seen[1]).toEqual(seen[0]);
  });

  test("are the missed updates for a client that names its last one, else a snapshot", () => {
    const operations = fakeOperations([{ name: "dev" }]);
    const eventsSince = statusEvents(operations);
    const firstOf = (since?: number): string => {
      const texts: string[] = [];
      eventsSince(since)
        .subscribe((text) => texts.push(text))
        .unsubscribe();
      return texts.join("");
    };
    const open = eventsSince().subscribe();
    const id = Number(/^id: (\d+)/.exec(firstOf())?.[1]);
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
});
