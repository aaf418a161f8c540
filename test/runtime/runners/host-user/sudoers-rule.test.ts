import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { anyAgent, sudoersRule } from "../../../../src/runtime/runners/host-user/sudoers-rule.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const visudo = ["/usr/sbin/visudo", "/usr/bin/visudo", "/sbin/visudo"].find((path) =>
  existsSync(path),
);
if (visudo === undefined) process.stderr.write("skipped: there is no visudo to check rules\n");

function rule(projectDir: string, scheduler = "alice"): string {
  const args = ["/usr/lib/almanac/al.js", "_run-agent", anyAgent, "--project", projectDir];
  return sudoersRule({ scheduler, runAs: "al-agent", program: { file: "/usr/bin/node", args } });
}

test("the sudoers rule permits only the absolute command, for the user only", () => {
  const [comment, alias, defaults, grant] = rule("/srv/project").split("\n");
  const [, name] = /^Cmnd_Alias (ALMANAC_[0-9A-F]{12}) = /.exec(alias ?? "") ?? [];
  expect(comment).toMatch(/^#/);
  expect(alias).toBe(
    `Cmnd_Alias ${name} = /usr/bin/node /usr/lib/almanac/al.js _run-agent [a-z0-9]* --project /srv/project`,
  );
  expect(defaults).toBe(`Defaults!${name} env_reset, !requiretty, !use_pty`);
  expect(grant).toBe(`alice ALL=(al-agent) NOPASSWD: NOSETENV: ${name}`);
});

test("the sudoers rule's alias differs by project and by user", () => {
  const names = [rule("/a"), rule("/b"), rule("/a", "bob")].map((text) => /ALMANAC_\w+/.exec(text));
  expect(new Set(names.map(String)).size).toBe(3);
});

test("the sudoers rule rejects a path that sudoers can't express", () => {
  expect(() => rule("/srv/a\nb ALL=(ALL) NOPASSWD: ALL")).toThrow("cannot be part");
  expect(() => rule(String.raw`/srv/a\b`)).toThrow("cannot be part");
});

test
  .skipIf(visudo === undefined)
  .each(["/srv/project", "/srv/my project", "/srv/a,b=c:d#e", `/srv/*[x]?!"q"`, "/srv/größe"])(
  "visudo accepts the sudoers rule for %s",
  (projectDir) => {
    const path = join(tempDir(), "rule");
    writeFileSync(path, rule(projectDir), { mode: 0o440 });
    const args = ["-c", "-f", path];
    expect(execFileSync(visudo ?? "", args, { encoding: "utf8" })).toContain("parsed OK");
  },
);
