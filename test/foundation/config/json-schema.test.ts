import { describe, expect, it } from "vitest";
import { agentJsonSchema, projectJsonSchema } from "../../../src/foundation/config/json-schema.ts";
import { filterTable } from "../../../src/features/webhooks/providers/table.ts";

interface Node {
  readonly properties: Readonly<Record<string, Node>>;
  readonly items: Node;
  readonly additionalProperties: Node | false;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly description?: string;
}

const agent = agentJsonSchema(filterTable) as unknown as Node;
const project = projectJsonSchema(filterTable) as unknown as Node;

describe("the JSON Schema of an agent's config.toml", () => {
  it("requires what has no default, and nothing else", () => {
    expect(agent.required).toEqual(["models", "credentials"]);
  });

  it("knows the filters of every type of source, and refuses other keys", () => {
    const entry = agent.properties.webhooks?.items;
    const filters = Object.values(filterTable).flatMap((fields) => Object.keys(fields));
    expect(Object.keys(entry?.properties ?? {})).toEqual(
      expect.arrayContaining(["source", ...filters]),
    );
    expect(entry?.additionalProperties).toBe(false);
    expect(agent.additionalProperties).toBe(false);
  });

  it("explains fields with what the config's errors say", () => {
    expect(agent.properties.timeout?.description).toContain("a whole number of seconds");
  });
});

describe("the JSON Schema of the project's config.toml", () => {
  it("requires nothing, and lists the types of webhook sources", () => {
    expect(project.required).toBeUndefined();
    const source = project.properties.webhooks?.additionalProperties;
    expect(source !== false && source?.properties.type?.enum).toEqual(Object.keys(filterTable));
  });
});
