import { expect, test } from "vitest";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { toolResults } from "./asking-project.ts";
import { everythingServer, exampleServer } from "./mcp-servers.ts";

const program = JSON.stringify(process.execPath);
const config = (mcp: string, more = "") =>
  `models = ["main"]\ncredentials = []\ncallable = true\nruntime = { type = "host-user", run_as = "$USER" }\n${more}${mcp}`;
const turn = (name: string, args: string) =>
  `[[turns]]\n[[turns.tools]]\nname = "${name}"\narguments = ${args}\n`;

/** A project with one agent in pi, whose scripted model makes these calls. */
async function started(mcp: string, calls: string, more?: string): Promise<LiveProject> {
  const project = await LiveProject.of({
    "project/config.toml": `[models.main]\nprovider = "scripted"\nscript = "main.script.toml"\n`,
    "project/main.script.toml": `${calls}[[turns]]\ntext = "Done."\n`,
    "project/agents/worker/SKILL.md": "Work.\n",
    "project/agents/worker/config.toml": config(mcp, more),
  });
  await project.start();
  return project;
}

async function ran(project: LiveProject) {
  await project.trigger("worker");
  await expect.poll(() => project.latest("worker"), slowly).toMatchObject({ outcome: "succeeded" });
}

test("pi calls allowed tools of a server over HTTP and of a program inside the run", async () => {
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
});
