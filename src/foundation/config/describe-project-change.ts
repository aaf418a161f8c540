import { describeAlerts } from "./alert-options.ts";
import { describeBudgets } from "./budget.ts";
import { describeClusters } from "./cluster.ts";
import { describeKeys, describeValues, differingKeys } from "./format-value.ts";
import { writtenSize } from "./fields.ts";
import type { ProjectConfig } from "./project-config.ts";

interface ProjectDifference {
  /** One line; empty if nothing differs. */
  readonly text: string;
  /** True for the gateway: once it listens on TCP, its changes take effect at the next start. */
  readonly needsRestart: boolean;
}

/** The differences between two configs of the project. */
export function describeProjectChange(
  before: ProjectConfig,
  after: ProjectConfig,
): ProjectDifference {
  const text = differingKeys(before, after)
    .map((key) => describeKey(key as keyof ProjectConfig, before, after))
    .join(", ");
  const needsRestart = differingKeys(before.gateway, after.gateway).some((key) => key !== "edit");
  return { text, needsRestart };
}

/** Tables of which only the name is said: a URL may hold a secret. */
const unquoted: readonly string[] = ["harness", "heartbeat", "telemetry"];

/** Tables of tables. */
const namedTables = ["models", "webhooks", "calendars", "memories"] as const;

function describeKey(
  key: keyof ProjectConfig,
  before: ProjectConfig,
  after: ProjectConfig,
): string {
  if (key === "budget") return describeBudgets(before.budget, after.budget);
  if (key === "network") return describeKeys("network", before.network, after.network);
  if (key === "cluster") return describeClusters(before.cluster, after.cluster);
  if (key === "alert") return describeAlerts(before.alert, after.alert);
  if (key === "alerts") return describeTables(key, byName(before.alerts), byName(after.alerts));
  if (key === "artifactsBytes")
    return describeValues("artifacts.maxBytes", writtenSize(before[key]), writtenSize(after[key]));
  if (unquoted.includes(key)) return `[${key}] changed`;
  const tables = namedTables.find((one) => one === key);
  if (tables !== undefined) return describeTables(tables, before[tables], after[tables]);
  if (key === "local" || key === "gateway") {
    return describeTable(`${key}.`, before[key], after[key]);
  }
  return describeTable("", { [key]: before[key] }, { [key]: after[key] });
}

/** Names keys as the file does, without the units in the config's own names. */
function describeTable(prefix: string, before: object, after: object): string {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return differingKeys(before, after)
    .map((key) =>
      describeValues(`${prefix}${key.replace(/Seconds$/, "")}`, old.get(key), now.get(key)),
    )
    .join(", ");
}

function describeTables(section: string, before: object, after: object): string {
  return differingKeys(before, after)
    .map((name) => {
      const isNew = !Object.hasOwn(before, name);
      const isGone = !Object.hasOwn(after, name);
      return `[${section}.${name}] ${isNew ? "added" : isGone ? "removed" : "changed"}`;
    })
    .join(", ");
}

function byName(list: readonly { readonly name: string }[]): object {
  return Object.fromEntries(list.map((one) => [one.name, one]));
}
