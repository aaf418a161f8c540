import type { AlertTargetType } from "../../../streams/alert-options.ts";
import { alertLink } from "../../../src/features/alerts/alert-messages.ts";
import { targetProblem } from "../../../src/features/alerts/send-alert.ts";
import type { Fields } from "../../../src/features/alerts/target.ts";
import { alertCredentialTypes } from "../../../src/foundation/config/fields.ts";
import { credentialType } from "../../../src/foundation/credentials/credential-types.ts";
import { fakeApis, telegramToken } from "./fake-apis.ts";
import { targetOf } from "./samples.ts";

const smtp = { host: "mail.example.com", from: "al@example.com" };
const problemOf = (type: AlertTargetType, fields: Fields): string | null =>
  targetProblem(targetOf(type), fields);

test.each(Object.entries(fakeApis))(
  "checking an alert target of %s accepts a complete credential",
  (name, { fields }) => {
    const type = name as AlertTargetType;
    const given = fields("https://example.com");
    expect(problemOf(type, given)).toBeNull();
    const known = credentialType(alertCredentialTypes[type])?.fields ?? {};
    expect(Object.keys(known)).toEqual(expect.arrayContaining(Object.keys(given)));
  },
);

test("checking an alert target of e-mail accepts a credential in each documented form", () => {
  const from = "Almanac <al@example.com>";
  for (const more of [{}, { tls: "implicit" }, { port: "25", tls: "none" }, { from }])
    expect(problemOf("email", { ...smtp, ...more })).toBeNull();
});

test.each<[AlertTargetType, Fields, string]>([
  ["slack", {}, "its field url is missing"],
  ["slack", { url: "hooks.slack.com/services/secret" }, "is not an address"],
  ["slack", { bot_token: "xapp-secret-a", channel: "#ops" }, "does not begin with xoxb-"],
  ["slack", { bot_token: "xoxb-1", channel: "#my ops" }, "its field channel is neither"],
  ["slack", { bot_token: "xoxb-1", channel: "C0OPS", app_token: "xoxb-1" }, "begin with xapp-"],
  ["teams", { url: "https://user:secret@example.com/" }, "has a user or password in it"],
  ["telegram", { token: "secret", chat: "-100123" }, "its field token is not of the form"],
  ["telegram", { token: telegramToken, chat: "my group" }, "its field chat is neither"],
  ["ntfy", { url: "https://ntfy.sh/" }, "does not end with a topic"],
  ["webhook", { url: "https://example.com", secret: "secret" }, "is not whsec_ and"],
  ["webhook", { url: "https://example.com", secret: "whsec_c2hvcnQ=" }, "24 to 64 bytes"],
  ["email", { ...smtp, port: "70000" }, "its field port is not a number"],
  ["email", { ...smtp, tls: "yes" }, 'its field tls is not "starttls"'],
  ["email", { ...smtp, user: "a" }, "its field password is missing"],
  ["email", { ...smtp, from: "a@b\r\nBcc: c@d" }, "its field from is not an e-mail address"],
])(
  "checking an alert target of %s rejects the credential %j without quoting it",
  (type, fields, problem) => {
    const given = problemOf(type, fields);
    expect(given).toContain(problem);
    expect(given).not.toMatch(/secret@|\/secret/);
  },
);

const runs = { topic: "runs", agent: "dev", instanceId: null } as const;
const whole = { agent: null, instanceId: null } as const;
test.each<[Parameters<typeof alertLink>[1], string]>([
  [{ ...runs, instanceId: "dev-1" }, "agents/dev/runs/dev-1"],
  [runs, "agents/dev"],
  [{ ...whole, topic: "config" }, "alerts"],
  [{ ...runs, topic: "dead_letters" }, "triggers?agent=dev&dead=true"],
  [{ ...runs, topic: "budget" }, "cost"],
])("alertLink for the alert %j returns %s", (alert, path) => {
  const base = "https://al.example.test/almanac";
  expect(alertLink(base, alert)).toBe(`${base}/dashboard/${path}`);
  expect(alertLink(`${base}/`, alert)).toBe(`${base}/dashboard/${path}`);
  expect(alertLink(null, alert)).toBeNull();
});
