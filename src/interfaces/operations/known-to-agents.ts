import type { KnownToAgents } from "../../foundation/config/config-key.ts";
import { credentialTypes } from "../../foundation/credentials/credential-types.ts";
import { setsVariable } from "../../foundation/credentials/stage-credentials.ts";
import { packageVersion } from "../../foundation/version.ts";
import { filterTable } from "../../features/webhooks/providers/table.ts";

/** What an agent's files are judged by beside the project's config: what this version of the program knows. */
export function knownToAgents(): KnownToAgents {
  return {
    filters: filterTable,
    credentialTypes: Object.keys(credentialTypes),
    credentialSets: setsVariable,
    version: packageVersion(),
  };
}
