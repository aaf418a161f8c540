import type { TestDeps } from "../gateway/start-gateway.ts";
import { ada } from "./people-states.ts";

/** A memory with versions of runs and of a person, one of them shared; what a run changed and could not keep is on its page. */
export function withMemory({ operations }: TestDeps, instance: string): void {
  const { memory } = operations;
  const { file } = memory;
  const state = (seen: number) => file("state.json", `{\n  "seen": ${seen}\n}\n`);
  const notes = [1, 2].map((n) =>
    file("notes/issues.md", Array.from({ length: n * 3 }, (_, i) => `- issue ${i}\n`).join("")),
  );
  const [first, second] = notes;
  if (first === undefined || second === undefined) return;
  const conflict = file("notes/issues.md.conflict-dev-bbbbbbbb", "- issue 9\n");
  memory.add("dev", [state(1)], [state(2), first], [state(3), second, conflict]);
  memory.add("shared/team", [file("facts.md", "The team deploys on Mondays.\n")]);
  const [restored, , latest] = memory.versions;
  if (restored === undefined || latest === undefined) return;
  memory.versions[0] = { ...restored, instanceId: null, by: ada };
  memory.versions[2] = { ...latest, conflicts: [conflict.path] };
  const run = operations.runs.get(instance);
  if (run === undefined) return;
  const changes = { count: 1, files: [{ path: "state.json", change: "changed" }] } as const;
  operations.runs.set(instance, {
    ...run,
    memory: {
      versions: [{ name: "dev", n: 2, changes }],
      proposals: [{ id: "p", name: "shared/team", state: "open" }],
      notKept: [{ name: "shared/ops", reason: "shared/ops/ has 2.0 MiB, of at most 1.0 MiB." }],
    },
  });
}

/** Names that are markup, a limit that is reached, a memory that left the config, and a content that is lost. */
export function withBrokenMemory({ operations }: TestDeps, attack: string): void {
  const { memory } = operations;
  memory.options.delete("dev");
  memory.notKept = {
    name: "dev",
    instanceId: "dev-dddddddd",
    at: Date.now() - 60_000,
    reason: `memory/${attack} has 300.0 KiB, of at most 256.0 KiB a file.`,
  };
  const lost = { ...memory.file("lost.json", "{}"), hash: "lost" };
  const files = [memory.file(attack, attack), lost];
  const at = Date.now() - 30_000;
  const by = { instanceId: "dev-cccccccc", by: null };
  memory.versions.push({ name: "dev", n: 4, at, files, conflicts: [attack], ...by });
  const proposed = { name: "dev", at, agent: "dev", base: 0, files: [], decidedAt: null } as const;
  const one = { ...proposed, state: "open", instanceId: "dev-eeeeeeee", version: null } as const;
  memory.proposals.push({ ...one, by: null, id: "p1" }, { ...one, by: null, id: "p2" });
}
