import { mkdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { skill, skillProject } from "./skill-project.ts";

const { cli, pathOf, read, isUntouched } = skillProject();

/** Writes a file of a directory that is not a repository. */
function write(file: string, text: string, mode = 0o644): void {
  const path = join(cli.home, "my skills/triage", file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}
const url = () => pathToFileURL(join(cli.home, "my skills/triage")).href;

test("al add accepts a directory, whose later changes al update merges with local changes", async () => {
  write("SKILL.md", skill);
  write("scripts/run.sh", "echo 1\n");
  write('scripts/odd "name".sh', "#!/bin/sh\n", 0o755);
  await cli.output(`add ${url()} --yes`);
  expect(statSync(pathOf('triage/scripts/odd "name".sh')).mode & 0o111).not.toBe(0);
  await cli.prints("update triage --yes", "triage is up to date\n");
  cli.write("agents/triage/scripts/run.sh", "echo mine\n");
  for (const version of ["Second.", "Third."]) {
    write("SKILL.md", `${skill}${version}\n`);
    expect(await cli.output("update triage --yes")).toContain(`+${version}`);
    expect(read("triage/SKILL.md")).toBe(`${skill}${version}\n`);
    expect(read("triage/scripts/run.sh")).toBe("echo mine\n");
  }
  write("scripts/run.sh", "echo 2\n");
  await cli.fails("update triage --yes", "git merge-file");
  await cli.output("update triage --yes --keep-local");
  expect(read("triage/scripts/run.sh")).toBe("echo mine\n");
});

test("al add rejects a directory with links or with too many files", async () => {
  write("video", "");
  symlinkSync("/etc/passwd", join(cli.home, "my skills/triage/SKILL.md"));
  await cli.fails(`add ${url()} --yes`, '"SKILL.md" is a symbolic link');
  truncateSync(join(cli.home, "my skills/triage/video"), 65 * 1024 ** 2);
  await cli.fails(`add ${url()} --yes`, "more than 5000 files or 64 MiB");
  expect(isUntouched()).toBe(true);
});
