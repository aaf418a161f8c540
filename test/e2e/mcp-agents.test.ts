import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { runSpanId } from "../../src/features/telemetry/trace-ids.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { toolResults } from "./asking-project.ts";
import { everythingServer, exampleServer, ownAddress } from "./mcp-servers.ts";

const program = JSON.stringify(process.execPath);
const config = (mcp: string) =>
  `models = ["main"]\ncredentials = []\ncallable = true\nruntime = { type = "host-user", run_as = "$USER" }\n${mcp}`;
const turn = (name: string, args: string) =>
  `[[turns]]\n[[turns.tools]]\nname = "${name}"\narguments = ${args}\n`;

/** A project with one agent in pi, whose scripted model makes these calls. */
async function started(mcp: string, calls: string, more = ""): Promise<LiveProject> {
  const project = await LiveProject.of({
    "project/config.toml": `[models.main]\nprovider = "scripted"\nscript = "main.script.toml"\n${more}`,
    "project/main.script.toml": `${calls}[[turns]]\ntext = "Done."\n`,
    "project/agents/worker/SKILL.md": "Work.\n",
    "project/agents/worker/config.toml": config(mcp),
  });
  await project.start();
  return project;
}

async function ran(project: LiveProject) {
  await project.trigger("worker");
  await expect.poll(() => project.latest("worker"), slowly).toMatchObject({ outcome: "succeeded" });
}

test(
  "pi calls allowed tools of a server over HTTP and of a program inside the run",
  { timeout: 120_000 },
  async () => {
    const { url } = await everythingServer();
    const mcp = `
[[mcp]]
name = "all"
url = "${url}"
private = true
tools = ["echo", "get-s*"]
[[mcp]]
name = "files"
command = [${program}, ${JSON.stringify(exampleServer("filesystem"))}, "."]
tools = ["write_file", "read_text_file"]
`;
    const turns = [
      turn("all__echo", '{ message = "hello" }'),
      turn("files__write_file", '{ path = "note.txt", content = "by mcp" }'),
      turn("files__read_text_file", '{ path = "note.txt" }'),
      turn("all__get-env", "{}"),
    ].join("");
    const project = await started(mcp, turns);
    await ran(project);
    const results = await toolResults(project, "worker");
    const calls = await project.messages("worker", "mcp");
    expect(results[0]).toContain("Echo: hello");
    expect(results[2]).toContain("by mcp");
    expect(results[3]).toContain("not found");
    expect(calls.map((line) => line.replace(/\d+ ms, \d+ bytes/, "…"))).toEqual([
      "MCP all.echo: done after …",
      "MCP files.write_file: done after …",
      "MCP files.read_text_file: done after …",
    ]);
  },
);

test(
  "a server of the revision 2026-07-28 is called by it, with the trace of the run",
  { timeout: 120_000 },
  async () => {
    const eras: string[] = [];
    const traces: unknown[] = [];
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
    }).listen(0, "0.0.0.0");
    await once(server, "listening");
    onTestFinished(() => void server.close().closeAllConnections());
    const { port } = server.address() as AddressInfo;
    const url = `http://${ownAddress()}:${port}/mcp`;
    const project = await started(
      `[[mcp]]\nname = "modern"\nurl = "${url}"\nprivate = true\ntools = ["trace"]\n`,
      turn("modern__trace", "{}"),
      '[telemetry]\notlp = "http://127.0.0.1:9"\n',
    );
    await ran(project);
    expect((await toolResults(project, "worker")).join()).toContain("traced");
    expect(new Set(eras)).toEqual(new Set(["modern"]));
    const { instanceId } = (await project.latest("worker")) ?? {};
    expect(traces).toEqual([
      expect.stringMatching(`^00-[0-9a-f]{32}-${runSpanId(instanceId ?? "")}-01$`),
    ]);
  },
);
