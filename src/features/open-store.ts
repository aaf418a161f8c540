import { openStoreWith, type Store } from "../foundation/store/store.ts";
import { alertTables } from "./alerts/alert-store.ts";
import { artifactTables } from "./artifacts/artifact-store.ts";
import { mcpTables } from "./mcp/mcp-store.ts";
import { memoryTables } from "./memory/memory-tables.ts";
import { peopleTables } from "./people/people-tables.ts";
import { sessionTables } from "./sessions/session-tables.ts";
import { spendTables } from "./spend/spend-tables.ts";
import { tokenTables } from "./tokens/token-store.ts";
import { refusedTables } from "./webhooks/refused-deliveries.ts";

export const featureTables = [
  spendTables,
  alertTables,
  peopleTables,
  tokenTables,
  mcpTables,
  refusedTables,
  memoryTables,
  artifactTables,
  sessionTables,
];

/** Opens the store of a project with the tables of all features. Throws as `openStoreWith` does. `now` gives epoch ms. */
export function openStore(projectDir: string, now: () => number = Date.now): Store {
  return openStoreWith(featureTables, projectDir, now);
}
