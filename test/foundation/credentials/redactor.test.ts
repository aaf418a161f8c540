import { jobRedactor, createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { encodedForms } from "../../../src/foundation/contracts/encoded-forms.ts";
import { aJob } from "../../runtime/harness/jobs.ts";
import { randomBytes } from "node:crypto";
import fc from "fast-check";

function redactorOf(...secrets: string[]) {
  const redactor = createRedactor();
  redactor.add(secrets);
  return redactor;
}

const secret = 'p"ä/ss+w?rd\\$&';

test("createRedactor removes API tokens that it does not know by their form", () => {
  const token = `al_${"aB3_-".repeat(8)}xyz`;
  const { redact } = redactorOf(secret);
  expect(redact(`first\n${token}\nlast ${secret} ${token}`)).toBe(
    "first\n[redacted]\nlast [redacted] [redacted]",
  );
  expect(redact(`al_session ${token.slice(0, 40)}`)).toBe(`al_session ${token.slice(0, 40)}`);
});

test.each<[string, (value: string) => string]>([
  ["as it is", (value) => value],
  ["in JSON", (value) => JSON.stringify(value).slice(1, -1)],
  ["in JSON inside of JSON", (value) => JSON.stringify(JSON.stringify(value)).slice(3, -3)],
  ["in ASCII JSON", (value) => JSON.stringify(value).slice(1, -1).replace("ä", "\\u00e4")],
  ["in a URL", encodeURIComponent],
  [
    "in a lower-case URL",
    (value) => encodeURIComponent(value).replaceAll(/%../g, (code) => code.toLowerCase()),
  ],
  ["in base64", (value) => Buffer.from(value).toString("base64")],
  [
    "in base64 without padding",
    (value) => Buffer.from(value).toString("base64").replace(/=+$/, ""),
  ],
  ["in base64url", (value) => Buffer.from(value).toString("base64url")],
])("createRedactor removes a secret %s", (_, form) => {
  const { redact } = redactorOf(secret);
  expect(redact(`before ${form(secret)} after, ${form(secret)}`)).toMatch(
    /^before \[redacted\]=* after, \[redacted\]=*$/,
  );
});

test.each(["<begins-with-a-tag", "äbegins-with-an-umlaut"])(
  "createRedactor removes %s from JSON in JSON, in as many forms as a stand-in has",
  (value) => {
    const inner = value.replaceAll("ä", "\\u00e4").replaceAll("<", "\\u003c");
    expect(redactorOf(value).redact(JSON.stringify(inner))).toBe('"[redacted]"');
    expect(encodedForms(value)).toHaveLength(encodedForms("stand-in").length);
  },
);

test.each(["", "a", "me:", "user:x"])(
  "createRedactor removes it from the base64 of longer text: %j before it",
  (prefix) => {
    const token = "ghp_0123456789abcdef";
    const { redact } = redactorOf(token);
    const header = Buffer.from(`${prefix}${token}:`).toString("base64");
    expect(redact(header)).toMatch(/^.{0,9}\[redacted\].{0,4}$/);
  },
);

test("createRedactor removes the longest of secrets that begin alike", () => {
  const { redact } = redactorOf("abcdef", "abcdefghij");
  expect(redact("abcdefghij abcdefx")).toBe("[redacted] [redacted]x");
});

test("createRedactor removes each line of a private key, because logs are read by line", () => {
  const body = randomBytes(48).toString("base64");
  const { redact } = redactorOf(`-----BEGIN KEY-----\n${body}\n${body}2\n-----END KEY-----`);
  expect(redact(`said: ${body}`)).toBe("said: [redacted]");
  expect(redact("-----BEGIN KEY-----")).toBe("-----BEGIN KEY-----");
});

test("createRedactor removes a key whose body is one line", () => {
  const body = randomBytes(48).toString("base64");
  const { redact } = redactorOf(`-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----`);
  expect(redact(`said: ${body}`)).toBe("said: [redacted]");
});

test("createRedactor removes single values of a secret file, and keeps addresses", () => {
  const body = randomBytes(48).toString("base64");
  const account = JSON.stringify({
    type: "service_account",
    private_key: `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n`,
    token_uri: "https://oauth2.googleapis.com/token",
  });
  const { redact } = redactorOf(account, "users:\n- user:\n    token: abcdefghijklmnopqrstuvwx");
  expect(redact(`a ${body} b abcdefghijklmnopqrstuvwx`)).toBe("a [redacted] b [redacted]");
  expect(redact("https://oauth2.googleapis.com/token")).toContain("googleapis");
});

test("createRedactor keeps short values, whose removal would shred the text", () =>
  expect(redactorOf("12345", "").redact("12345 and 123456")).toBe("12345 and 123456"));

test("createRedactor forgets removed values, unless others added them too", () => {
  const redactor = redactorOf("the-secret", "shared-secret");
  const forget = redactor.add(["a-token-of-a-run", "shared-secret"]);
  expect(redactor.redact("a-token-of-a-run, shared-secret")).toBe("[redacted], [redacted]");
  forget();
  forget();
  const text = redactor.redact("a-token-of-a-run, shared-secret, the-secret");
  expect(text).toBe("a-token-of-a-run, [redacted], [redacted]");
});

test("createRedactor is empty once all is forgotten", () => {
  const redactor = createRedactor();
  redactor.add(["the-secret"])();
  expect(redactor.redact("the-secret")).toBe("the-secret");
});

test("createRedactor covers values, their keys and errors, and leaves the original unchanged", () => {
  const { redactValue } = redactorOf("the-secret");
  const value = {
    list: ["a the-secret", 1, null, { "the-secret": true }],
    error: Object.assign(new Error("got the-secret"), { code: "E", detail: "the-secret" }),
    date: new Date(0),
  };
  const redacted = redactValue(value);
  expect(redacted).toMatchObject({
    list: ["a [redacted]", 1, null, { "[redacted]": true }],
    error: { name: "Error", message: "got [redacted]", code: "E", detail: "[redacted]" },
    date: "1970-01-01T00:00:00.000Z",
  });
  expect(JSON.stringify(redacted)).not.toContain("the-secret");
  expect(value.list[0]).toBe("a the-secret");
});

test("createRedactor handles cycles and deep nesting", () => {
  const { redactValue } = redactorOf("the-secret");
  const circle: Record<string, unknown> = { a: "the-secret" };
  circle.self = circle;
  expect(redactValue(circle)).toEqual({ a: "[redacted]", self: "[circular]" });
  let deep: unknown = "the-secret";
  for (let i = 0; i < 100; i++) deep = [deep];
  expect(JSON.stringify(redactValue(deep))).toContain("[too deep]");
});

test("createRedactor never lets a secret through, in any context", () =>
  fc.assert(
    fc.property(fc.string({ minLength: 6 }), fc.string(), fc.string(), (value, before, after) => {
      const { redact } = redactorOf(value);
      if ("[redacted]".includes(value)) return;
      expect(redact(`${before}${value}${after}`)).toContain("[redacted]");
    }),
  ));

test("createRedactor is fast with hundreds of secrets", () => {
  const secrets = Array.from({ length: 300 }, () => randomBytes(30).toString("base64url"));
  const { redact } = redactorOf(...secrets);
  const line = randomBytes(24_000).toString("base64");
  redact(line);
  const start = performance.now();
  for (let i = 0; i < 10; i++) redact(line);
  // Measured: 5 ms for 32 KiB; a naive search needs seconds.
  expect((performance.now() - start) / 10).toBeLessThan(100);
});

test("createRedactor keeps redacting earlier secrets after more are added", () => {
  const redactor = redactorOf("first-secret");
  redactor.add(["second-secret"]);
  expect(redactor.redact("first-secret, second-secret")).toBe("[redacted], [redacted]");
});

test("jobRedactor removes a job's credentials and its token, and keeps other words", () => {
  const fields = {
    private_key: "line-one-of-the-key\nline-two-of-the-key",
    email: "dev@example.com",
  };
  const redact = jobRedactor(
    aJob("/w", {
      channel: { socket: "/s", token: "the-run-token" },
      credentials: [{ type: "git_ssh", instance: "default", fields, env: {} }],
    }),
  );
  expect(
    redact({ a: ["the-run-token line-two-of-the-key"], b: "dev@example.com", c: 5, d: null }),
  ).toEqual({ a: ["[redacted] [redacted]"], b: "dev@example.com", c: 5, d: null });
});
