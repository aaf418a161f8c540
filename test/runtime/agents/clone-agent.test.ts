import { readdirSync } from "node:fs";
import { fileOperations } from "../../../src/runtime/agents/operations.ts";
import { inProcess, operationAt } from "../../../src/foundation/perform.ts";
import { agentProject } from "./agent-project.ts";

const dev = 'models = ["main"]\nschedule = "0 9 * * *"\n';

async function setUp(project = "") {
  const opened = await agentProject({ dev, project });
  const { context, edits: files, write } = opened;
  write("agents/dev/scripts/look.sh", "echo\n");
  const agentHosts = () => Promise.reject(new Error("not asked"));
  const clone = (to: string, name = "dev"): unknown => {
    const { row, input } = operationAt(fileOperations, "POST /api/agents/:name/clone", {
      name,
      to,
    });
    return row.perform(input, { ...context, files, agentHosts }, inProcess);
  };
  return { ...opened, clone };
}

test("a clone has all files of its agent, and is disabled", async () => {
  const { clone, context, read, pathOf } = await setUp();
  expect(await clone("next")).toEqual({ success: true, agent: "next" });
  expect(read("agents/next/config.toml")).toBe(dev);
  expect(read("agents/next/scripts/look.sh")).toBe("echo\n");
  expect(["dev", "next"].map(context.switches.isEnabled)).toEqual([true, false]);
  expect(readdirSync(pathOf("agents")).sort()).toEqual(["dev", "next"]);
});

test.each([
  ["of an agent that the project does not have", "next", "gone", "", "unknown_agent"],
  ["to the name of another agent", "dev", "dev", "", "conflict"],
  ["out of the project", "../next", "dev", "", "malformed"],
  ["where people may not edit", "next", "dev", "[gateway]\nedit = false\n", "read_only"],
])("a clone %s is refused, and nothing is written", async (_what, to, name, project, code) => {
  const { clone, context, pathOf } = await setUp(project);
  await expect(clone(to, name)).rejects.toMatchObject({ code });
  expect(readdirSync(pathOf("agents"))).toEqual(["dev"]);
  expect(context.switches.isEnabled("dev")).toBe(true);
});
