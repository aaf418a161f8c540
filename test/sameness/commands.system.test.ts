import { dirname } from "node:path";
import type { LiveProject } from "../helpers/live-project.ts";
import { runAl } from "../helpers/scheduler.ts";
import { env, makeProject, settled } from "./made-project.ts";

// `vitest run <this file> -u` writes the fixtures anew: each difference is a decision.

const run = "sync-web-acbhinla";

let project: LiveProject;

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

/** What all commands print, one after the other. */
async function printed(): Promise<string> {
  let all = "";
  for (const line of [...reads, ...changes]) {
    const words = line.replace("<folder>", dirname(project.dir)).split(" ");
    const { code, stdout, stderr } = await runAl(project, [...words, "--json"], env);
    // The log of a run has times and numbers of its own.
    const said = line.startsWith("run") ? "" : stderr;
    all += settled(`al ${line} --json: exit code ${code}\n${said}${stdout}\n`, project);
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
