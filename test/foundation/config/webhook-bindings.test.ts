import { agentChange, projectChange, refusal, said, usualAgent } from "./samples.ts";

test.each([
  [
    '[[webhooks]]\nsource = "hup"',
    '5:10  webhooks[0].source "hup" is not a webhook source; expected one of "hub", "errors"; did you mean "hub"?',
  ],
  [
    '[[webhooks]]\nsource = "hub"\nrepo = ["a/b"]',
    '6:1  "repo" is not a filter of github webhooks; expected one of "repos", "org", "events", "labels", "ignoreSenders", "ignoreBots"; did you mean "repos"?',
  ],
  ['[[webhooks]]\nsource = "hub"\norg = ["a"]', "6:7  webhooks[0].org is a list"],
  [
    '[[webhooks]]\nsource = "errors"\nresources = ["isue"]',
    '6:13  webhooks[0].resources has "isue"; expected "event_alert", "metric_alert", "issue"; did you mean "issue"?',
  ],
  [
    '[[webhooks]]\nsource = "hub"\nwhere = { issue.level = "fatal" }',
    "6:25  webhooks[0].where.issue is a table",
  ],
  [
    '[[webhooks]]\nsource = "hub"\nwhere = { "issue..level" = 1 }',
    '6:11  the name "issue..level" is not allowed',
  ],
  [
    '[[webhooks]]\nsource = "hub"\nwhere = "issue.level = 1"',
    '6:9  webhooks[0].where is "issue.level = 1"',
  ],
])("webhookBindings refuses %j", (lines, message) => {
  expect(refusal(agentChange(usualAgent + lines))).toContain(`config.toml:${message}`);
});

test("webhookBindings accepts required values of the payload, given by path in `where`, for any source", () => {
  const where = '{ "issue.level" = "fatal", "issue.labels.0.id" = 7, open = true }';
  const change = agentChange(`${usualAgent}[[webhooks]]\nsource = "errors"\nwhere = ${where}`);
  expect(said(change)).toEqual([]);
  expect(change).toMatchObject({
    type: "set",
    agent: {
      webhooks: [
        {
          source: "errors",
          filters: {},
          where: { "issue.level": "fatal", "issue.labels.0.id": 7, open: true },
        },
      ],
    },
  });
});

test.each([
  ["as tables", '[[webhooks]]\nsource = "hub"\nrepos = 1\n[[webhooks]]\nsource = "errors"'],
  ["as inline tables", `webhooks = [{ source = 'hub' }, { "source" = "errors" }]`],
  [
    "in a text that is not TOML",
    'models = [\n[[webhooks]]\nsource = "hub"\n[[webhooks]]\nsource="errors"',
  ],
])(
  "webhookBindings returns the webhook sources of an invalid config.toml, written %s",
  (_, text) => {
    expect(agentChange(text)).toMatchObject({ type: "invalid", sources: ["hub", "errors"] });
  },
);

test("webhookBindings explains how to add the first webhook source", () => {
  const own = agentChange(`${usualAgent.replace('"main"', '"m"')}[[webhooks]]\nsource = "hub"`, {
    projectText: '[models.m]\nprovider = "scripted"\nscript = "s"',
  });
  expect(refusal(own)).toMatch(/:5:10 {2}.*config\.toml has none; add \[webhooks\.hub\] there$/);
});

test("the API address of a webhook source must use https, or http on this machine", () => {
  const at = (api: string) =>
    said(projectChange(`[webhooks.a]\ntype = "github"\ncredential = "x"\napi = "${api}"`));
  const hosts = ["localhost", "127.0.0.1:80", "[::1]:80"].map((host) => `http://${host}/api`);
  for (const good of ["https://git.example/api/v4", ...hosts]) expect(at(good)).toEqual([]);
  for (const bad of ["http://git.example", "http://localhost.example", "http://127.0.0.1@a.b"]) {
    expect(at(bad).join()).toContain(`a.api is "${bad}"`);
  }
});
