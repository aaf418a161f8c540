import { dirname } from "node:path";
import type { LiveProject } from "../helpers/live-project.ts";
import { runAl } from "../helpers/scheduler.ts";
import { commandsOf, env, makeProject, settled } from "./made-project.ts";

// `vitest run <this file> -u` writes the fixtures anew: each difference is a decision.

let project: LiveProject;

/** What all commands of a fixture print, one after the other. */
async function printed(file: string): Promise<string> {
  let all = "";
  for (const line of commandsOf(file, /^al (.*) --json:/gm)) {
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
  await expect(await printed("commands-stored.txt")).toMatchFileSnapshot("commands-stored.txt");
});

test("with a scheduler each command with --json prints the text of the fixture", async () => {
  project = await makeProject();
  await project.start({ env });
  await expect(await printed("commands-live.txt")).toMatchFileSnapshot("commands-live.txt");
});
