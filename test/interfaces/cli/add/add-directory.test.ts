import {
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cliProject } from "../fake-operator.ts";

const skill = "---\nname: Triage\ndescription: Sorts issues\n---\n\nSort them.\n";
const project = '[models.main]\nprovider = "scripted"\nscript = "main.script.toml"\n';

const cli = cliProject();
beforeEach(() => writeFileSync(join(cli.projectDir, "config.toml"), project));

function agentDir(name: string): string {
  return join(cli.projectDir, "agents", name);
}

test("al add takes a directory that is not a repository, and al update finds nothing to do", async () => {
  const dir = join(cli.home, "my skills", "triage");
  mkdirSync(join(dir, "scripts"), { recursive: true });
  writeFileSync(join(dir, "SKILL.md"), skill);
  writeFileSync(join(dir, 'scripts/odd "name".sh'), "#!/bin/sh\n", { mode: 0o755 });
  const added = await cli.al(`add ${pathToFileURL(dir).href} --yes`);
  expect(added).toMatchObject({ code: 0 });
  const script = join(agentDir("triage"), 'scripts/odd "name".sh');
  expect(statSync(script).mode & 0o111).not.toBe(0);
  expect(await cli.al("update triage --yes")).toMatchObject({ code: 0 });
});

test("al update merges changes of the source directory with local changes", async () => {
  const dir = join(cli.home, "triage");
  const write = (file: string, text: string) => writeFileSync(join(dir, file), text);
  const own = (file: string) => join(agentDir("triage"), file);
  mkdirSync(join(dir, "scripts"), { recursive: true });
  write("SKILL.md", skill);
  write("scripts/run.sh", "echo 1\n");
  expect(await cli.al(`add ${dir} --yes`)).toMatchObject({ code: 0 });
  writeFileSync(own("scripts/run.sh"), "echo mine\n");
  for (const version of ["Second.", "Third."]) {
    write("SKILL.md", `${skill}${version}\n`);
    write("notes.md", version);
    const { code, stdout } = await cli.al("update triage --yes");
    expect(code).toBe(0);
    expect(stdout).toContain(`+${version}`);
    expect(readFileSync(own("SKILL.md"), "utf8")).toBe(`${skill}${version}\n`);
    expect(readFileSync(own("scripts/run.sh"), "utf8")).toBe("echo mine\n");
  }
  write("scripts/run.sh", "echo 2\n");
  const both = await cli.failure("update triage --yes");
  expect(both).toContain("git merge-file");
  expect(await cli.al("update triage --yes --keep-local")).toMatchObject({ code: 0 });
  expect(readFileSync(own("scripts/run.sh"), "utf8")).toBe("echo mine\n");
});

test("al add rejects a directory with links or with too many files", async () => {
  const dir = join(cli.home, "linked");
  mkdirSync(dir, { recursive: true });
  symlinkSync("/etc/passwd", join(dir, "SKILL.md"));
  const linked = await cli.al(`add ${pathToFileURL(dir).href} --yes`);
  expect(linked.stderr).toContain('"SKILL.md" is a symbolic link');
  expect(linked.code).toBe(1);
  writeFileSync(join(dir, "video"), "");
  truncateSync(join(dir, "video"), 65 * 1024 ** 2);
  const many = await cli.al(`add ${pathToFileURL(dir).href} --yes`);
  expect(many.stderr).toContain("more than 5000 files or 64 MiB");
  expect(existsSync(join(cli.projectDir, "agents"))).toBe(false);
});
