import { jobRedactor, createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { encodedForms } from "../../../src/foundation/credentials/encoded-forms.ts";
import { aJob } from "../../runtime/harness/jobs.ts";
import { randomBytes } from "node:crypto";

function redactorOf(...secrets: string[]) {
  const redactor = createRedactor();
  redactor.add(secrets);
  return redactor;
}

const secret = 'p"ä/ss+w?rd\\$&';

test("createRedactor removes unknown API tokens, recognized by their form", () => {
  const token = `al_${"aB3_-".repeat(8)}xyz`;
  const { redact } = redactorOf(secret);
  expect(redact(`first\n${token}\nlast ${secret} ${token}`)).toBe(
    "first\n[redacted]\nlast [redacted] [redacted]",
  );
  expect(redact(`al_session ${token.slice(0, 40)}`)).toBe(`al_session ${token.slice(0, 40)}`);
});

const canary = `CANARY/AWS+SECRET/x9y8="z'7\`w6`;
const [bytes, digits] = [Buffer.from(canary), Buffer.from(canary).toString("hex")];
const pairs = digits.match(/../g) ?? [];
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const url = encodeURIComponent;
const percent = pairs.map((pair) => `%${pair}`).join("");
const wrapped = (text: string, length: number) =>
  text.replaceAll(new RegExp(`.{${length}}`, "g"), "$&\n");
const between = (text: string) => canary.split("").join(text);
/** As a program escapes these characters. */
const html = (names: Readonly<Record<string, string>>) =>
  canary.replaceAll(/[^\w]/g, (char) => (names[char] === undefined ? char : `&${names[char]};`));
const dump = (bar: string, size: number) =>
  pairs
    .join("")
    .match(/.{1,32}/g)
    ?.map((line, at) => {
      const words = line.match(new RegExp(`.{1,${size}}`, "g"))?.join(" ");
      const text = Buffer.from(line, "hex").toString();
      return `${(16 * at).toString(16).padStart(8, "0")}${bar === "" ? ":" : " "} ${words}  ${bar}${text}${bar}`;
    })
    .join("\n") ?? "";

/** What a terminal or a page does not show. */
const unseen = [
  "\u200b",
  "\u00ad",
  "\ufe0f",
  "\u{e0041}",
  "\u3164",
  "\u001b[0m",
  "\u001b]8;;http://x\u0007",
  "\u001b]0;x\u001b\\",
  "\u001bPq\u001b\\",
  "\u001b_x\u001b\\",
  "\u009b0m",
  "\u001b[1C",
];

test.each(
  Object.entries({
    plain: canary,
    "upper case": canary.toUpperCase(),
    "lower case": canary.toLowerCase(),
    backwards: canary.split("").toReversed().join(""),
    hex: digits,
    base64: bytes.toString("base64"),
    base64url: bytes.toString("base64url"),
    "base64 in a longer text": Buffer.from(`user:${canary}`).toString("base64").slice(7),
    "base64 in lines of 4": wrapped(bytes.toString("base64"), 4),
    "base64 of UTF-16": Buffer.from(canary, "utf16le").toString("base64"),
    "base64 of UTF-16 in a command": Buffer.from(`x "${canary}"`, "utf16le")
      .toString("base64")
      .slice(8),
    JSON: json(canary),
    "JSON five times": json(json(json(json(json(canary))))),
    "JSON of PHP": json(canary).replaceAll("/", "\\/"),
    "JSON of PHP three times": json(json(json(canary).replaceAll("/", "\\/"))),
    "JSON in \\u only": canary
      .split("")
      .map((char) => `\\u00${char.charCodeAt(0).toString(16)}`)
      .join(""),
    "a URL": url(canary),
    "a URL in lower case": url(canary).replaceAll(/%../g, (one) => one.toLowerCase()),
    "a URL of a form": new URLSearchParams({ a: canary }).toString().slice(2),
    "a URL in % only": percent,
    "a URL three times": url(url(url(canary))),
    "HTML of a browser": html({ "&": "amp", "<": "lt", '"': "quot", "'": "#39" }),
    "HTML of Go": html({ '"': "#34", "'": "#39", "+": "#43" }),
    "HTML of Mustache": html({ "/": "#x2F", "=": "#x3D", "`": "#x60", '"': "quot", "'": "#39" }),
    "HTML of Handlebars": html({ "=": "#x3D", "`": "#x60", '"': "quot", "'": "#x27" }),
    "HTML of PHP": html({ '"': "quot", "'": "#039" }),
    "HTML of XML": html({ '"': "quot", "'": "apos" }),
    "HTML of .NET": html({ '"': "quot", "'": "#x27", "+": "#x2B", "`": "#x60" }),
    "HTML by names": html({ "/": "sol", "+": "plus", "=": "equals", "'": "apos", "`": "grave" }),
    "HTML in JSON": json(html({ '"': "#34", "'": "#39", "+": "#43" })),
    "HTML in numbers only": canary
      .split("")
      .map((char) => `&#${char.charCodeAt(0)};`)
      .join(""),
    "HTML in hex only": pairs.map((pair) => `&#x${pair};`).join(""),
    "hex with spaces": pairs.join(" "),
    "upper hex with hyphens": pairs.join("-").toUpperCase(),
    "hex with commas": pairs.join(", "),
    "hex with \\x": pairs.map((pair) => `\\x${pair}`).join(""),
    "hex with 0x": pairs.map((pair) => `0x${pair}`).join(" "),
    "hex of an array in C": pairs.map((pair) => `0x${pair}`).join(", "),
    "hex in words": digits.replaceAll(/.{4}/g, "$& "),
    "the dump of od": dump("od", 2).replaceAll(/^0|  od.*$/gm, ""),
    "the dump of od without offsets": pairs.join(" ").replaceAll(/.{48}/g, "$&\n "),
    "the dump of xxd": dump("", 4),
    "the dump of hexdump -C": dump("|", 2),
    ...Object.fromEntries(
      unseen.map((one) => [`characters around ${JSON.stringify(one)}`, between(one)]),
    ),
    "lines of 3 characters": wrapped(canary, 3),
  }),
)("createRedactor removes a secret in this form: %s", (_, form) => {
  const { redact } = redactorOf(canary);
  const text = redact(`before\n${form}\nafter`);
  expect(text).toMatch(/^before\n[^]{0,12}\[redacted\][^]{0,6}\nafter$/);
});

test.each(["<begins-with-a-tag", "äbegins-with-an-umlaut"])(
  "createRedactor removes the secret %s from JSON within JSON, without storing more encoded forms",
  (value) => {
    const inner = value.replaceAll("ä", "\\u00e4").replaceAll("<", "\\u003c");
    expect(redactorOf(value).redact(JSON.stringify(inner))).toBe('"[redacted]"');
    expect(encodedForms(value)).toHaveLength(encodedForms("stand-in").length);
  },
);

test.each(["", "a", "me:", "user:x"])(
  "createRedactor removes a token that follows %j in a base64 text",
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
  for (const lines of [body, `${body}\n${body}2`]) {
    const { redact } = redactorOf(`-----BEGIN KEY-----\n${lines}\n-----END KEY-----`);
    expect(redact(`said: ${body}`)).toBe("said: [redacted]");
    expect(redact("-----BEGIN KEY-----")).toBe("-----BEGIN KEY-----");
  }
});

