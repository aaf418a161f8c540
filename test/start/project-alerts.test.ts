import { alertOptionsOf } from "../../src/start/project-alerts.ts";
import { agentFiles, project, usualAgent, usualProject } from "../foundation/config/samples.ts";
import { createRedactor } from "../../src/foundation/credentials/redactor.ts";
import { anAgent } from "../helpers/agents.ts";
import { maskSecrets } from "../../src/runtime/runs/agent-detail.ts";

const now = project(
  `${usualProject}\n[alerts.ops]\ntype = "slack"\n[alerts.night]\ntype = "ntfy"\n[alert]\nto = ["ops"]\nafter = 3`,
);

/** The targets of an agent that runs with this list. */
function targetsOf(to: readonly string[] | null): readonly string[] | null {
  const alert = { ...now.alert, to };
  const record = () => ({ config: anAgent("dev", { alert }) });
  return alertOptionsOf({ agents: new Map(), record, project: () => now })("dev").to;
}

test("an agent's alerts reach only the targets that its config lists", () => {
  expect(targetsOf(["night"])).toEqual(["night"]);
  expect(targetsOf(["night", "gone"])).toEqual(["night", "gone"]);
  expect(targetsOf(null)).toBeNull();
  expect(targetsOf([])).toEqual([]);
});

test("alerts of an agent whose targets were all removed reach the project's targets", () =>
  expect(targetsOf(["gone"])).toEqual(["ops"]));

test("an agent without a valid config uses the project's alert options", () => {
  const broken = new Map([["dev", agentFiles(`${usualAgent}scale = -1`)]]);
  const own = new Map([["dev", agentFiles(`${usualAgent}[alert]\nafter = 5`)]]);
  const optionsOf = (agents: typeof own) =>
    alertOptionsOf({ agents, record: () => undefined, project: () => now })("dev");
  expect(optionsOf(broken)).toEqual(now.alert);
  expect(optionsOf(own)).toEqual({ ...now.alert, after: 5 });
});

test("the project's config in the API contains the names of a model's headers, not the values", () => {
  const [model] = anAgent("dev").models;
  if (model === undefined) throw new Error("the agent has no model");
  const agent = anAgent("dev", { models: [{ ...model, headers: { "X-Secret": "s3cret" } }] });
  expect(maskSecrets(agent, createRedactor()).models[0]?.headers).toEqual({ "X-Secret": "***" });
});

test("the project's config in the API omits the URL of a heartbeat", () => {
  const shown = (heartbeat: string | null) =>
    maskSecrets(anAgent("dev", { heartbeat }), createRedactor()).heartbeat;
  expect(shown("https://a.example/k")).toBe("***");
  expect(shown(null)).toBeNull();
});

test("the project's config in the API omits known secrets", () => {
  const redactor = createRedactor();
  redactor.add(["s3cret-of-a-tool"]);
  const agent = anAgent("dev", {
    instructions: "Send s3cret-of-a-tool.",
    params: { a: "s3cret-of-a-tool" },
  });
  expect(maskSecrets(agent, redactor)).toMatchObject({
    instructions: "Send [redacted].",
    params: { a: "[redacted]" },
  });
});
