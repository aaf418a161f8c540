import { dirname } from "node:path";
import { LiveProject } from "../helpers/live-project.ts";
import { madeAgents } from "../helpers/made-day/agents.ts";
import { madeDay } from "../helpers/made-day/made-day.ts";
import { clockAhead, runAl } from "../helpers/scheduler.ts";

// `vitest run <this file> -u` writes the fixtures anew: each difference is a decision.

/** The made day ends then; the clock of its scheduler and of the commands goes on from there. */
const now = Date.parse("2026-03-10T12:00:00Z");
const env = clockAhead(now - Date.now());
const run = "sync-web-acbhinla";

const ofWeb = madeAgents.filter(({ area }) => area === "web");

let project: LiveProject;

async function makeProject(): Promise<LiveProject> {
  const made = new LiveProject(await madeDay(ofWeb, now));
  for (const name of ["report-web", "sync-web"])
    await made.edit(`agents/${name}/config.toml`, /^schedule = .*$/m, 'schedule = "0 0 29 2 *"');
  await made.write(
    "payload.json",
    '{ "action": "opened", "repository": { "full_name": "acme/web" } }',
  );
  return made;
}

const reads = [
  "stat",
  "agent ls",
  "history -n 3",
  "history -a sync-web --outcome failed",
  "history -a review-web --refused",
  "cost",
  "cost --by model",
  "alerts",
  "questions --all",
  "audit",
  "token ls",
  "creds ls",
  "logs sync-web -n 3",
  `show ${run}`,
  `show ${run} --diff`,
  `show ${run} --trace`,
  "config review-web",
  "webhook test <folder>/project/payload.json --source github --event issues",
];

const changes = [
  "pause",
  "resume",
  "pause review-web",
  "resume review-web",
  "run review-web",
  "kill deploy-web",
  `kill ${run}`,
  `continue ${run} more`,
  `steer ${run} faster`,
  "replay sync-web-item-71",
  "answer no-question yes",
  "budget raise project 5",
  "alerts ack sync-web",
  "alerts test ops",
  "token new ci --scope read --days 1",
  "token rm ci",
  "audit",
  "stop",
];

/** What differs from run to run: folders, ids, addresses, times since the day's end, and the forecast made from them. */
function settled(text: string): string {
  return text
    .replaceAll(dirname(project.dir), "<folder>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => (Date.parse(time) > now ? "<later>" : time))
    .replaceAll(/"(monthUsd|p90Usd)":[\d.]+/g, '"$1":0')
    .replaceAll(/"(?:lastD|d)urationMs":\d{1,4}\b/g, '"durationMs":0')
    .replaceAll(/"(time|pid)":\d+/g, '"$1":0')
    .replaceAll(/localhost:\d+/g, "localhost:0")
    .replaceAll(/al_[\w-]{20,}/g, "<token>")
    .replaceAll(/-web-(?!acbhinla)[a-z\d]{8}\b/g, "-web-<run>")
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}/g, "<id>");
}

/** What all commands print, one after the other. */
async function printed(): Promise<string> {
  let all = "";
  for (const line of [...reads, ...changes]) {
    const words = line.replace("<folder>", dirname(project.dir)).split(" ");
    const { code, stdout, stderr } = await runAl(project, [...words, "--json"], env);
    // The log of a run has times and numbers of its own.
    const said = line.startsWith("run") ? "" : stderr;
    all += settled(`al ${line} --json: exit code ${code}\n${said}${stdout}\n`);
  }
  return all;
}

test("without a scheduler each command with --json prints the text of the fixture", async () => {
  project = await makeProject();
  await expect(await printed()).toMatchFileSnapshot("commands-stored.txt");
});

test("with a scheduler each command with --json prints the text of the fixture", async () => {
  project = await makeProject();
  await project.start({ env });
  await expect(await printed()).toMatchFileSnapshot("commands-live.txt");
});
