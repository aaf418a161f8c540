import type { ServerResponse } from "node:http";
import { createMcpConnect } from "../../../../src/runtime/run-api/mcp/connect.ts";
import { answer, hostileServer } from "../../../e2e/hostile-mcp-server.ts";

type Behaviours = Parameters<typeof hostileServer>[0];

const manyValues = `{"content":[],"structuredContent":{"a":[${"{},".repeat(150_000)}1]}}`;
const send = (response: ServerResponse, type: string, text: string) =>
  void response.writeHead(200, { "content-type": type }).end(text);

/** Connections of these runs to a server, by the real client. */
async function connected(behaviours: Behaviours, runs: readonly string[]) {
  const over = new AbortController();
  onTestFinished(() => over.abort());
  const { url } = await hostileServer(behaviours);
  const credential = () => Promise.reject(new Error("there is none"));
  const connect = createMcpConnect({ credential, env: {} }, () => null);
  const server = {
    name: "evil",
    url,
    command: null,
    tools: ["*"],
    credential: null,
    private: true,
    timeoutSeconds: 60,
  };
  const { signal } = over;
  const clients = await Promise.all(
    runs.map((instanceId) => connect(server, { instanceId, signal })),
  );
  const call = (run: string, tool: string, asked = signal) =>
    clients[runs.indexOf(run)]?.call(tool, {}, { signal: asked }) ??
    Promise.reject(new Error("no run"));
  return { call, tools: () => clients[0]?.tools() };
}

test("values of an answer are counted before they are parsed, in JSON and in event streams", async () => {
  const { call } = await connected(
    {
      json: (response, { id }) =>
        send(response, "application/json", `{"jsonrpc":"2.0","id":${id},"result":${manyValues}}`),
      // A comment with a quote would hide what follows from a counter of JSON that ignores lines.
      events: (response, { id }) =>
        send(
          response,
          "text/event-stream",
          `: "\\\ndata: {"jsonrpc":"2.0","id":${id},"result":${manyValues}}\n\n`,
        ),
      "hang-up": (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write("id: 1\ndata:\n\n", () => response.destroy());
      },
      text: (response, { id }) => answer(response, id, "[{},1],".repeat(150_000)),
    },
    ["a"],
  );
  for (const tool of ["json", "events"])
    await expect(call("a", tool)).rejects.toThrow("its answer has more than 200000 values");
  await expect(call("a", "hang-up")).rejects.toThrow("its event stream ended without an answer");
  const { content } = await call("a", "text");
  const bytes = JSON.stringify(content).length;
  expect(JSON.stringify(content)).toContain("[the result was cut: it is longer than 256 KiB]");
  expect([bytes > 200 * 1024, bytes < 257 * 1024]).toEqual([true, true]);
});

test("long answers of one run wait for each other, and not those of another run", async () => {
  const open: { response: ServerResponse; id: number }[] = [];
  const { call } = await connected(
    {
      long: (response, { id }) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write(" ".repeat(512 * 1024));
        open.push({ response, id });
      },
      short: (response, { id }) => answer(response, id, "short"),
    },
    ["a", "b"],
  );
  const result = JSON.stringify({ content: [{ type: "text", text: "long" }] });
  const end = (at: number) =>
    open[at]?.response.end(`{"jsonrpc":"2.0","id":${open[at].id},"result":${result}}`);
  const ended: number[] = [];
  const calls: Promise<unknown>[] = [];
  for (const at of [0, 1, 2]) {
    calls.push(call("a", "long").then(() => ended.push(at)));
    await expect.poll(() => open.length).toBe(at + 1);
  }
  end(2);
  // They pass the one that waits.
  await call("a", "short");
  calls.push(call("b", "long"));
  await expect.poll(() => open.length).toBe(4);
  end(3);
  await calls[3];
  expect(ended).toEqual([]);
  end(0);
  await Promise.all([calls[0], calls[2]]);
  expect(ended).toEqual([0, 2]);
  end(1);
  await calls[1];
});

test("all pages of a list of tools have one limit", async () => {
  const names = Array.from({ length: 7_000 }, (_, at) => `tool_${at}`);
  const { tools } = await connected(Object.fromEntries(names.map((name) => [name, () => {}])), [
    "a",
  ]);
  await expect(tools()).rejects.toThrow("its answer has more than 100000 values");
});

test("a page of a list that ends inside of a text hides no values of the next one", async () => {
  const pages = (
    response: ServerResponse,
    { id, arguments: params }: { id: number; arguments: unknown },
  ) => {
    const head = `{"jsonrpc":"2.0","id":${id},"result":{"tools":[]`;
    if (JSON.stringify({ params }).includes("cursor"))
      send(response, "application/json", `${head},"a":[${"{},".repeat(60_000)}1]}}`);
    else send(response, "text/event-stream", `data: ${head},"nextCursor":"2"}}\n\n: "`);
  };
  const { tools } = await connected({ "tools/list": pages }, ["a"]);
  await expect(tools()).rejects.toThrow("its answer has more than 100000 values");
});

test("calls that are given up leave the memory and their connections to later ones", async () => {
  const given = new AbortController();
  let [open, closed] = [0, 0];
  const { call } = await connected(
    {
      stalled: (response) => {
        open += 1;
        response.once("close", () => (closed += 1));
        response.writeHead(200, { "content-type": "application/json" });
        response.write(" ".repeat(100 * 1024));
      },
      long: (response, { id }) => answer(response, id, "x".repeat(100 * 1024)),
    },
    ["a"],
  );
  const stalled = [call("a", "stalled", given.signal), call("a", "stalled", given.signal)];
  const settled = Promise.allSettled(stalled);
  await expect.poll(() => open).toBe(2);
  given.abort();
  await settled;
  await expect.poll(() => closed).toBe(2);
  expect(await call("a", "long")).toMatchObject({ isError: false });
});

test("a call reports its own error, whatever happens to others meanwhile", async () => {
  let fail = (): unknown => undefined;
  const { call } = await connected(
    {
      slow: (response, { id }) => {
        const error = { code: -32_000, message: "too tired" };
        fail = () =>
          send(response, "application/json", JSON.stringify({ jsonrpc: "2.0", id, error }));
        begun.resolve(null);
      },
      moved: (response) => void response.writeHead(307, { location: "/else" }).end(),
    },
    ["a"],
  );
  const begun = Promise.withResolvers<null>();
  const slow = call("a", "slow").catch(String);
  await begun.promise;
  await expect(call("a", "moved")).rejects.toThrow("it redirects to /else");
  fail();
  expect(await slow).toContain("too tired");
});

test("requests of a server in an answer, such as pings, are answered one at a time", async () => {
  const answers = { open: 0, most: 0 };
  let end = (): void => undefined;
  const ping = (_: unknown, id: number) =>
    `data: ${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n\n`;
  const { call } = await connected(
    {
      many: (response, { id }) => {
        const pings = Array.from({ length: 1_000 }, ping).join("");
        response.writeHead(200, { "content-type": "text/event-stream" }).write(pings);
        const result = JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } });
        end = () => response.end(`data: ${result}\n\n`);
      },
      answered: (response) => {
        answers.most = Math.max(answers.most, ++answers.open);
        setTimeout(() => {
          answers.open -= 1;
          response.writeHead(202).end(end);
        }, 200);
      },
    },
    ["a"],
  );
  expect(await call("a", "many")).toMatchObject({ content: [] });
  expect(answers.most).toBe(1);
});
