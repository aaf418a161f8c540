import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cliProject, type Ran } from "./fake-operator.ts";
import { onTerminal, whyNoTerminal } from "./terminal.ts";

const secret = "hush-hush-0123456789";
const noTerminal = whyNoTerminal();
if (noTerminal !== null) process.stderr.write(`skipped: al creds on a terminal (${noTerminal})\n`);

const cli = cliProject();

function pathOf(...parts: string[]): string {
  return join(cli.home, "credentials", ...parts);
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

function add(args: string, value = secret): Promise<Ran> {
  return cli.bash(`printf '%s\\n' '${value}' | $AL creds add ${args}`);
}

test("al creds add stores its input for the owner only, and never shows it", async () => {
  const { code, stdout, stderr } = await add("anthropic_key");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("anthropic_key is stored; the scheduler asks models with it");
  expect(stdout).not.toContain(secret);
  const path = pathOf("anthropic_key", "default", "key");
  expect(readFileSync(path, "utf8").trim()).toBe(secret);
  expect(modeOf(path)).toBe("600");
  for (let dir = dirname(path); dir !== cli.home; dir = dirname(dir)) {
    expect([dir, modeOf(dir)]).toEqual([dir, "700"]);
  }
  expect(modeOf(cli.home)).toBe("700");
});

test("al creds add warns that a secret of fewer than 6 characters can't be kept out of logs", async () => {
  const short = "a secret of fewer than 6 characters is not taken out of logs";
  expect((await add("foo_token --field v", "ab1de")).stderr).toContain(short);
  expect((await add("foo_token --field w", "ab1de2")).stderr).not.toContain(short);
});

test("al creds add replaces a credential only with the flag for it", async () => {
  await add("github_token:bot");
  const path = pathOf("github_token", "bot", "token");
  const again = await add("github_token:bot", "another-0123456789");
  expect(again.code).toBe(1);
  expect(again.stderr).toContain("--replace");
  expect(readFileSync(path, "utf8")).toContain(secret);
  expect((await add("github_token:bot --replace", "another-0123456789")).code).toBe(0);
  expect(readFileSync(path, "utf8").trim()).toBe("another-0123456789");
});

test("al creds add requires the field of a type with several, and names the missing ones", async () => {
  const which = await add("aws");
  expect(which.code).toBe(2);
  expect(which.stderr).toContain("--field is missing");
  const first = await add("aws --field access_key_id");
  expect(first.code).toBe(0);
  expect(first.stderr).toContain("lacks its field secret_access_key");
  expect((await add("aws --field secret_access_key")).stderr).toBe("");
});

test("al creds add takes a file with several lines", async () => {
  const file = join(cli.projectDir, "id");
  writeFileSync(file, "-----BEGIN-----\nabc\n-----END-----\n");
  await cli.output(`creds add git_ssh --from-file ${file}`);
  expect(readFileSync(pathOf("git_ssh", "default", "private_key"), "utf8")).toBe(
    "-----BEGIN-----\nabc\n-----END-----\n",
  );
});

test("al creds add closes a store that others could read", async () => {
  mkdirSync(pathOf("anthropic_key"), { recursive: true, mode: 0o755 });
  chmodSync(pathOf(), 0o755);
  expect((await add("anthropic_key")).stderr).toBe("");
  expect(modeOf(pathOf())).toBe("700");
});

test.each([
  ["gateway_api_key", 2, "al doctor"],
  ["../evil", 2, "not a credential"],
  ["anthropic_key --field ../../x", 1, "is not a name of a credential's field"],
  ["anthropc_key --field key", 0, 'did you mean "anthropic_key"'],
  ["git_ssh --field privat_key", 2, 'did you mean "private_key"?'],
  ["foo_token", 2, "foo_token is not a known type (al creds ls --types)"],
])("al creds add: %s exits with %i and prints %j", async (args, code, text) => {
  const ran = await add(args);
  expect(ran.code).toBe(code);
  expect(ran.stderr).toContain(text);
});

test("an empty secret is refused", async () => {
  const { code, stderr } = await add("anthropic_key", "");
  expect({ code, empty: stderr.includes("empty") }).toEqual({ code: 1, empty: true });
  expect(existsSync(pathOf("anthropic_key", "default", "key"))).toBe(false);
});

test("a secret in the wrong place is not repeated", async () => {
  for (const args of [["anthropic_key", secret], [`sk-${secret}!`]]) {
    const { code, stdout, stderr } = await cli.al(["creds", "add", ...args]);
    expect(code).toBe(2);
    expect(stdout + stderr).not.toContain("hush");
  }
});

describe.skipIf(noTerminal !== null)("al creds on a terminal", () => {
  test("asks without showing the input", async () => {
    const terminal = onTerminal(cli, "creds add anthropic_key");
    await terminal.until("Anthropic");
    terminal.line(secret);
    expect(await terminal.ended).toBe(0);
    expect(terminal.shown()).not.toContain("hush");
    expect(readFileSync(pathOf("anthropic_key", "default", "key"), "utf8").trim()).toBe(secret);
  });

  test("asks before it removes", async () => {
    await add("anthropic_key");
    const no = onTerminal(cli, "creds rm anthropic_key");
    await no.until("for good?");
    no.line("n");
    expect(await no.ended).toBe(1);
    expect(existsSync(pathOf("anthropic_key"))).toBe(true);
    const yes = onTerminal(cli, "creds rm anthropic_key");
    await yes.until("for good?");
    yes.line("y");
    expect(await yes.ended).toBe(0);
    expect(existsSync(pathOf("anthropic_key"))).toBe(false);
  });
});

test("al creds ls shows names, variables and modes, and never a value", async () => {
  await add("anthropic_key");
  await add("github_token:bot");
  const stdout = await cli.output("creds ls");
  expect(stdout).toMatch(/anthropic_key +key 600 +ANTHROPIC_API_KEY/);
  expect(stdout).toMatch(/github_token:bot +token 600 +GH_TOKEN, GITHUB_TOKEN/);
  expect(stdout).not.toContain("hush");
  const json = await cli.al("creds ls --json");
  expect(json.stdout).not.toContain("hush");
  expect(JSON.parse(json.stdout)).toMatchObject({
    credentials: [
      { name: "anthropic_key", fields: [{ name: "key", mode: "600" }], problem: null },
      { name: "github_token:bot" },
    ],
  });
});

test("al creds ls reports why a credential can't be used", async () => {
  await add("anthropic_key");
  chmodSync(pathOf("anthropic_key", "default", "key"), 0o644);
  const { stdout, stderr } = await cli.al("creds ls");
  expect(stdout).toContain("key 644");
  expect(stderr).toMatch(/open to other users \(mode 644\) \(chmod 600/);
});

test("al creds ls --types lists the known types", async () => {
  const { stdout } = await cli.al("creds ls --types --json");
  const { types } = JSON.parse(stdout) as { types: { type: string; optional: string[] }[] };
  expect(types.find(({ type }) => type === "aws")?.optional).toContain("region");
});

test("al creds rm removes a credential with its directories", async () => {
  await add("anthropic_key");
  const stdout = await cli.output("creds rm anthropic_key --yes");
  expect(stdout).toContain("removed");
  expect(existsSync(pathOf("anthropic_key"))).toBe(false);
});

test("al creds rm requires --yes off a terminal, and suggests a similar name", async () => {
  await add("anthropic_key");
  expect(await cli.al("creds rm anthropic_key")).toMatchObject({ code: 2 });
  const none = await cli.failure("creds rm nothing --yes");
  expect(none).toBe('error: there is no credential "nothing"\nhint: stored: anthropic_key\n');
  const stderr = await cli.failure("creds rm anthropic_ky --yes");
  expect(stderr).toContain('did you mean "anthropic_key"?');
  expect(existsSync(pathOf("anthropic_key", "default", "key"))).toBe(true);
});
