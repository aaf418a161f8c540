import { everythingServer } from "../../e2e/mcp-servers.ts";
import { agentConfig, ward } from "./support.ts";

test("the doctor checks that MCP servers have the tools that agents' configs name", async () => {
  const { url, child } = await everythingServer();
  ward.toAgent(
    `[[mcp]]\nname = "all"\nurl = "${url}"\nprivate = true\ntools = ["echo", "get-*"]\ntimeout = 5`,
  );
  const found = () => ward.found("mcp servers");
  expect(await found()).toMatchObject([
    { severity: "ok", what: "the MCP server all has the tools that dev lists" },
  ]);
  ward.edit(agentConfig, '"get-*"', '"delete-*"');
  const where = "agents/dev/config.toml [[mcp]] all";
  expect(await found()).toMatchObject([
    { severity: "warning", what: "the MCP server all has no tool delete-*", where },
  ]);
  child.kill("SIGKILL");
  expect(await found()).toMatchObject([{ severity: "error", where }]);
});
