import { readablePayload } from "../../../src/features/webhooks/interpret.ts";

const read = (contentType: string, body: string): string =>
  readablePayload({
    type: "github",
    headers: { "content-type": contentType, "x-github-event": "issues" },
    body: Buffer.from(body),
  });

test("a stored payload as an agent reads it is the JSON that came, indented", () =>
  expect(read("application/json", '{"action":"opened"}')).toBe('{\n  "action": "opened"\n}'));

test("a stored payload as an agent reads it is the JSON inside a form", () => {
  const form = `payload=${encodeURIComponent('{"action":"opened"}')}`;
  expect(read("application/x-www-form-urlencoded", form)).toBe('{\n  "action": "opened"\n}');
});

test("a stored payload as an agent reads it is not indented when it is large", () => {
  const body = JSON.stringify({ commits: Array.from({ length: 200_000 }, (_, n) => n) });
  expect(read("application/json", body)).toBe(body);
});

test("a stored payload as an agent reads it is the text as it came when it can't be read", () =>
  expect(read("application/json", "{")).toBe("{"));

test.each([3_000, 400_000])(
  "a stored payload as an agent reads it is the text as it came when it is nested %i deep",
  (depth) => {
    const body = `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    expect(read("application/json", body)).toBe(body);
  },
);
