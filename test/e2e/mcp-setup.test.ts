import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { mcpClientSetups } from "../../src/interfaces/dashboard/pages/tokens/mcp-setup.tsx";
import { LiveProject } from "../helpers/live-project.ts";
import { realPrograms } from "../runtime/harness/llm-cli/real-programs.ts";

const bin = await realPrograms();

/** A scheduler, its setups by the names of clients, and the environment of a person with a token to read. */
async function assistant() {
  const project = await LiveProject.hello();
  await project.start();
  const made = await project.print("token", "new", "claude", "--scope", "read", "--json");
  const { token } = JSON.parse(made) as { readonly token: string };
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: project.path("../me"),
    ALMANAC_TOKEN: token,
  };
  const setups = mcpClientSetups(`${project.scheduler.url}/mcp`);
  const setupOf = (client: string) => setups.find(([name]) => name === client)?.[2] ?? "";
  return { project, env, token, setupOf };
}

test.skipIf(bin === null)(
  "the command on the page API tokens connects the real Claude Code",
  async () => {
    const { project, env, token, setupOf } = await assistant();
    await project.write("../me/.profile", "");
    const shell = async (line: string) =>
      (await promisify(execFile)("bash", ["-c", line], { cwd: env.HOME, env })).stdout;
    await shell(setupOf("Claude Code"));
    expect(await shell("claude mcp list")).toMatch(/almanac: http.*\/mcp \(HTTP\) - . Connected/);
    expect(await project.read("../me/.claude.json")).not.toContain(token);
  },
  60_000,
);

test.skipIf(bin === null)(
  "the config on the page API tokens gives the real Codex all tools",
  async () => {
    const { project, env, setupOf } = await assistant();
    await project.write("../me/.codex/config.toml", setupOf("Codex"));
    const codex = spawn(join(bin ?? "", "codex"), ["app-server"], {
      cwd: env.HOME,
      env,
      stdio: ["pipe", "pipe", "ignore"],
    });
    onTestFinished(() => void codex.kill());
    const clientInfo = { name: "almanac-test", version: "1" };
    for (const message of [
      { id: 1, method: "initialize", params: { clientInfo } },
      { method: "initialized" },
      { id: 2, method: "mcpServerStatus/list", params: {} },
    ]) {
      codex.stdin.write(`${JSON.stringify(message)}\n`);
    }
    for await (const line of createInterface(codex.stdout)) {
      const answer = JSON.parse(line) as {
        id?: number;
        result?: { data?: readonly { tools: object }[] };
      };
      if (answer.id !== 2) continue;
      expect(Object.keys(answer.result?.data?.[0]?.tools ?? {})).toHaveLength(13);
      return;
    }
    expect.unreachable("codex answered no list");
  },
  60_000,
);
