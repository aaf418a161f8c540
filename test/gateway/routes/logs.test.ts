import { describe, expect, test, vi } from "vitest";
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

describe("the log stream of an agent", () => {
  test("begins with the last 100 lines and goes on with new ones", async () => {
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

  test("goes on after the last event that the client has", async () => {
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

  test("shows one run, and as many lines as asked for", async () => {
    const { url } = await setUp(10);
    const stream = await readStream(`${url}${path}?instance=dev-0&lines=2`, bearer);
    await expect.poll(() => messages(stream.events())).toEqual(["line 8", "line 10"]);
  });

  test("shows the first line of an agent that never ran", async () => {
    const { url, logs } = await setUp(0);
    const stream = await readStream(url + path, bearer);
    await expect.poll(() => stream.text()).toContain(":\n\n");
    logs.write({ agent: "dev", msg: "first" });
    await expect.poll(() => messages(stream.events())).toEqual(["first"]);
  });

  test("is there for the scheduler and for an agent that is gone, not for one that never was", async () => {
    const { url, logs } = await setUp(0);
    logs.write({ agent: "gone", msg: "last words" });
    const statusOf = async (agent: string): Promise<number> =>
      (await readStream(`${url}/dashboard/api/logs/${agent}/stream`, bearer)).status;
    expect(await statusOf("scheduler")).toBe(200);
    expect(await statusOf("gone")).toBe(200);
    expect(await statusOf("never")).toBe(404);
    expect(await statusOf("..%2fdev")).toBe(404);
  });

  test("asks for its agent alone, not for all", async () => {
    const deps = testDeps();
    const url = await startTcp(deps);
    const snapshot = vi.spyOn(deps.operations, "snapshot");
    expect((await readStream(url + path, bearer)).status).toBe(200);
    expect(snapshot).not.toHaveBeenCalled();
  });

  test.each(["lines=-1", "lines=x", "lines=10001"])("?%s is malformed", async (query) => {
    const { url } = await setUp(0);
    expect((await readStream(`${url}${path}?${query}`, bearer)).status).toBe(400);
  });
});

test("the stream over all agents mixes them", async () => {
  const { url, logs } = await setUp(1);
  const stream = await readStream(`${url}/api/logs/stream`, bearer);
  logs.write({ agent: "other", msg: "mine too" });
  await expect.poll(() => messages(stream.events())).toEqual(["line 1", "mine too"]);
});
