import { sleepingProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { slowly } from "../helpers/live-project.ts";
import { toolResults } from "./asking-project.ts";
import { everythingServer } from "./mcp-servers.ts";

const { engine, missing } = await testEngine();

test.skipIf(missing !== null)(
  "a run in a container reaches a server over HTTP in pi, and by al-mcp, which is its server over stdio",
  { timeout: engineSetupMs },
  async () => {
    const [{ url }] = await Promise.all([everythingServer(), defaultTestImage(engine)]);
    const project = await sleepingProject(engine, { sleepSeconds: 0 });
    await project.append(
      "agents/boxed/config.toml",
      `[[mcp]]\nname = "all"\nurl = "${url}"\nprivate = true\ntools = ["echo"]\n[[mcp]]\nname = "inside"\ncommand = ["al-mcp", "all"]\ntools = ["echo"]\n`,
    );
    const call = (name: string, args: string) =>
      `[[turns]]\n[[turns.tools]]\nname = "${name}"\narguments = ${args}\n`;
    await project.write(
      "boxed.script.toml",
      [
        call("all__echo", '{ message = "by pi" }'),
        call("inside__echo", '{ message = "by al-mcp" }'),
        call("bash", `{ command = "curl -sS --max-time 5 ${url}" }`),
      ].join(""),
    );
    await project.start();
    await project.trigger("boxed");
    const ended = () => project.latest("boxed");
    await expect.poll(ended, slowly).toMatchObject({ outcome: "succeeded" });
    const results = await toolResults(project, "boxed");
    expect(results.slice(0, 2)).toEqual([
      expect.stringContaining("Echo: by pi"),
      expect.stringContaining("Echo: by al-mcp"),
    ]);
    // The run itself has no way to the server.
    expect(results[2]).toContain("has an address in a private network only");
    const calls = await project.messages("boxed", "mcp");
    expect(calls.map((line) => line.split(":")[0])).toEqual([
      "MCP all.echo",
      "MCP all.echo",
      "MCP inside.echo",
    ]);
  },
);
