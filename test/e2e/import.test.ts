import { exampleAgents, store, writeFiles } from "../interfaces/cli/import/their-projects.ts";
import { LiveProject } from "../helpers/live-project.ts";

const credentials = {
  ...store,
  "git_ssh/default/id_rsa": "-----BEGIN KEY-----\n",
  "github_webhook_secret/default/secret": "hook-9876543210\n",
  "anthropic_key/default/token": "sk-ant-0123456789\n",
  "reddit_oauth/default/client_id": "app\n",
  "reddit_oauth/default/client_secret": "app-0123456789\n",
  "reddit_oauth/default/username": "bot\n",
  "reddit_oauth/default/password": "pass-0123456789\n",
  "reddit_oauth/default/user_agent": "script:bot\n",
};

interface Edit {
  readonly file: string | null;
  readonly line: number | null;
  readonly fix: string | null;
}

/** Takes the lock as the instructions of the agent say. */
const script = `[[turns]]
text = "Taking the issue."
[[turns.tools]]
name = "bash"
arguments = { command = '''rlock "github:issue/acme/app/7" && echo "user $REDDIT_USERNAME token \${GITHUB_TOKEN:+set}"''' }
[[turns]]
text = "Done."
`;

test("imported agents of an older layout run as one project after the edits that al import lists", async () => {
  const project = await LiveProject.of({});
  const [theirs, theirStore] = [project.path("../theirs"), project.path("../store")];
  writeFiles(theirs, exampleAgents);
  writeFiles(theirStore, credentials);
  const flags = ["--yes", "--json", "--credentials", theirStore];
  const told = await project.print("import", theirs, "--to", project.dir, ...flags);
  const { edits } = JSON.parse(told) as { readonly edits: readonly Edit[] };
  // Agents reach no host but those of their credentials.
  const isOfNetwork = ({ fix }: Edit) => fix?.startsWith("[network] with allow") === true;
  expect(edits.filter(isOfNetwork)).toHaveLength(1);
  for (const { file, line, fix } of edits.filter((one) => !isOfNetwork(one))) {
    // Each is about a command in quotes, in one line of a file.
    const lines = (await project.read(file ?? "")).split("\n");
    const before = lines[(line ?? 0) - 1] ?? "";
    const after = before.replace(/\br?(?:un)?lock "[^"]*"/, fix ?? "");
    await project.edit(file ?? "", before, after);
  }
  const set = (...args: readonly string[]) => project.print("config", ...args);
  const model = '{ provider = "scripted", script = "run.script.toml" }';
  await project.write("run.script.toml", script);
  for (const name of ["claude-sonnet-4-5", "claude-sonnet-4-5-xhigh", "claude-haiku-4-5"])
    await set("--set", `models.${name}=${model}`);
  const runtime = ["--set", "runtime.type=host-user", "--set", "runtime.run_as=$USER"];
  const users = {
    builder: "user  token set",
    triage: "user  token set",
    gardener: "user bot token",
  };
  for (const name of Object.keys(users)) await set(name, ...runtime);
  await project.start();
  for (const [name, user] of Object.entries(users)) {
    const shown = await project.print("run", name);
    expect(shown).toContain('{"ok":true,"resource":"github:issue/acme/app/7"');
    expect(shown).toContain(user);
  }
});
