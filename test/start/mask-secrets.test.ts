import { expect, it } from "vitest";
import { maskSecrets } from "../../src/interfaces/operations/operations.ts";
import { anAgent } from "../helpers/agents.ts";

it("the config that the gateway shows has the names of a model's headers, not the values", () => {
  const [model] = anAgent("dev").models;
  if (model === undefined) throw new Error("the agent has no model");
  const agent = anAgent("dev", { models: [{ ...model, headers: { "X-Secret": "s3cret" } }] });
  expect(maskSecrets(agent).models[0]?.headers).toEqual({ "X-Secret": "***" });
});

it("nor has it the URL of a heartbeat", () => {
  expect(maskSecrets(anAgent("dev", { heartbeat: "https://a.example/k" })).heartbeat).toBe("***");
  expect(maskSecrets(anAgent("dev")).heartbeat).toBeNull();
});
