import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { ReadableStream } from "node:stream/web";
import { fileURLToPath } from "node:url";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { StreamableHTTPServerTransport } from "mcp-sdk-v1/server/streamableHttp.js";
import { runSpanId } from "../../src/features/telemetry/trace-ids.ts";
import { ownUser } from "../helpers/command-agents.ts";
import { slowly } from "../helpers/live-project.ts";
import { scriptedAgents, turn } from "../helpers/scripted-agents.ts";
import { openQuestions, toolResults } from "./asking-project.ts";
import { growingServer } from "./growing-mcp-server.ts";
import { everythingServer, exampleServer, ownAddress } from "./mcp-servers.ts";
import { listen } from "../helpers/listen.ts";
import { pause } from "../helpers/pause.ts";

vi.setConfig({ testTimeout: 120_000 });
const growingProgram = fileURLToPath(new URL("./growing-mcp-server.ts", import.meta.url));

/** Runs an agent whose scripted model makes these calls; the project and the results of the calls. */
async function ran(mcp: string, turns: string, config = "") {
  const worker = { turns, config: ownUser + mcp };
  const project = await scriptedAgents({ worker }, config);
  await project.start();
  await project.print("run", "worker");
  return { project, results: await toolResults(project, "worker") };
}

test("a run in the pi harness calls allowed tools of an MCP server over HTTP and of an MCP program in the run", async () => {
  const { url } = await everythingServer();
  const mcp = `[[mcp]]
name = "all"
url = "${url}"
private = true
tools = ["echo", "get-s*"]
[[mcp]]
name = "files"
command = ["${process.execPath}", "${exampleServer("filesystem")}", "."]
tools = ["write_file", "read_text_file"]
[[mcp]]
name = "inside"
command = ["al-mcp", "all"]
tools = ["echo"]
`;
  const turns = [
    turn("all__echo", '{ message = "hello" }'),
    turn("files__write_file", '{ path = "note.txt", content = "by mcp" }'),
    turn("files__read_text_file", '{ path = "note.txt" }'),
    turn("all__get-env", "{}"),
    turn("inside__echo", '{ message = "by al-mcp" }'),
  ];
  const { project, results } = await ran(mcp, turns.join(""));
  for (const [at, text] of ["Echo: hello", "", "by mcp", "not found", "Echo: by al-mcp"].entries())
    expect(results[at]).toContain(text);
  const calls = await project.messages("worker", "mcp");
  expect(calls.map((line) => line.replace(/ done after \d+ ms, \d+ bytes/, ""))).toEqual([
    "MCP all.echo:",
    "MCP files.write_file:",
    "MCP files.read_text_file:",
    "MCP all.echo:",
    "MCP inside.echo:",
  ]);
});

/** A `growingServer` over HTTP. */
async function growingUrl(): Promise<string> {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
  await growingServer().connect(transport);
  const server = createServer(
    (request, response) => void transport.handleRequest(request, response),
  );
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://${ownAddress()}:${await listen(server, 0, "0.0.0.0")}/mcp`;
}

test.each([
  ["over HTTP", async () => `url = "${await growingUrl()}"\nprivate = true\n`],
  ["in the run", () => `command = ["${process.execPath}", "${growingProgram}"]\n`],
])(
  "a run in the pi harness has the tools that an MCP server %s adds meanwhile, if its config allows them, and not the removed ones",
  async (_where, server) => {
    const allowed = 'tools = ["grow*"]\n[approve]\ntools = ["it.grown"]\n';
    const tools = ["grow", "grown", "more", "grow"];
    const worker = {
      turns: tools.map((tool) => turn(`it__${tool}`, "{}")).join(""),
      config: `${ownUser}[[mcp]]\nname = "it"\n${await server()}${allowed}`,
    };
    const project = await scriptedAgents({ worker });
    await project.start();
    const run = project.print("run", "worker");
    const asked = async () => (await openQuestions(project)).get("worker");
    await expect.poll(asked, slowly).toMatchObject({ subject: "it.grown" });
    await project.post(`/api/questions/${(await asked())?.id}/answer`, { answer: "once" });
    await run;
    const results = ['"grew"', '"shrunk"', "it__more not found", "it__grow not found"];
    expect(await toolResults(project, "worker")).toEqual(
      results.map((result) => expect.stringContaining(result) as string),
    );
  },
);

test("an MCP server of the protocol revision 2026-07-28 is called with that revision and the run's trace, also its tools of later", async () => {
  const [eras, traces]: [string[], unknown[]] = [[], []];
  const handler = createMcpHandler(({ era }) => {
    eras.push(era);
    const server = new McpServer({ name: "modern", version: "1" });
    const names = traces.length === 0 ? ["trace"] : ["trace", "again"];
    for (const name of names)
      server.registerTool(name, { description: "Traces." }, async (context) => {
        traces.push(context.mcpReq._meta?.traceparent);
        handler.notify.toolsChanged();
        await pause(100, "the notification comes by another stream than the answer");
        return { content: [{ type: "text", text: "traced" }] };
      });
    return server;
  });
  const server = createServer((request, response) => {
    void (async () => {
      const headers = new Headers(request.headers as Record<string, string>);
      const init = { method: request.method ?? "POST", headers, body: await text(request) };
      const answer = await handler.fetch(new Request("http://modern.test/mcp", init));
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      Readable.fromWeb(answer.body as ReadableStream).pipe(response);
    })();
  });
  onTestFinished(() => void server.close().closeAllConnections());
  const url = `http://${ownAddress()}:${await listen(server, 0, "0.0.0.0")}/mcp`;
  const { project, results } = await ran(
    `[[mcp]]\nname = "modern"\nurl = "${url}"\nprivate = true\ntools = ["*"]\n`,
    ["trace", "again"].map((tool) => turn(`modern__${tool}`, "{}")).join(""),
    '[telemetry]\notlp = "http://127.0.0.1:9"\n',
  );
  expect(results.map((one) => one.includes("traced"))).toEqual([true, true]);
  expect(new Set(eras)).toEqual(new Set(["modern"]));
  const spanId = runSpanId((await project.latest("worker"))?.instanceId ?? "");
  const trace = expect.stringMatching(`^00-[0-9a-f]{32}-${spanId}-01$`) as string;
  expect(traces).toEqual([trace, trace]);
});
