import { agentFacts } from "../../../src/foundation/config/agent-view.ts";
import { projectTomlKeys, tomlLines } from "../../../src/interfaces/cli/config/config-file.ts";
import {
  agent,
  agentChange,
  project,
  projectChange,
  refusal,
  said,
  usualAgent,
  usualProject,
} from "./samples.ts";

const day = 86_400_000;
const hour = 3_600_000;
const ops = '[alerts.ops]\ntype = "slack"\n';

test("[alerts.<name>] uses the default credential of its type unless it names another one", () => {
  const to = ["a@b.example", "c+d@e.example"];
  const text = `${ops}[alerts.night]\ntype = "email"\ncredential = "smtp:mail"\nto = ${JSON.stringify(to)}\nquietHours = "22:00-07:30"`;
  const [target, night] = project(text).alerts;
  const none = { to: [], answers: [], quietHours: null };
  expect(target).toEqual({ name: "ops", type: "slack", credential: "slack_webhook", ...none });
  const quietHours = { from: 1320, until: 450 };
  expect(night).toMatchObject({ type: "email", credential: "smtp:mail", to, quietHours });
});

test.each([
  [
    'type = "slack"\ncredential = "smtp"',
    '3:14  alerts.ops.credential is "smtp"; a slack target takes "slack_webhook" or "slack_webhook:<instance>"',
  ],
  [
    'type = "slack"\ncredential = "slack_webhook"\nanswers = ["U0ADA"]',
    'a slack target with answers takes "slack_app" or "slack_app:<instance>"',
  ],
  ['type = "slack"\nanswers = [42]', "3:11  alerts.ops.answers has IDs of another chat; expected"],
  ['type = "telegram"\nanswers = ["U0ADA"]', "has IDs of another chat; expected [12345678]"],
  [
    'type = "slack"\nanswers = ["ada"]',
    'alerts.ops.answers[0] is "ada"; expected the ID of a user',
  ],
  ['type = "email"', "alerts.ops.to is missing; expected a list of e-mail addresses"],
  ['type = "email"\nto = ["ops"]', '3:7  alerts.ops.to[0] is "ops"; expected an e-mail address'],
  ['type = "email"\nto = ["a@b.example\\nBcc: c@d"]', "expected an e-mail address"],
  ['type = "ntfy"\nquietHours = "22:00"', '3:14  alerts.ops.quietHours is "22:00"; expected two'],
  ['type = "ntfy"\nquietHours = "07:00-07:00"', "expected two different times of day"],
  ['type = "ntfy"\nquietHours = "22:00-24:00"', "expected two different times of day"],
])("[alerts.<name>] refuses %s", (lines, message) =>
  expect(refusal(projectChange(`[alerts.ops]\n${lines}`))).toContain(message),
);

test("[alerts.<name>] of type slack uses the credential slack_app if people may answer with buttons", () => {
  const text =
    '[alerts.a]\ntype = "slack"\nanswers = ["U0ADA"]\n[alerts.b]\ntype = "telegram"\nanswers = [42]';
  expect(project(text).alerts).toMatchObject([
    { name: "a", credential: "slack_app", answers: ["U0ADA"] },
    { name: "b", credential: "telegram_bot", answers: ["42"] },
  ]);
});

test("[alerts.<name>] warns of recipients that its type does not support", () =>
  expect(said(projectChange(`${ops}to = ["a@b.example"]`))).toEqual([
    "warning: config.toml:3:6  alerts.ops.to has no effect on a slack target; leave it out",
  ]));

test("[alert] of the project applies to agents without an [alert]", () => {
  const projectText = `${usualProject}\n${ops}[alert]\nto = ["ops"]\nafter = 3\nremind = "90m"\nnoSuccessFor = "2d"`;
  const all = { to: ["ops"], after: 3, remindMs: 1.5 * hour, noSuccessForMs: 2 * day };
  expect(project(projectText).alert).toEqual(all);
  expect(agent(usualAgent, { projectText }).alert).toEqual(all);
  const own = '[alert]\nto = []\nafter = 1\nremind = "never"\nnoSuccessFor = "never"\n';
  const silent = { to: [], after: 1, remindMs: null, noSuccessForMs: null };
  expect(agent(usualAgent + own, { projectText }).alert).toEqual(silent);
});

test.each([
  ['remind = "1w"', '5:10  alert.remind is "1w"; expected a length of time from 1 minute to 365'],
  ['remind = "30s"', 'alert.remind is "30s"; expected a length of time from 1 minute'],
  ['noSuccessFor = "366d"', 'alert.noSuccessFor is "366d"; expected a length of time'],
  [
    'to = ["ops"]',
    `5:7  target "ops" of alerts is not defined; the project's config.toml has none; add [alerts.ops] there`,
  ],
])("[alert] refuses %s", (line, message) => {
  expect(refusal(agentChange(`${usualAgent}[alert]\n${line}`))).toContain(message);
  expect(projectChange(`[alert]\n${line}`).type).toBe("invalid");
});

test("an unknown alert target is refused with the closest name as a suggestion", () =>
  expect(refusal(projectChange(`${ops}[alert]\nto = ["opps"]`))).toContain(
    'config.toml:4:7  target "opps" of alerts is not defined; expected one of "ops"; did you mean "ops"?',
  ));

const url = "https://hc-ping.example/1b4e28ba-2fa1-11d2-883f-0016d3cca427";

test("an agent does not inherit [heartbeat] of the project", () => {
  const projectText = `${usualProject}\n[heartbeat]\nurl = "${url}"`;
  expect(project("").heartbeat).toBeNull();
  expect(project(projectText).heartbeat).toBe(url);
  expect(agent(usualAgent, { projectText }).heartbeat).toBeNull();
  expect(agent(`${usualAgent}[heartbeat]\nurl = "${url}"`).heartbeat).toBe(url);
});

test("[heartbeat] is shown without the secret part of its URL", () =>
  expect(agentFacts(agent(`${usualAgent}[heartbeat]\nurl = "${url}"`), () => null)).toContainEqual({
    label: "Heartbeat",
    values: ["hc-ping.example"],
  }));

test.each(["ftp://a.example", "hc-ping.example/x", "https://u:p@a.example/x"])(
  "[heartbeat] refuses the URL %s",
  (wrong) =>
    expect(refusal(projectChange(`[heartbeat]\nurl = "${wrong}"`))).toContain(
      "heartbeat.url is [redacted]; expected an http or https URL",
    ),
);

test("publicUrl accepts the gateway's address with or without a path", () => {
  const at = (text: string) => `[gateway]\npublicUrl = "${text}"`;
  expect(project(at("https://Al.example/")).gateway.publicUrl).toBe("https://al.example");
  const below = "https://al.example/team/al";
  expect(project(at(`${below}/`)).gateway.publicUrl).toBe(below);
  const pages = ["https://al.example/dashboard", "https://al.example/x/../dashboard"];
  for (const wrong of [...pages, "https://al.example/?a", "al.example"])
    expect(refusal(projectChange(at(wrong)))).toContain(
      `gateway.publicUrl is "${wrong}"; expected`,
    );
});

test("al config prints each alert setting as in config.toml", () => {
  const text = `${ops}[alerts.night]\ntype = "email"\nto = ["a@b.example"]\nquietHours = "22:00-07:00"\n[alert]\nafter = 2`;
  const lines = tomlLines(projectTomlKeys(project(text), "/srv/project"));
  expect(lines).toEqual(
    expect.arrayContaining(['alerts.night.quietHours = "22:00-07:00"', 'alert.remind = "24h"']),
  );
  expect(project(lines.join("\n"))).toEqual(project(text));
});
