import type { KnownToAgents } from "./config/config-key.ts";
import { credentialTypes } from "./credentials/credential-types.ts";
import { setsVariable } from "./credentials/stage-credentials.ts";
import { packageVersion } from "./version.ts";
import { filterTable } from "./webhooks/providers/table.ts";

/** What an agent's files are judged by beside the project's config: what this version of the program knows. */
export function knownToAgents(): KnownToAgents {
  return {
    filters: filterTable,
    credentialTypes: Object.keys(credentialTypes),
    credentialSets: setsVariable,
    version: packageVersion(),
  };
}
