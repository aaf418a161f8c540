/** The project of the gallery's pictures: examples/hello with more agents. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const agents = {
  changelog: {
    title: "Changelog writer",
    description: "Writes what changed since the last release",
    model: "reviews",
    schedule: "0 9 * * 1-5",
    more: "",
  },
  deploy: {
    title: "Deploys to staging",
    description: "Builds the main branch and brings it to staging",
    model: "slow",
    schedule: "30 18 * * 1-5",
    more: "scale = 3",
  },
  hello: {
    title: "Says hello",
    description: "Says hello and tells the time",
    model: "scripted",
    schedule: "0 * * * *",
    more: "",
  },
  "nightly-report": {
    title: "Nightly report",
    description: "Sums up the day for the team",
    model: "reviews",
    schedule: "0 2 * * *",
    more: `[hooks]\npre = ["echo 'no space left on the report server' >&2; exit 28"]`,
  },
  review: {
    title: "Reviews pull requests",
    description: "Reads each pull request of acme/website and asks for changes",
    model: "reviews",
    schedule: "*/30 8-18 * * 1-5",
    more: `scale = 2\n[[webhooks]]\nsource = "github"\nevents = ["pull_request"]\nactions = ["opened"]`,
  },
  triage: {
    title: "Issue triage",
    description: "Labels new issues and asks for what is missing",
    model: "scripted",
    schedule: null,
    more: `[[webhooks]]\nsource = "github"\nevents = ["issues"]\nactions = ["closed"]`,
  },
};

const review = `
[[turns]]
text = "A new pull request. I look at what it changes before I judge it."
[[turns.tools]]
name = "al_status"
arguments = { text = "reading the diff of #214" }
[[turns.tools]]
name = "bash"
arguments = { command = "for i in 1 2 3 4 5 6 7 8 9; do echo \\"src/stream-$i.ts | $i +++---\\"; done; echo '9 files changed'" }

[[turns]]
text = "The tests decide."
[[turns.tools]]
name = "bash"
arguments = { command = "echo 'stream ends with the session: expected true, got false' >&2; exit 1" }

[[turns]]
text = "One test fails: the stream goes on after logout. The rest reads well; I ask for that one change."
[[turns.tools]]
name = "al_status"
arguments = { text = "asked for one change on #214" }

[[turns]]
text = "Reviewed #214: **one change asked for**, everything else is fine."
`;

const instructions = `You review pull requests of \`acme/website\`.

## What matters

1. **Tests** say what changed, and fail without it.
2. Errors name the file, the line and what to do.
3. Nothing is logged that is a *secret*.

Be brief, be kind, and end with what you want changed.
`;

/** Writes the project into a new directory. */
export function makeProject(project) {
  cpSync(join(import.meta.dirname, "../hello"), project, {
    recursive: true,
    filter: (source) => !source.endsWith("/.al"),
  });
  rmSync(join(project, "agents/hello"), { recursive: true });
  // A script costs nothing: a price makes the pages about cost worth a look.
  const price = "price = { input = 30, output = 150 }";
  const model = (name, script) =>
    `[models.${name}]\nprovider = "scripted"\nscript = "${script}"\n${price}\n`;
  const config = [
    "#:schema .al/schema/project.json\n",
    model("scripted", "hello.script.toml"),
    model("reviews", "review.script.toml"),
    model("slow", "slow.script.toml"),
    `[webhooks.github]\ntype = "github"\nallowUnsigned = true\n`,
    `[budget]\nday = 40\nmonth = 200\n`,
  ];
  writeFileSync(join(project, "config.toml"), config.join("\n"));
  writeFileSync(join(project, "review.script.toml"), review);
  const slow = `[[turns]]\ntext = "Building the release."\n[[turns.tools]]\nname = "al_status"
arguments = { text = "waiting for the health checks" }\n\n[[turns]]\ntext = "Deployed."\ndelayMs = 120000\n`;
  writeFileSync(join(project, "slow.script.toml"), slow);
  for (const [name, agent] of Object.entries(agents)) {
    const dir = join(project, "agents", name);
    mkdirSync(dir, { recursive: true });
    const skill = `---\nname: ${agent.title}\ndescription: ${agent.description}\n---\n\n${instructions}`;
    writeFileSync(join(dir, "SKILL.md"), skill);
    const schedule = agent.schedule === null ? "" : `schedule = "${agent.schedule}"\n`;
    const start = `#:schema ../../.al/schema/agent.json\n\nmodels = ["${agent.model}"]\ncredentials = []\ntimeout = 600\n${schedule}`;
    const runtime = `[runtime]\ntype = "host-user"\nrun_as = "$USER"\n`;
    writeFileSync(join(dir, "config.toml"), `${start}${agent.more}\n\n${runtime}`);
  }
}
