import { expect, test } from "vitest";
import { boundsText, schemaText } from "../../../../src/interfaces/gateway/api/schema-text.ts";

test.each([
  [{ type: "string" }, "string"],
  [{}, "any"],
  [{ const: true }, "true"],
  [{ $ref: "#/components/schemas/Agent" }, "Agent"],
  [{ enum: ["a", "b"] }, '"a" | "b"'],
  [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
  [{ type: ["integer", "null"] }, "integer | null"],
  [{ type: "array", items: { enum: [1, 2] } }, "(1 | 2)[]"],
  [{ type: "array", items: { $ref: "#/components/schemas/Agent" } }, "Agent[]"],
  [{ type: "array", prefixItems: [{ type: "integer" }, {}], items: false }, "[integer, any]"],
  [{ type: "object", additionalProperties: {} }, "object"],
])("%j reads %s", (schema, text) => {
  expect(schemaText(schema)).toBe(text);
});

test.each([
  [{ minimum: 1, maximum: 200, default: 50 }, "1–200, default 50"],
  [{ minimum: 1 }, "1 or more"],
  [{ default: "x" }, 'default "x"'],
  [{ type: "string" }, ""],
])("%j holds within %s", (schema, text) => {
  expect(boundsText(schema)).toBe(text);
});

test("an object is one line while it is short, with a mark at what may be left out", () => {
  const properties = { a: { type: "string" }, b: { type: "integer" } };
  expect(schemaText({ type: "object", properties, required: ["a"] })).toBe(
    "{ a: string, b?: integer }",
  );
});

test("an object with remarks gets a line for each field", () => {
  const inner = { type: "object", properties: { x: { type: "string", description: "Why" } } };
  expect(schemaText({ type: "object", properties: { inner }, required: ["inner"] })).toBe(
    "{\n  inner: {\n    x?: string  // Why\n  }\n}",
  );
});
