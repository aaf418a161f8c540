import { agentFacts } from "../../../src/foundation/config/agent-view.ts";
import { agent, agentChange, refusal, said, usualAgent } from "./samples.ts";

const table = (text: string) => `${usualAgent}[workspace]\n${text}\n`;
const site = 'git = "https://github.com/acme/website.git"';

describe("[workspace]", () => {
  test("is null if the table is missing, and else has the defaults of its keys, which are on the agent's page", () => {
    expect(agent(usualAgent).workspace).toBeNull();
    const read = agent(table(site));
    expect(read.workspace).toEqual({
      git: "https://github.com/acme/website.git",
      repos: [],
      credential: null,
      ref: null,
      depth: 1,
      cache: [],
      push: ["al/*"],
      maxBytes: 2 * 1024 ** 3,
    });
    expect(agentFacts(read, () => null).find(({ label }) => label === "Workspace")?.values).toEqual(
      ["https://github.com/acme/website.git", "default branch, depth 1", "may push al/*"],
    );
  });

  test.each([
    'git = "git@github.com:acme/website.git"',
    'git = "ssh://git@git.acme.com:2222/acme/website"',
    'git = "https://github.com/{repository}.git"\nrepos = ["acme/website", "acme/*"]',
    `${site}\nref = "refs/pull/{number}/head"`,
    `${site}\npush = [":al/*", "refs/tags/v*", "main"]\ncache = ["~/.npm", "~/.cache/pip"]`,
  ])("accepts %s", (text) => {
    expect(said(agentChange(table(text)))).toEqual([]);
  });

  test.each([
    ['git = "http://github.com/acme/website"', /workspace.git is .*expected the address/],
    ['git = "https://token@github.com/acme/website"', /workspace.git is /],
    ['git = "file:///srv/website"', /workspace.git is /],
    ['git = "ext::sh -c id"', /workspace.git is /],
    ['git = "https://github.com/acme/../website"', /workspace.git is /],
    ['git = "https://github.com/acme/-website"', /workspace.git is /],
    ['git = "https://{source}/acme/website"\nrepos = ["a/b"]', /the host is written out/],
    ['git = "https://github.com/{repository}"', /:5:7 .*could choose any repository; list/],
    [`${site}\nref = "-x"`, /workspace.ref is "-x"/],
    [`${site}\nref = "a..b"`, /workspace.ref is "a..b"/],
    [`${site}\nref = "{nothing}"`, /workspace.ref is/],
    [`${site}\nrepos = ["*/website"]`, /workspace.repos\[0\]/],
    [`${site}\npush = ["-f"]`, /workspace.push\[0\]/],
    [`${site}\ncache = ["/etc"]`, /workspace.cache\[0\]/],
    [`${site}\ncache = ["~/../x"]`, /workspace.cache\[0\]/],
    [`${site}\ncache = ["~/.credentials"]`, /workspace.cache\[0\]/],
    [`${site}\ncache = ["~/.npm", "~/.npm/_cacache"]`, /is within ~\/.npm; leave/],
  ])("refuses %s", (text, message) => {
    expect(refusal(agentChange(table(text)))).toMatch(message);
  });

  test("warns of repos without a template", () => {
    expect(said(agentChange(table(`${site}\nrepos = ["acme/website"]`)))).toEqual([
      expect.stringMatching(/^warning: .*workspace.repos has no effect/),
    ]);
  });
});
