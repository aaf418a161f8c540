import { Subject } from "rxjs";
import { fileProblem } from "../../../src/foundation/config/validate.ts";
import { newProblems, watchFiles } from "../../../src/foundation/files/watch-files.ts";
import { problemText } from "../../../streams/problem-text.ts";
import type { Diagnostic } from "../../../streams/vocabulary.ts";
import { join } from "node:path";
import { pause } from "../../helpers/pause.ts";
import { isAgentName, listAgents } from "../../../src/foundation/config/agent-files.ts";
import { scanProject } from "../../../src/foundation/files/scan.ts";
import { addAgent, tempProject, write } from "./support.ts";

/** The events of a project once its watcher is ready. */
async function watched(project: string) {
  const files = watchFiles(project, {
    scan: await scanProject(project),
    problems: [],
    isAgentName,
    listAgents: () => listAgents(project),
  });
  const agents: string[] = [];
  const warnings: string[] = [];
  const subscription = files.agent$.subscribe((name) => agents.push(name));
  subscription.add(files.warning$.subscribe((text) => warnings.push(text)));
  onTestFinished(() => subscription.unsubscribe());
  addAgent(project, "first");
  await expect.poll(() => agents).toContain("first");
  return { agents, warnings };
}

test("a directory that can't be an agent is reported once when it appears", async () => {
  const project = tempProject();
  const { agents, warnings } = await watched(project);
  addAgent(project, "Bad_Name");
  await expect.poll(() => warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/^agents\/Bad_Name.*is not an agent's name.*rename the directory$/);
  write(join(project, "agents/Bad_Name/config.toml"), "changed");
  await pause(300, "a second warning would come by now");
  expect(warnings).toHaveLength(1);
  expect(agents).not.toContain("Bad_Name");
});

const [bad, worse] = [fileProblem("agents/Bad", "no"), fileProblem("agents/Worse", "no")];

test("a problem of a watched file is reported once, and again when it returns", async () => {
  const look$ = new Subject<void>();
  const answers: Diagnostic[][] = [[bad], [bad, worse], [bad, worse], [worse], [bad, worse]];
  const looks: string[][] = [];
  const told: string[] = [];
  const look = () => Promise.resolve({ problems: answers.shift() ?? [] });
  newProblems(look$, look, [bad]).subscribe((text) => told.push(text));
  while (answers.length > 0) {
    look$.next();
    await new Promise(setImmediate);
    looks.push(told.splice(0));
  }
  expect(looks).toEqual([[], [problemText(worse)], [], [], [problemText(bad)]]);
});
