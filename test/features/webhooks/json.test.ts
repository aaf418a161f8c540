import { integer, parseObject, text, texts } from "../../../src/features/webhooks/json.ts";

test("only a JSON object in UTF-8 is accepted as a webhook payload", () => {
  expect(parseObject(Buffer.from('{"a":1}'))).toEqual({ a: 1 });
  for (const body of ["", "[1]", "null", '"text"', "1", "{", "a=b"]) {
    expect(parseObject(Buffer.from(body))).toBeNull();
  }
  expect(parseObject(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toBeNull();
});

test("reading several paths of a webhook payload returns the first text or number", () => {
  const payload = { a: "", b: 3, c: "text", d: "42", e: 1.5 };
  expect(text(payload, "a", "b", "c")).toBe("text");
  expect(text(payload, "a", "b")).toBeNull();
  expect(integer(payload, "c", "d", "b")).toBe(42);
  expect(integer(payload, "e", "missing")).toBeNull();
});

test("brackets in the path of a payload's value select every element, and each value is returned once", () => {
  const payload = { labels: [{ name: "a" }, { name: "b" }, { name: 3 }, null, { name: "a" }] };
  expect(texts(payload, "labels[].name", "labels.name", "none[].name")).toEqual(["a", "b"]);
  expect(texts({ projects: ["x", 1, "y"] }, "projects[]")).toEqual(["x", "y"]);
});
