import { readablePayload } from "../../../src/features/webhooks/interpret.ts";

const nested = (depth: number) => `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
const large = JSON.stringify(Array.from({ length: 200_000 }, (_, n) => n));
const opened = '{"action":"opened"}';
const form = "application/x-www-form-urlencoded";

test.each([
  ["indented", opened, '{\n  "action": "opened"\n}'],
  [
    "the indented JSON of its form",
    `payload=${encodeURIComponent(opened)}`,
    '{\n  "action": "opened"\n}',
    form,
  ],
  ["not indented when it is large", `{"commits":${large}}`],
  ["the text as it came when it can't be read", "{"],
  ["the text as it came when it is nested deep", nested(3_000)],
  ["the text as it came when it is nested without end", nested(400_000)],
])(
  "a webhook payload that is made readable for an agent is %s",
  (_, body, text = body, type = "application/json") => {
    const headers = { "content-type": type, "x-github-event": "issues" };
    expect(readablePayload({ type: "github", headers, body: Buffer.from(body) })).toBe(text);
  },
);
