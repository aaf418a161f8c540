import type { ServerResponse } from "node:http";
import { answer, hostileServer } from "../../../e2e/hostile-mcp-server.ts";
import { pause } from "../../../helpers/pause.ts";
import { mcpClients } from "./clients.ts";

const json = "application/json";
const events = "text/event-stream";
const begin = (response: ServerResponse, type: string) =>
  response.writeHead(200, { "content-type": type });
const send = (response: ServerResponse, type: string, text: string) =>
  void begin(response, type).end(text);
/** A message without its end. */
const message = (id: number, field: string) => `{"jsonrpc":"2.0","id":${id},"${field}":`;
const values = (count: number) => `[${"{},".repeat(count)}1]`;
const manyValues = `{"content":[],"structuredContent":{"a":${values(150_000)}}}`;

/** Clients of a server with these tools, of the runs a and b. */
async function connected(behaviours: Parameters<typeof hostileServer>[0]) {
  const { url } = await hostileServer(behaviours);
  const { signal, connect } = mcpClients(url);
  const clients = { a: await connect("a"), b: await connect("b") };
  const call = (tool: string, run: "a" | "b" = "a", asked = signal) =>
    clients[run].call(tool, {}, { signal: asked });
  return { call, tools: () => clients.a.tools() };
}

test("an MCP response with too many values, as JSON or event stream, is rejected before parsing", async () => {
  const { call } = await connected({
    json: (response, { id }) => send(response, json, `${message(id, "result")}${manyValues}}`),
    // A comment with a quote would hide what follows from a counter of JSON that ignores lines.
    events: (response, { id }) =>
      send(response, events, `: "\\\ndata: ${message(id, "result")}${manyValues}}\n\n`),
    "hang-up": (response) => {
      begin(response, events).write("id: 1\ndata:\n\n", () => response.destroy());
    },
    text: (response, { id }) => answer(response, id, "[{},1],".repeat(150_000)),
  });
  for (const tool of ["json", "events"])
    await expect(call(tool)).rejects.toThrow("its answer has more than 200000 values");
  await expect(call("hang-up")).rejects.toThrow("its event stream ended without an answer");
  const text = JSON.stringify((await call("text")).content);
  expect(text).toContain("[the result was cut: it is longer than 256 KiB]");
  expect([text.length > 200 * 1024, text.length < 257 * 1024]).toEqual([true, true]);
});

test("long MCP responses to one run are received in turn, without delaying other runs", async () => {
  const open: { response: ServerResponse; id: number }[] = [];
  const { call } = await connected({
    long: (response, { id }) => {
      begin(response, json).write(" ".repeat(512 * 1024));
      open.push({ response, id });
    },
    short: (response, { id }) => answer(response, id, "short"),
  });
  const end = (at: number) =>
    open[at]?.response.end(`${message(open[at].id, "result")}{"content":[]}}`);
  const ended: number[] = [];
  const calls: Promise<unknown>[] = [];
  for (const at of [0, 1, 2]) {
    calls.push(call("long").then(() => ended.push(at)));
    await expect.poll(() => open.length).toBe(at + 1);
  }
  end(2);
  // They pass the one that waits.
  await call("short");
  const other = call("long", "b");
  await expect.poll(() => open.length).toBe(4);
  end(3);
  await other;
  expect(ended).toEqual([]);
  end(0);
  await Promise.all([calls[0], calls[2]]);
  expect(ended).toEqual([0, 2]);
  end(1);
  await calls[1];
});

test("all pages of an MCP tool list share one limit of values", async () => {
  const names = Array.from({ length: 7_000 }, (_, at) => `tool_${at}`);
  const { tools } = await connected(Object.fromEntries(names.map((name) => [name, () => {}])));
  await expect(tools()).rejects.toThrow("its answer has more than 100000 values");
});

test("the values in a page of MCP tools are counted even if the previous page ended inside a string", async () => {
  const { tools } = await connected({
    "tools/list": (response, { id, arguments: params }) => {
      const head = `${message(id, "result")}{"tools":[]`;
      if (JSON.stringify({ params }).includes("cursor"))
        send(response, json, `${head},"a":${values(60_000)}}}`);
      else send(response, events, `data: ${head},"nextCursor":"2"}}\n\n: "`);
    },
  });
  await expect(tools()).rejects.toThrow("its answer has more than 100000 values");
});

test("cancelled MCP calls release their memory and connections", async () => {
  const given = new AbortController();
  let [open, closed] = [0, 0];
  const { call } = await connected({
    stalled: (response) => {
      open += 1;
      response.once("close", () => (closed += 1));
      begin(response, json).write(" ".repeat(100 * 1024));
    },
    long: (response, { id }) => answer(response, id, "x".repeat(100 * 1024)),
  });
  const stalled = [call("stalled", "a", given.signal), call("stalled", "a", given.signal)];
  const settled = Promise.allSettled(stalled);
  await expect.poll(() => open).toBe(2);
  given.abort();
  await settled;
  await expect.poll(() => closed).toBe(2);
  expect(await call("long")).toMatchObject({ isError: false });
});

test("an MCP call reports its own error, not that of a concurrent call", async () => {
  const begun = Promise.withResolvers<() => void>();
  const { call } = await connected({
    slow: (response, { id }) => {
      const error = `{"code":-32000,"message":"too tired"}}`;
      begun.resolve(() => send(response, json, message(id, "error") + error));
    },
    moved: (response) => void response.writeHead(307, { location: "/else" }).end(),
  });
  const slow = call("slow").catch(String);
  const fail = await begun.promise;
  await expect(call("moved")).rejects.toThrow("it redirects to /else");
  fail();
  expect(await slow).toContain("too tired");
});

test("pings that an MCP server sends within a response are answered one at a time", async () => {
  const answers = { open: 0, most: 0 };
  let end = (): void => undefined;
  const ping = (_: unknown, id: number) => `data: ${message(id, "method")}"ping"}\n\n`;
  const { call } = await connected({
    many: (response, { id }) => {
      begin(response, events).write(Array.from({ length: 1_000 }, ping).join(""));
      end = () => response.end(`data: ${message(id, "result")}{"content":[]}}\n\n`);
    },
    answered: (response) => {
      answers.most = Math.max(answers.most, ++answers.open);
      void pause(200, "the next one must wait").then(() => {
        answers.open -= 1;
        response.writeHead(202).end(end);
      });
    },
  });
  expect(await call("many")).toMatchObject({ content: [] });
  expect(answers.most).toBe(1);
});
