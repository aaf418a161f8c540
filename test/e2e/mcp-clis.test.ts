import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { LiveProject } from "../helpers/live-project.ts";
import { tempUser, whyNoOsUsers } from "../helpers/os-users.ts";
import { fakeProvider, type SeenRequest } from "../runtime/harness/fake-provider.ts";
import { gemini } from "../runtime/harness/pi/wires/gemini.ts";
import { messages } from "../runtime/harness/pi/wires/messages.ts";
import { responses } from "../runtime/harness/pi/wires/responses.ts";
import { realPrograms } from "../runtime/harness/llm-cli/real-programs.ts";
import { toolResults } from "./asking-project.ts";
import { everythingServer, exampleServer } from "./mcp-servers.ts";

const bin = await realPrograms();
const wires = { claude: messages, codex: responses, gemini } as const;
const apis = {
  claude: "anthropic-messages",
  codex: "openai-responses",
  gemini: "google-generative-ai",
} as const;
type Program = keyof typeof wires;

/** The name by which a command line offers a tool to its model; the namespace is codex's. */
function offered(
  { body }: SeenRequest,
  tool: string,
): readonly [name: string, space: string | null] {
  const text = JSON.stringify(body);
  const space = new RegExp(
    `"type":"namespace","name":"([^"]*)"(?:(?!"namespace").)*"name":"${tool}"`,
  ).exec(text);
  if (space !== null) return [tool, space[1] ?? null];
  return [new RegExp(`"name":"([^"]*${tool})"`).exec(text)?.[1] ?? "", null];
}

/** A model that calls `echo`, then `read_text_file`, and is done. */
async function providerOf(program: Program) {
  const wire = wires[program];
  const seen: string[] = [];
  const provider = await fakeProvider((request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const body = JSON.stringify(request.body);
    seen.push(body);
    const [tool, key, value] = !body.includes("Echo: hello")
      ? ["echo", "message", "hello"]
      : body.includes("note-9f1c")
        ? []
        : ["read_text_file", "path", "note.txt"];
    if (tool === undefined || !body.includes(tool)) {
      return response.end(wire.stream({ kind: "text", text: "Done." }));
    }
    const [name, space] = offered(request, tool);
    const json = JSON.stringify({ [key ?? ""]: value });
    const calls = [{ id: `toolu_${seen.length}`, name, json }];
    const quoted = `"name":${JSON.stringify(name)}`;
    const named = space === null ? quoted : `${quoted},"namespace":${JSON.stringify(space)}`;
    response.end(wire.stream({ kind: "calls", calls }).replaceAll(quoted, named));
  });
  onTestFinished(() => provider.close());
  return { provider, seen };
}

test.skipIf(bin === null || whyNoOsUsers() !== null).each(["claude", "codex", "gemini"] as const)(
  "the real %s calls from its first request on tools of a server over HTTP and of a slow program inside the run, and no others",
  { timeout: 300_000 },
  async (program) => {
    const [user, { url }, { provider, seen }] = await Promise.all([
      tempUser(),
      everythingServer(),
      providerOf(program),
    ]);
    onTestFinished(() => user.remove());
    const project = await LiveProject.of({
      "project/config.toml": `[models.main]
provider = "custom"
model = "m-1"
api = "${apis[program]}"
baseUrl = "${new URL(provider.baseUrl).origin}"
`,
      "project/agents/worker/SKILL.md": "Work.\n",
      "project/agents/worker/config.toml": `models = ["main"]
credentials = []
callable = true
[harness]
type = "llm-cli"
command = "${join(bin ?? "", program)}"
[hooks]
pre = ["printf 'note-9f1c' > note.txt"]
[runtime]
type = "host-user"
run_as = "${user.name}"
[[mcp]]
name = "all"
url = "${url}"
private = true
tools = ["echo"]
[[mcp]]
name = "files"
command = ["sh", "-c", "sleep 7; exec ${process.execPath} ${exampleServer("filesystem")} ."]
tools = ["read_text_file"]
`,
      "home/credentials/custom_key/default/key": "key-of-the-model",
    });
    await chmod(project.path(".."), 0o755);
    await project.start();
    await project.print("run", "worker");
    const results = (await toolResults(project, "worker")).join("\n");
    expect(results).toMatch(/Echo: hello[^]*note-9f1c/);
    expect(seen[0]).toContain("read_text_file");
    expect(seen.join("")).not.toMatch(/get-sum|move_file/);
    expect((await project.messages("worker", "mcp")).join("\n")).toMatch(
      /MCP all\.echo: done after[^]*MCP files\.read_text_file: done after/,
    );
  },
);
