import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { CrashProject } from "./crash-project.ts";
import type { Chain } from "./kill-chain.ts";
import { agents } from "./keyed-project.ts";

interface Row {
  readonly id: string;
  readonly agent: string;
  readonly key: string | null;
  readonly run: string | null;
  readonly state: string;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly attempt: number;
  /** 1 for a dead letter. */
  readonly isDead: number;
  readonly by: string | null;
  /** Receipt ids as a JSON list. */
  readonly receipts: string;
}

const receiptsOf = ({ receipts }: Row): readonly string[] => JSON.parse(receipts) as string[];
export const isGathering = ({ agent }: Row): boolean => agents[agent]?.gathers === true;

export function look({ dir }: CrashProject) {
  using db = new DatabaseSync(join(dir, ".al", "state.db"), { timeout: 5000 });
  const all = (sql: string) => db.prepare(sql).all() as unknown;
  return {
    rows: all(
      `SELECT id, agent, key, instance_id AS run, state, outcome, reason, attempt, dead_letter AS isDead,
         superseded_by AS "by",
         coalesce(gathered, json_array(receipt_id)) AS receipts FROM triggers ORDER BY seq`,
    ) as readonly Row[],
    gathering: all("SELECT agent, receipt_id AS id FROM gatherings ORDER BY seq") as readonly {
      readonly agent: string;
      readonly id: string;
    }[],
    /** Their ids are "<event>-<number>". */
    deliveries: all("SELECT id, delivery_id AS name FROM receipts ORDER BY seq") as readonly {
      readonly id: string;
      readonly name: string;
    }[],
  };
}

/** How much gathers, waits or runs. */
export function openWork({ project }: Chain): number {
  const { rows, gathering } = look(project);
  return gathering.length + rows.filter(({ state }) => state !== "ended").length;
}

/** Stored deliveries that are not in exactly one place of each of their agents, and work that names others. */
export function wrongRows({ project, accepted }: Chain): readonly string[] {
  const { rows, gathering, deliveries } = look(project);
  const places = new Map(deliveries.map(({ id }, place) => [id, place]));
  const placesOf = (row: Row) => receiptsOf(row).map((id) => places.get(id) ?? -1);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const isNewer = (row: Row) => {
    const newer = byId.get(row.by ?? "");
    const isOther = newer?.agent !== row.agent || newer.key !== row.key;
    return !isOther && Math.min(...placesOf(newer)) > Math.max(...placesOf(row));
  };
  const wrong = rows.filter((row) => {
    const { agent, key, outcome } = row;
    const onNew = agents[agent]?.onNew ?? null;
    const isInOrder = placesOf(row).every((place, i, all) => place > (all[i - 1] ?? -1));
    const isRight = outcome !== "superseded" || (onNew !== "wait" && isNewer(row));
    return (key === null) !== (onNew === null) || !isInOrder || !isRight;
  });
  const perAgent = Object.entries(agents).flatMap(([name, { event }]) => {
    const own = rows.filter(({ agent }) => agent === name);
    const first = own.filter(({ attempt }) => attempt === 1);
    const held = gathering.filter(({ agent }) => agent === name).map(({ id }) => id);
    const lost = first.filter(({ outcome }) => outcome === "lost");
    const due = deliveries.filter((one) => one.name.startsWith(`${event}-`)).map(({ id }) => id);
    return [
      ...difference(`${name}: work`, [...first.flatMap(receiptsOf), ...held], due),
      ...difference(
        `${name}: retries`,
        own.filter(({ attempt }) => attempt > 1).map(({ receipts }) => receipts),
        lost.map(({ receipts }) => receipts),
      ),
    ];
  });
  const gone = [...accepted].filter((id) => !places.has(id));
  return [...gone.map((id) => `${id} was answered 200 and is gone`), ...perAgent, ...wrong].map(
    (one) => (typeof one === "string" ? one : `wrong: ${JSON.stringify(one)}`),
  );
}

function difference(what: string, found: readonly string[], due: readonly string[]): string[] {
  const [a, b] = [found.toSorted().join(), due.toSorted().join()];
  return a === b ? [] : [`${what} for ${a}, not for ${b}`];
}

/** Differences between the work in the store, once all has ended, and what the runs themselves noted. */
export function wrongRuns(chain: Chain): readonly string[] {
  const { rows, deliveries } = look(chain.project);
  const numbers = new Map(deliveries.map(({ id, name }) => [id, name.split("-")[1] ?? ""]));
  const notes = linesOf(chain, "ran").map((line) => line.trim());
  const noted = Map.groupBy(notes, (note) => note.split(" ")[0] ?? "");
  const known = new Set(rows.map(({ run }) => run));
  const wrong = rows.filter((row) => {
    const own = noted.get(row.run ?? "") ?? [];
    const whole = [row.run, ...receiptsOf(row).map((id) => numbers.get(id))].join(" ");
    switch (row.outcome) {
      case "succeeded":
        return own.join() !== whole;
      case "superseded":
        return own.length > 0 && own.join() !== whole;
      // Its process had not begun to work: a run that works outlives its scheduler. After two kills a person decides.
      default:
        return row.outcome !== "lost" || row.isDead !== row.attempt - 1 || own.length > 0;
    }
  });
  return [
    ...[...noted.keys()].filter((id) => !known.has(id)).map((id) => `${id} is unknown`),
    ...wrong.map((row) => `${JSON.stringify(row)} noted ${noted.get(row.run ?? "")?.join()}`),
  ];
}

export function linesOf({ project }: Chain, file: "ran" | "clashes"): readonly string[] {
  const lines = readFileSync(join(project.marks, file), "utf8").split("\n").filter(Boolean);
  // Runs of one key may be at once where no key of `[concurrency]` keeps them apart.
  return lines.filter((line) => file === "ran" || !line.startsWith("gathers "));
}

/** Counts of a whole chain, for its reader. */
export function summary({ project }: Chain): string {
  const { rows, deliveries } = look(project);
  const ends = Object.groupBy(rows, ({ agent, outcome }) => `${agent} ${outcome}`);
  const counts = Object.entries(ends).map(([end, all]) => `${end} ${all?.length}`);
  return `${deliveries.length} deliveries; ${counts.join(", ")}`;
}
