import { execFileSync } from "node:child_process";
import { isLong } from "../helpers/long.ts";
import { builtAl } from "../helpers/scheduler.ts";
import { mcpProject } from "./mcp-project.ts";

// 110 MB, which npm installs into its cache.
const inspector = "--yes --package=@modelcontextprotocol/inspector@2.12.0 -- mcp-inspector --cli";
const long = { timeout: 300_000 };

test.runIf(isLong)("the MCP inspector uses tools over HTTP and stdio", long, async () => {
  const project = await mcpProject();
  const header = `Authorization: Bearer ${project.scheduler.apiKey}`;
  for (const server of [
    [`${project.scheduler.url}/mcp`, "--transport", "http", "--header", header],
    ["-e", `AL_HOME=${project.home}`, process.execPath, builtAl, "mcp", "-p", project.dir],
  ]) {
    const ask = (args: string) => {
      const all = ["exec", ...inspector.split(" "), ...server, ...args.split(" ")];
      return execFileSync("npm", all, { encoding: "utf8" });
    };
    expect(ask("--method tools/list")).toContain("why_not");
    const called = ask("--method tools/call --tool-name why_not --tool-arg agent=quick");
    expect(called).toContain("structuredContent");
  }
});
