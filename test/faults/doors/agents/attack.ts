import type { LiveProject } from "../../../helpers/live-project.ts";

/** What one try of an attacker gave: its exit code and what it said. */
export interface Tried {
  readonly code: number;
  readonly said: string;
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
  project: LiveProject,
  agent: string,
): Promise<Readonly<Record<string, Tried>>> {
  const output = (await project.entries(agent, "tool-result")).map((entry) => String(entry.output));
  const found = [...output.join("\n").matchAll(/^@(\S+) (\d+) (\S*)$/gm)];
  return Object.fromEntries(
    found.map(([, name = "", code, said = ""]) => [name, { code: Number(code), said: atob(said) }]),
  );
}
