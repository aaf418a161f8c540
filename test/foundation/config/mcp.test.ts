import { allowsTool } from "../../../src/foundation/contracts/mcp.ts";
import { agentFacts } from "../../../src/foundation/config/agent-view.ts";
import { agent, agentChange, said, usualAgent } from "./samples.ts";

const server = (text: string, more = "") =>
  `${usualAgent}[[mcp]]\nname = "github"\n${text}\n${more}`;
const url = 'url = "https://mcp.example.com/mcp"';
const problemOf = (text: string, more = ""): string => said(agentChange(server(text, more))).join();

test("[[mcp]] accepts servers with a url and with a command", () => {
  const more = '[[mcp]]\nname = "files"\ncommand = ["files", "."]\ntools = ["repo/create"]\n';
  const { mcp } = agent(server(`${url}\ntools = ["get_*"]\ncredential = "mcp_token"`, more));
  const shared = { private: false, timeoutSeconds: 60 };
  const [remote, local] = mcp;
  const at = { url: "https://mcp.example.com/mcp", command: null, credential: "mcp_token" };
  expect(remote).toEqual({ name: "github", tools: ["get_*"], ...at, ...shared });
  const run = { url: null, command: ["files", "."], credential: null };
  expect(local).toEqual({ name: "files", tools: ["repo/create"], ...run, ...shared });
});

test.each([
  [url, "mcp[0].tools is missing; expected a list of the tools that the agent may call"],
  [`tools = ["a"]`, "mcp[0] needs either url or command"],
  [`${url}\ncommand = ["a"]\ntools = ["a"]`, "mcp[0] needs either url or command"],
  [`command = ["a"]\ntools = ["a"]\ncredential = "mcp_token"`, "apply to a url only"],
  [`url = "http://a.example.com/"\ntools = ["a"]\ncredential = "mcp_token"`, "unencrypted"],
  [`url = "https://me:secret@a.example.com/"\ntools = ["a"]`, "without a name and a password"],
  [`${url}\ntools = ["a"]\ncredential = "slack_webhook"`, "a credential for runs"],
  [`${url}\ntools = ["a"]\n[[mcp]]\nname = "github"\n${url}\ntools = ["a"]`, "name of another"],
])("[[mcp]] refuses %j", (text, expected) => expect(problemOf(text)).toContain(expected));

test("[[mcp]] warns if [approve] names a tool that the agent does not have", () => {
  const held = (name: string) =>
    problemOf(`${url}\ntools = ["search"]`, `[approve]\ntools = ["${name}"]\n`);
  expect(held("github.search")).toBe("");
  expect(held("github.*")).toBe("");
  expect(held("github.delete")).toContain("tools of [[mcp]] github does not name it");
  expect(held("gitlab.search")).toContain('known are "github"');
});

test("agentFacts shows the tools of each server of [[mcp]]", () =>
  expect(
    agentFacts(agent(server(`${url}\ntools = ["search", "get_*"]`)), () => null),
  ).toContainEqual({
    label: "MCP servers",
    values: ["github: search, get_*"],
  }));

test("allowsTool matches a pattern with the whole name of a tool", () => {
  expect(allowsTool(["get_*", "a.b"], "get_issue")).toBe(true);
  expect(allowsTool(["get_*", "a.b"], "forget_issue")).toBe(false);
  expect(allowsTool(["get_*", "a.b"], "axb")).toBe(false);
});
