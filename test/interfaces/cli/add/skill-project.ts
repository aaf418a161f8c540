import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { makeRepository } from "../../../features/skills/repositories.ts";
import { perTest } from "../../../helpers/per-test.ts";
import { cliProject, scriptedModel } from "../fake-operator.ts";

export const skill = "---\nname: Triage\ndescription: Sorts issues\n---\n\nSort them.\n";

/** A project with two models, and an empty repository of skills, for each test of a file. */
export function skillProject() {
  const cli = cliProject();
  const repository = perTest(makeRepository);
  beforeEach(
    () => void cli.write("config.toml", scriptedModel + scriptedModel.replace("main", "other")),
  );
  const pathOf = (path: string) => join(cli.projectDir, "agents", path);
  return {
    cli,
    repository,
    /** Writes these files into the repository and commits; the commit. */
    publish: (files: Readonly<Record<string, string | Uint8Array>>): string => {
      for (const [path, content] of Object.entries(files)) repository().write(path, content);
      return repository().commit();
    },
    pathOf,
    read: (path: string) => readFileSync(pathOf(path), "utf8"),
    configOf: (agent: string) => parse(readFileSync(pathOf(`${agent}/config.toml`), "utf8")),
    /** Whether there is nothing of an agent in the project, and no draft of one. */
    isUntouched: (): boolean => {
      const state = join(cli.projectDir, ".al");
      const names = existsSync(state) ? readdirSync(state) : [];
      return !names.some((name) => name.endsWith(".tmp")) && !existsSync(pathOf(""));
    },
  };
}
