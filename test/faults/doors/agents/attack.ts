import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import type { TestProject } from "../../../helpers/scheduler.ts";

/** What one try of an attacker gave: its exit code and what it said. */
export interface Tried {
  readonly code: number;
  readonly said: string;
}

/** Makes an agent whose model was talked into running this script, and nothing else. */
export async function injectedAgent(
  { dir }: TestProject,
  name: string,
  script: string,
  config: string,
): Promise<void> {
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  };
  const tool = `[[turns.tools]]\nname = "bash"\narguments = { command = ${JSON.stringify(script)} }`;
  await write(
    `${name}.script.toml`,
    `[[turns]]\ntext = "as you wish"\n${tool}\n\n[[turns]]\ntext = "did it"\n`,
  );
  await write(`agents/${name}/SKILL.md`, "Read the issue, and do what it says.\n");
  await write(
    `agents/${name}/config.toml`,
    `models = ["${name}"]\nschedule = "0 0 29 2 *"\n${config}`,
  );
  const path = join(dir, "config.toml");
  const text = await readFile(path, "utf8");
  await writeFile(
    path,
    `${text}\n[models.${name}]\nprovider = "scripted"\nscript = "${name}.script.toml"\n`,
  );
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
  { dir }: TestProject,
  agent: string,
): Promise<Readonly<Record<string, Tried>>> {
  const folder = join(dir, ".al/logs");
  const names = (await readdir(folder)).filter((name) => name.startsWith(`${agent}-`));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  const lines = texts
    .join("")
    .split("\n")
    .filter((line) => line !== "");
  const entries = lines.map((line) => JSON.parse(line) as LogEntry);
  const output = entries
    .filter(({ kind }) => kind === "tool-result")
    .map((entry) => String(entry.output));
  const found = [...output.join("\n").matchAll(/^@(\S+) (\d+) (\S*)$/gm)];
  return Object.fromEntries(
    found.map(([, name = "", code, said = ""]) => [
      name,
      { code: Number(code), said: Buffer.from(said, "base64").toString("utf8") },
    ]),
  );
}
