import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { json } from "node:stream/consumers";
import { createInterface } from "node:readline";
import { mcpCommand } from "../../../../src/runtime/harness/mcp/mcp-command.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

/** A client of `al-mcp` in a run that gives one answer to all requests, and the requests that the run got. */
async function client(args: readonly string[], answer: object) {
  const asked: unknown[] = [];
  const socketPath = join(tempDir(), "run.sock");
  const run = createServer((request, response) => {
    void json(request).then((body) => {
      asked.push({ [request.url ?? ""]: body });
      response.end(JSON.stringify(answer));
    });
  });
  await once(run.listen(socketPath), "listening");
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const ended = mcpCommand(args, {
    env: { AL_RUN_SOCKET: socketPath },
    stdin,
    stdout,
    err: () => undefined,
  });
  onTestFinished(async () => {
    stdin.destroy();
    await ended;
    run.close().closeAllConnections();
  });
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  let id = 0;
  const ask = async (method: string, params: object) => {
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: (id += 1), method, params })}\n`);
    return (JSON.parse((await lines.next()).value as string) as { result: Result }).result;
  };
  const clientInfo = { name: "test", version: "1" };
  await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  return { ask, asked };
}

interface Result {
  readonly structuredContent?: unknown;
  readonly tools: readonly { readonly name: string }[];
}

test.each([
  ["3", { result: 3 }],
  ["[1]", { result: [1] }],
  ['{"a":1}', undefined],
  ["three", undefined],
])(
  "al-mcp repeats the result %s as structured content if it is JSON, but no object",
  async (text, structuredContent) => {
    const content = [{ type: "text", text }];
    const { ask } = await client(["hub"], { ok: true, content, isError: false });
    const result = await ask("tools/call", { name: "add", arguments: {} });
    expect(result).toMatchObject({ content, isError: false });
    expect(result.structuredContent).toEqual(structuredContent);
  },
);

test("al-mcp without a name has the requests of the run as tools", async () => {
  const { ask, asked } = await client([], { ok: true, answer: "yes" });
  const { tools } = await ask("tools/list", {});
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["al_ask", "al_lock", "al_call_wait", "wait_for_trigger"]),
  );
  const question = { question: "Deploy?" };
  expect(await ask("tools/call", { name: "al_ask", arguments: question })).toMatchObject({
    content: [{ type: "text", text: '{"ok":true,"answer":"yes"}' }],
    isError: false,
  });
  expect(asked).toEqual([{ "/ask": question }]);
  expect(await ask("tools/call", { name: "rm", arguments: {} })).toMatchObject({ isError: true });
});
