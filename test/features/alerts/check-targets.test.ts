import type { AlertTargetType } from "../../../streams/alert-options.ts";
import { alertLink } from "../../../src/features/alerts/alert-messages.ts";
import { targetProblem } from "../../../src/features/alerts/send-alert.ts";
import type { Fields } from "../../../src/features/alerts/target.ts";
import { alertCredentialTypes } from "../../../src/foundation/config/fields.ts";
import { credentialType } from "../../../src/foundation/credentials/credential-types.ts";
import { fakeApis, telegramToken, webhookSecret } from "./fake-apis.ts";
import { targetOf } from "./samples.ts";

const smtp = { host: "mail.example.com", from: "al@example.com" };
const problemOf = (type: AlertTargetType, fields: Fields): string | null =>
  targetProblem(targetOf(type), fields);

test.each(Object.entries(fakeApis))(
  "a target's credential of %s is valid and gives no message",
  (type, { fields }) =>
    expect(problemOf(type as AlertTargetType, fields("https://example.com"))).toBeNull(),
);

test("a target's credential of e-mail is valid in all its forms", () => {
  for (const more of [{}, { tls: "implicit" }, { port: "25", tls: "none" }]) {
    expect(problemOf("email", { ...smtp, ...more })).toBeNull();
  }
  expect(problemOf("email", { ...smtp, from: "Almanac <al@example.com>" })).toBeNull();
});

const wrong: readonly (readonly [AlertTargetType, Fields, string])[] = [
  ["slack", {}, "its field url is missing"],
  ["slack", { url: "hooks.slack.com/services/secret" }, "is not an address"],
  ["slack", { bot_token: "xapp-secret-a", channel: "#ops" }, "does not begin with xoxb-"],
  ["slack", { bot_token: "xoxb-1", channel: "#my ops" }, "its field channel is neither"],
  ["slack", { bot_token: "xoxb-1", channel: "C0OPS", app_token: "xoxb-1" }, "begin with xapp-"],
  ["discord", { url: "ftp://example.com/secret" }, "is not an address"],
  ["teams", { url: "https://user:secret@example.com/" }, "has a user or password in it"],
  ["telegram", { token: "secret", chat: "-100123" }, "its field token is not of the form"],
  ["telegram", { token: telegramToken, chat: "my group" }, "its field chat is neither"],
  ["ntfy", { url: "https://ntfy.sh/" }, "does not end with a topic"],
  ["webhook", { url: "https://example.com", secret: "secret" }, "is not whsec_ and"],
  ["webhook", { url: "https://example.com", secret: "whsec_c2hvcnQ=" }, "24 to 64 bytes"],
  ["email", { ...smtp, host: "" }, "its field host is missing"],
  ["email", { ...smtp, port: "70000" }, "its field port is not a number"],
  ["email", { ...smtp, tls: "yes" }, 'its field tls is not "starttls"'],
  ["email", { ...smtp, user: "a" }, "its field password is missing"],
  ["email", { ...smtp, from: "a@b\r\nBcc: c@d" }, "its field from is not an e-mail address"],
];
test.each(wrong)(
  "a target's credential of %s with %o is rejected without being quoted",
  (type, fields, problem) => {
    expect(problemOf(type, fields)).toContain(problem);
    expect(problemOf(type, fields)).not.toContain("secret@");
    expect(problemOf(type, fields)).not.toContain("/secret");
  },
);

test("a target's credential has the fields of its type", () => {
  for (const [type, { fields }] of Object.entries(fakeApis)) {
    const known = credentialType(alertCredentialTypes[type as AlertTargetType])?.fields ?? {};
    expect(Object.keys(known)).toEqual(
      expect.arrayContaining(Object.keys(fields("https://example.com"))),
    );
  }
  expect(webhookSecret).toMatch(/^whsec_/);
});

const base = "https://al.example.test/almanac";
test("the link of an alert is the run's log, the agent's page, the dead letters, the cost, or the alerts", () => {
  expect(alertLink(base, { topic: "runs", agent: "dev", instanceId: "dev-1" })).toBe(
    "https://al.example.test/almanac/dashboard/agents/dev/runs/dev-1",
  );
  expect(alertLink(base, { topic: "runs", agent: "dev", instanceId: null })).toBe(
    "https://al.example.test/almanac/dashboard/agents/dev",
  );
  expect(alertLink(`${base}/`, { topic: "config", agent: null, instanceId: null })).toBe(
    "https://al.example.test/almanac/dashboard/alerts",
  );
  expect(alertLink(base, { topic: "dead_letters", agent: "dev", instanceId: null })).toBe(
    "https://al.example.test/almanac/dashboard/triggers?agent=dev&dead=true",
  );
  expect(alertLink(base, { topic: "budget", agent: "dev", instanceId: null })).toBe(
    "https://al.example.test/almanac/dashboard/cost",
  );
  expect(alertLink(null, { topic: "runs", agent: "dev", instanceId: "dev-1" })).toBeNull();
});
