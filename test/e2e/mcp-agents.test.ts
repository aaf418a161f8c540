import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { runSpanId } from "../../src/features/telemetry/trace-ids.ts";
import { ownUser } from "../helpers/command-agents.ts";
import { scriptedAgents, turn } from "../helpers/scripted-agents.ts";
import { toolResults } from "./asking-project.ts";
import { everythingServer, exampleServer, ownAddress } from "./mcp-servers.ts";
import { listen } from "../helpers/listen.ts";

vi.setConfig({ testTimeout: 120_000 });

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

test("an MCP server of the protocol revision 2026-07-28 is called with that revision and the run's trace", async () => {
  const [eras, traces]: [string[], unknown[]] = [[], []];
  const handler = createMcpHandler(({ era }) => {
    eras.push(era);
    const server = new McpServer({ name: "modern", version: "1" });
    server.registerTool("trace", { description: "Traces." }, (context) => {
      traces.push(context.mcpReq._meta?.traceparent);
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
      response.end(await answer.text());
    })();
  });
  onTestFinished(() => void server.close().closeAllConnections());
  const url = `http://${ownAddress()}:${await listen(server, 0, "0.0.0.0")}/mcp`;
  const { project, results } = await ran(
    `[[mcp]]\nname = "modern"\nurl = "${url}"\nprivate = true\ntools = ["trace"]\n`,
    turn("modern__trace", "{}"),
    '[telemetry]\notlp = "http://127.0.0.1:9"\n',
  );
  expect(results).toEqual([expect.stringContaining("traced")]);
  expect(new Set(eras)).toEqual(new Set(["modern"]));
  const spanId = runSpanId((await project.latest("worker"))?.instanceId ?? "");
  expect(traces).toEqual([expect.stringMatching(`^00-[0-9a-f]{32}-${spanId}-01$`)]);
});
