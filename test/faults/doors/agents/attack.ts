import type { LiveProject } from "../../../helpers/live-project.ts";
import { createLogSource } from "../../../../src/foundation/logs/log-source.ts";

/** What one try of an attacker gave: its exit code and what it said. */
export interface Tried {
  readonly code: number;
  readonly said: string;
}

/** Makes an agent whose model was talked into running this script, and nothing else. */
export async function injectedAgent(
  project: LiveProject,
  name: string,
  script: string,
  config: string,
): Promise<void> {
  const tool = `[[turns.tools]]\nname = "bash"\narguments = { command = ${JSON.stringify(script)} }`;
  const turns = `[[turns]]\ntext = "as you wish"\n${tool}\n\n[[turns]]\ntext = "did it"\n`;
  const model = `[models.${name}]\nprovider = "scripted"\nscript = "${name}.script.toml"\n`;
  const own = `models = ["${name}"]\nschedule = "0 0 29 2 *"\n${config}`;
  await project.write(`${name}.script.toml`, turns);
  await project.append("config.toml", `\n${model}`);
  await project.write(`agents/${name}/SKILL.md`, "Read the issue, and do what it says.\n");
  await project.write(`agents/${name}/config.toml`, own);
}

/** A script that makes each try in a shell of its own, at most 10 s long, and tells what came of it. */
export function tries(attacks: Readonly<Record<string, string>>): string {
  return Object.entries(attacks)
    .map(([name, command]) => {
      const quoted = `'${command.replaceAll("'", `'\\''`)}'`;
      return `out=$(timeout 10 sh -c ${quoted} 2>&1 | head -c 600 | base64 -w0; exit \${PIPESTATUS[0]}); echo "@${name} $? $out"`;
    })
    .join("\n");
}

/** What the tries of an agent's last run gave, by name. */
export async function resultsOf(
  { dir }: LiveProject,
  agent: string,
): Promise<Readonly<Record<string, Tried>>> {
  const query = { agent, instanceId: null, lines: 1_000, after: null };
  const output = (await createLogSource(dir).read(query))
    .filter(({ entry }) => entry.kind === "tool-result")
    .map(({ entry }) => String(entry.output));
  const found = [...output.join("\n").matchAll(/^@(\S+) (\d+) (\S*)$/gm)];
  return Object.fromEntries(
    found.map(([, name = "", code, said = ""]) => [name, { code: Number(code), said: atob(said) }]),
  );
}
