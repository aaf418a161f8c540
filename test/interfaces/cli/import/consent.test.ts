import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { loadCredential } from "../../../../src/foundation/credentials/load-credential.ts";
import { onTerminal, whyNoTerminal } from "../terminal.ts";
import { makeImportFolders, type Imported, type ImportFolders } from "./run-import.ts";
import { currentProject, smallProject, store, writeFiles } from "./their-projects.ts";

const noTerminal = whyNoTerminal();
if (noTerminal !== null) process.stderr.write(`skipped: al import on a terminal (${noTerminal})\n`);

let folders: ImportFolders;
let source: string;
let target: string;
beforeEach(() => {
  folders = makeImportFolders();
  ({ source, target } = folders);
});

describe("al import refuses", () => {
  test("an existing directory, the source itself, and a directory that is not a project", async () => {
    writeFiles(source, smallProject);
    writeFiles(target, { "notes.txt": "mine" });
    const there = await folders.al(`import ${source} --to ${target} --yes`);
    expect(there.stderr).toContain(`${target} already exists; nothing was written`);
    expect(readdirSync(target)).toEqual(["notes.txt"]);
    const inside = await folders.al(["import", source, "--to", join(source, "new"), "--yes"]);
    expect(inside).toMatchObject({ code: 2 });
    expect(inside.stderr).toContain("is in the project that is imported");
    const other = await folders.al(`import ${folders.home} --to ${target}-2 --yes`);
    expect(other).toMatchObject({ code: 2 });
  });

  test("to write without consent, but shows the changes", async () => {
    writeFiles(source, currentProject);
    const { code, stderr } = await folders.al(`import ${source} --to ${target}`);
    expect(code).toBe(2);
    expect(stderr).toContain("--yes is missing: nothing was written");
    expect(stderr).toContain("agents/worker/SKILL.md:10");
    expect(existsSync(target)).toBe(false);
  });

  test("a config that is not TOML, with its place", async () => {
    writeFiles(source, { ...smallProject, "config.toml": "a = = 1\n" });
    const { code, stderr } = await folders.al(`import ${source} --to ${target} --yes`);
    expect(code).toBe(1);
    expect(stderr).toContain(`${join(source, "config.toml")}: `);
    expect(existsSync(target)).toBe(false);
  });
});

describe("credentials", () => {
  const theirs = () => join(folders.home, "..", "store");
  beforeEach(() => {
    writeFiles(source, currentProject);
    writeFiles(theirs(), store);
  });

  test("that the project needs are copied on demand, for their owner only, under their new names", async () => {
    const { copied, edits } = await folders.imported("--credentials", theirs());
    expect([...copied].sort()).toEqual(
      [
        "cloudflare_token/token",
        "git_ssh:bot/email",
        "git_ssh:bot/name",
        "git_ssh:bot/private_key",
        "github_token/token",
        "github_webhook_secret:Acme/secret",
        "openai_key/key",
      ].sort(),
    );
    expect(await loadCredential(folders.home, "git_ssh:bot")).toMatchObject({
      fields: {
        name: "Bot",
        email: "bot@example.com",
        private_key: (store["git_ssh/bot/id_rsa"] ?? "").trim(),
      },
    });
    const file = join(folders.home, "credentials/openai_key/default/key");
    expect(readFileSync(file, "utf8").trim()).toBe("sk-0123456789");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const dir of ["credentials", "credentials/openai_key", "credentials/openai_key/default"]) {
      expect(statSync(join(folders.home, dir)).mode & 0o777).toBe(0o700);
    }
    expect(existsSync(join(folders.home, "credentials/linear_token"))).toBe(false);
    expect(edits.filter(({ file: about }) => about === null).map(({ fix }) => fix)).toEqual([
      "al creds add anthropic_key",
      "al creds add sentry_client_secret",
      "al creds add discord --field <field>",
    ]);
  });

  test("are not copied without consent; the commands for it are named, and work", async () => {
    writeFiles(join(folders.home, "..", ".action-llama/credentials"), store);
    // HOME, where their store is looked for, is that of a process.
    const args = ["import", source, "--to", target, "--yes", "--json"];
    const { stdout } = await folders.process(args);
    const { copied, edits } = JSON.parse(stdout) as Imported;
    expect(copied).toEqual([]);
    expect(existsSync(join(folders.home, "credentials"))).toBe(false);
    const commands = edits.filter(({ message }) => message.includes("was not copied"));
    expect(commands.length).toBe(7);
    for (const { fix } of commands) {
      expect(await folders.bash((fix ?? "").replace(/^al /, "$AL "))).toMatchObject({ code: 0 });
    }
    expect(await loadCredential(folders.home, "git_ssh:bot")).toMatchObject({
      fields: { name: "Bot" },
    });
  });

  test("that are stored here are not listed, with consent or without", async () => {
    await folders.bash("echo sk-ant-0123456789 | $AL creds add anthropic_key");
    await folders.bash("echo sk-other-0123456789 | $AL creds add openai_key");
    const { edits } = await folders.imported();
    expect(edits.filter(({ fix }) => /creds add (anthropic|openai)_key/.test(fix ?? ""))).toEqual(
      [],
    );
    expect(edits.map(({ fix }) => fix)).toContain("al creds add sentry_client_secret");
  });

  test("that have another value here are kept", async () => {
    await folders.bash("echo mine-0123456789 | $AL creds add github_token");
    const { copied, edits } = await folders.imported("--credentials", theirs());
    expect(copied).not.toContain("github_token/token");
    expect(await loadCredential(folders.home, "github_token")).toMatchObject({
      fields: { token: "mine-0123456789" },
    });
    expect(edits.find(({ message }) => message.includes("another value"))?.fix).toBe(
      `al creds add github_token --field token --from-file ${theirs()}/github_token/default/token --replace`,
    );
  });
});

describe.skipIf(noTerminal !== null)("on a terminal", () => {
  test("al import asks before it writes, and before it copies", async () => {
    writeFiles(source, smallProject);
    writeFiles(join(folders.home, ".action-llama/credentials"), {
      "anthropic_key/default/token": "sk-ant-0123456789\n",
    });
    const terminal = onTerminal(folders, `import ${source} --to ${target}`);
    await terminal.until(/Write .*ours\?/);
    expect(existsSync(target)).toBe(false);
    terminal.line("y");
    await terminal.until("Copy these credentials?");
    terminal.line("y");
    expect(await terminal.ended).toBe(0);
    expect(existsSync(join(target, "agents/reporter/config.toml"))).toBe(true);
    expect(await loadCredential(folders.home, "anthropic_key")).toMatchObject({
      fields: { key: "sk-ant-0123456789" },
    });
  });
});
