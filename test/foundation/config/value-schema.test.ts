import { schemaMismatch, schemaProblem } from "../../../src/foundation/config/value-schema.ts";

function problemIn(text: string): string | null {
  const problem = schemaProblem(text);
  return problem && `${problem.line}:${problem.column} ${problem.message}`;
}

function reason(schema: object | boolean, value: unknown): string | null {
  const found = schemaMismatch({ file: "out.json", text: JSON.stringify(schema) }, value);
  return found && found.replace("the returned value does not match out.json: ", "");
}

const draft07 = "http://json-schema.org/draft-07/schema#";
const draft2020 = "https://json-schema.org/draft/2020-12/schema";

test.each([["true"], ['{"$id":"https://a.example/x","format":"email","x-own":1}']])(
  "the JSON Schema %s is accepted for the value that an agent returns",
  (text) => expect(problemIn(text)).toBeNull(),
);

test.each([
  ["", "1:1 not valid JSON: Unexpected end of JSON input"],
  ['{\n  "type": object\n}', "2:11 not valid JSON: Unexpected token 'o'"],
  ['{\n  "a": 1,\n}', "3:1 not valid JSON: Expected double-quoted property name"],
  ["[]", "1:1 it must be object,boolean"],
  ['{"properties":{\n"a/b": { "type": "strin" } }}', "2:18 /properties/a~1b/type must be equal to"],
  [
    '{\n  "$schema": "http://json-schema.org/draft-04/schema#"\n}',
    '2:14 "$schema" names an unknown draft; expected "https://json-schema.org/draft/2020',
  ],
])("the JSON Schema %j is rejected: %s", (text, message) => {
  expect(problemIn(text)).toContain(message);
});

test("a value is rejected with the reason that its JSON Schema can't be evaluated", () => {
  expect(reason({ pattern: "(a" }, "a")).toContain("can't be checked: Invalid regular expression");
  expect(reason({ $ref: "#/$defs/x" }, 1)).toContain("can't resolve reference #/$defs/x");
  expect(reason({ $ref: "https://a.example/c" }, 1)).toContain("can't resolve reference");
  expect(reason({ $async: true }, 1)).toBe('"$async" is not a keyword of JSON Schema');
  expect(reason({ $ref: "#" }, 1)).toContain("can't be checked: Maximum call stack");
});

test("a JSON Schema is not compiled when it is loaded, as compiling a hostile one takes seconds", () =>
  expect(problemIn('{"pattern":"(a"}')).toBeNull());

test("a deeply nested JSON Schema is reported as a problem, without a crash", () => {
  const depth = 50_000;
  const text = `${'{"not":'.repeat(depth)}{}${"}".repeat(depth)}`;
  expect(problemIn(text)).toContain("Maximum call stack size exceeded");
});

const issue = {
  type: "object",
  required: ["id"],
  properties: { id: { type: "integer" }, labels: { type: "array", items: { type: "string" } } },
  additionalProperties: false,
};

test("a value that conforms to its JSON Schema is accepted", () => {
  expect(reason(issue, { id: 1, labels: ["a"] })).toBeNull();
  expect(reason({ format: "email" }, "no address")).toBeNull();
  expect(reason(true, null)).toBeNull();
});

test.each([
  [issue, { id: 1, more: 1 }, 'it must NOT have additional properties ("more")'],
  [{ enum: ["a", "b"] }, "c", 'it must be equal to one of the allowed values (["a","b"])'],
])("the JSON Schema %j rejects the value %j with a reason", (schema, value, text) => {
  expect(reason(schema, value)).toContain(text);
});

test("a value is checked by the JSON Schema draft that its schema names", () => {
  const items = [{ type: "string" }];
  expect(reason({ $schema: draft07, items }, [1])).toBe("/0 must be string");
  expect(reason({ $schema: draft2020, prefixItems: items }, [1])).toBe("/0 must be string");
});

test('a JSON Schema can check a value with members like "__proto__" and "constructor"', () => {
  const value: unknown = JSON.parse('{"__proto__": 1, "constructor": 2}');
  expect(reason({ required: ["toString"] }, value)).toContain("required property 'toString'");
  const closed = { properties: { constructor: { type: "string" } } };
  expect(reason(closed, value)).toBe("/constructor must be string");
  expect(reason(closed, {})).toBeNull();
});
