import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { exampleAgents, store, writeFiles } from "../interfaces/cli/import/their-projects.ts";
import { LiveProject } from "../helpers/live-project.ts";

let project: LiveProject;
const al = (...args: readonly string[]) => project.print(...args);

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

/** Imports the agents, and does in their files what the import says is left to do. */
async function importAgents(): Promise<void> {
  const [theirs, theirStore] = [project.path("../theirs"), project.path("../store")];
  writeFiles(theirs, exampleAgents);
  writeFiles(theirStore, credentials);
  const flags = ["--yes", "--json", "--credentials", theirStore];
  const told = await al("import", theirs, "--to", project.dir, ...flags);
  const { edits } = JSON.parse(told) as { readonly edits: readonly Edit[] };
  // Agents reach no host but those of their credentials.
  const isOfNetwork = ({ fix }: Edit) => fix?.startsWith("[network] with allow") === true;
  expect(edits.filter(isOfNetwork)).toHaveLength(1);
  for (const edit of edits.filter((each) => !isOfNetwork(each))) writeThere(edit);
}

/** Each is about a command in quotes, in one line of a file. */
function writeThere({ file, line, fix }: Edit): void {
  const path = project.path(file ?? "");
  const lines = readFileSync(path, "utf8").split("\n");
  const before = lines[(line ?? 0) - 1] ?? "";
  const after = before.replace(/\br?(?:un)?lock "[^"]*"/, fix ?? "");
  expect(after).not.toBe(before);
  lines[(line ?? 0) - 1] = after;
  writeFileSync(path, lines.join("\n"));
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

/** The scripted model in the place of all others, and no container. */
async function useScriptedModel(): Promise<void> {
  await project.write("run.script.toml", script);
  for (const name of ["claude-sonnet-4-5", "claude-sonnet-4-5-xhigh", "claude-haiku-4-5"]) {
    const model = '{ provider = "scripted", script = "run.script.toml" }';
    await al("config", "--set", `models.${name}=${model}`);
  }
  for (const name of ["builder", "gardener", "triage"]) {
    await al("config", name, "--set", "runtime.type=host-user", "--set", "runtime.run_as=$USER");
  }
}

test("agents of the older layout run as one project, after the edits that the import names", async () => {
  project = await LiveProject.of({});
  await importAgents();
  await useScriptedModel();
  const scheduler = await project.start();
  for (const name of ["builder", "triage"]) {
    const shown = await al("run", name);
    expect(shown).toContain('{"ok":true,"resource":"github:issue/acme/app/7"');
    expect(shown).toContain("user  token set");
  }
  expect(await al("run", "gardener")).toContain("user bot token");

  // A comment of another person on an issue of the author that the filter names, and the reverse.
  expect(await matchedBy(scheduler.url, { author: "ada", commenter: "bob" })).toEqual(["triage"]);
  expect(await matchedBy(scheduler.url, { author: "bob", commenter: "ada" })).toEqual([]);
  const started = async () =>
    (await project.history("kind=webhook")).filter(({ agent }) => agent !== null);
  await expect
    .poll(started, { timeout: 20_000 })
    .toMatchObject([{ agent: "triage", event: "issue_comment", outcome: "succeeded" }]);
}, 90_000);

/** The agents that a comment on an issue starts. */
async function matchedBy(
  url: string,
  { author, commenter }: { readonly author: string; readonly commenter: string },
): Promise<readonly string[]> {
  const body = JSON.stringify({
    action: "created",
    issue: { number: 7, title: "It breaks", user: { login: author }, labels: [] },
    comment: { body: "What do you mean?", user: { login: commenter } },
    repository: { full_name: "acme/app", owner: { login: "acme" } },
    sender: { login: commenter, type: "User" },
  });
  const signature = createHmac("sha256", "hook-9876543210").update(body).digest("hex");
  const answer = await fetch(`${url}/webhooks/github`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-github-event": "issue_comment",
      "x-github-delivery": `${author}-${commenter}`,
      "x-hub-signature-256": `sha256=${signature}`,
    },
    body,
  });
  const { matched } = (await answer.json()) as { readonly matched: readonly { agent: string }[] };
  return matched.map(({ agent }) => agent);
}