test("createRedactor removes each secret value of a credential file, and keeps addresses in it", () => {
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

test("createRedactor keeps short values, whose removal would make the text unreadable", () =>
  expect(redactorOf("12345", "").redact("12345 and 123456")).toBe("12345 and 123456"));

test("createRedactor forgets removed values unless another caller added them", () => {
  const redactor = redactorOf("the-secret", "shared-secret");
  const forget = redactor.add(["a-token-of-a-run", "shared-secret"]);
  expect(redactor.redact("a-token-of-a-run, shared-secret")).toBe("[redacted], [redacted]");
  forget();
  forget();
  const text = redactor.redact("a-token-of-a-run, shared-secret, the-secret");
  expect(text).toBe("a-token-of-a-run, [redacted], [redacted]");
});

test("createRedactor redacts nested values, keys and errors in a copy", () => {
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

test("createRedactor redacts values with cycles and deep nesting", () => {
  const { redactValue } = redactorOf("the-secret");
  const circle: Record<string, unknown> = { a: "the-secret" };
  circle.self = circle;
  expect(redactValue(circle)).toEqual({ a: "[redacted]", self: "[circular]" });
  let deep: unknown = "the-secret";
  for (let i = 0; i < 100; i++) deep = [deep];
  expect(JSON.stringify(redactValue(deep))).toContain("[too deep]");
});

test("jobRedactor removes the secrets of a run's credentials and the run's token, and keeps other words", () => {
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
