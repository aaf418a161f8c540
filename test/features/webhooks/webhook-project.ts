import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { webhookSecretType } from "../../../src/foundation/credentials/credential-types.ts";
import { providerTable } from "../../../src/features/webhooks/providers/table.ts";
import type { TestProject } from "../../helpers/scheduler.ts";

/** Secrets with which each provider signs the body; GitLab's and the standard's are signing tokens. */
export function secretOf(type: string): string {
  const whsec = `whsec_${Buffer.from(`the secret of ${type}`).toString("base64")}`;
  return type === "gitlab" || type === "standard" ? whsec : `hush-${type}`;
}

const types = [...providerTable.keys()];

/** `[webhooks.<type>]` for every type, each with its own secret; those of `open-<type>` take unsigned deliveries. */
const allSources = types
  .map(
    (type) => `[webhooks.${type}]
type = "${type}"
credential = "default"
[webhooks.open-${type}]
type = "${type}"
allowUnsigned = true
`,
  )
  .join("");

const projectConfig = `[models.scripted]
provider = "scripted"
script = "done.script.toml"
${allSources}`;

/** A project with a signed and an unsigned source of every type, their secrets, and these agents' `config.toml`. */
export async function webhookProject(
  agents: Readonly<Record<string, string>> = {},
): Promise<TestProject> {
  const folder = await mkdtemp(join(tmpdir(), "al-webhooks-"));
  const project = {
    dir: join(folder, "project"),
    home: join(folder, "home"),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
  await write(join(project.dir, "config.toml"), projectConfig);
  await write(join(project.dir, "done.script.toml"), '[[turns]]\ntext = "done"\n');
  for (const [name, config] of Object.entries(agents)) await writeAgent(project, name, config);
  for (const type of types) await storeSecret(project, type, secretOf(type));
  return project;
}

/** Adds an agent that runs without isolation, with this in its `config.toml`. */
export async function writeAgent(
  { dir }: TestProject,
  name: string,
  config: string,
): Promise<void> {
  await write(join(dir, "agents", name, "SKILL.md"), "Do it.\n");
  await write(join(dir, "agents", name, "config.toml"), agentConfig(config));
}

/** A whole agent's config with these lines in it. */
export function agentConfig(more: string): string {
  return `models = ["scripted"]
credentials = []
${more}
[runtime]
type = "host-user"
run_as = "$USER"
`;
}

/** Puts a secret of a type's credential into the store, as one more file when it is given another field's name. */
export async function storeSecret(
  { home }: TestProject,
  type: string,
  value: string,
  field = "secret",
): Promise<void> {
  const file = join(home, "credentials", webhookSecretType(type), "default", field);
  await write(file, `${value}\n`);
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, text, { mode: 0o600 });
}
