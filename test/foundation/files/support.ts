import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Observable } from "rxjs";
import type { ProjectFileEvent } from "../../../src/foundation/files/watch-project.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

/** A project with a config and agents, removed when the test is over. */
export function tempProject(agents: readonly string[] = ["dev", "ops"]): string {
  const dir = tempDir();
  write(join(dir, "config.toml"), "");
  for (const agent of agents) addAgent(dir, agent);
  return dir;
}

export function addAgent(project: string, name: string): void {
  write(join(project, "agents", name, "config.toml"), "models = []\n");
  write(join(project, "agents", name, "SKILL.md"), `# ${name}\n`);
}

export function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Subscribes until the test is over; resolves once the source is ready. */
export async function watching(source: Observable<ProjectFileEvent>) {
  const events: ProjectFileEvent[] = [];
  const errors: unknown[] = [];
  const subscription = source.subscribe({
    next: (event) => events.push(event),
    error: (error) => errors.push(error),
  });
  onTestFinished(() => {
    subscription.unsubscribe();
    expect(errors).toEqual([]);
  });
  await expect.poll(() => events).toContainEqual({ type: "ready" });
  const touched = (): Set<string> =>
    new Set(events.flatMap((event) => (event.type === "touched" ? [event.path] : [])));
  /** How often anything of an agent was touched. */
  const touches = (start: string): number =>
    events.filter((event) => event.type === "touched" && event.path.startsWith(start)).length;
  const forget = (): void => void events.splice(0);
  return { events, touched, touches, forget };
}
