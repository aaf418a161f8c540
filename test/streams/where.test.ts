import { valueAt } from "../../streams/where.ts";

const payload: unknown = JSON.parse(
  '{"a":{"b":"c"},"__proto__":{"x":"y"},"labels":[{"name":"bug"}]}',
);

test.each([
  ["a.b", "c"],
  ["labels.0.name", "bug"],
])("valueAt returns the value at the path %s: %s", (path, value) => {
  expect(valueAt(payload, path)).toBe(value);
});

test.each(["labels.1.name", "x", "constructor", "a.constructor.name", "a.b.length"])(
  "valueAt returns undefined for the path %s, which leads to no own value",
  (path) => {
    expect(valueAt(payload, path)).toBeUndefined();
  },
);
