import { valueAt } from "../../streams/where.ts";

const payload: unknown = JSON.parse(
  '{"a":{"b":"c"},"__proto__":{"x":"y"},"labels":[{"name":"bug"}]}',
);

test.each([
  ["a.b", "c"],
  ["labels.0.name", "bug"],
  ["labels.1.name", undefined],
  ["x", undefined],
  ["constructor", undefined],
  ["a.constructor.name", undefined],
  ["a.b.length", undefined],
])("the path %s finds own values only, and list items by their index: %s", (path, value) => {
  expect(valueAt(payload, path)).toBe(value);
});
