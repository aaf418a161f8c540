import { z } from "zod";
import type { NetworkConfig } from "../../../streams/agent-config.ts";
import { parseAllowEntry, presetEntries } from "../contracts/network-allow.ts";
import { agentKey, factOf } from "./config-key.ts";
import type { Diagnostics } from "./validate.ts";
import { describeKeys } from "./format-value.ts";
import { credential, list, table } from "./fields.ts";

const entryError =
  'a preset such as "github", or a host such as "api.example.com", "*.example.com", "example.com:22" or "10.0.0.7:5432 private"';

function entries() {
  const entry = z.string({ error: entryError }).refine(isAllowEntry, { error: entryError });
  return list(entry, 'a list of presets and hosts, e.g. ["github", "api.example.com"]');
}

const host = z
  .string({ error: "a host, e.g. api.example.com" })
  .refine((text) => presetEntries(text) === null && parsesAsHost(text), {
    error: 'a host without a port and without a wildcard, e.g. "api.example.com"',
  });

const allow = entries()
  .default([])
  .describe(
    "Presets and hosts that runs may reach, in addition to their models and the presets of their credentials. The port is 443 unless the entry names another one. `*.example.com` matches all subdomains. Append ` private` to allow addresses in private networks.",
  );
const ask = z
  .literal(false, {
    error:
      "false: list hosts in network.allow, and those that a person has to allow in approve.hosts",
  })
  .default(false)
  .describe("Reserved for asking a person about hosts that are not listed.");

/** The project's `[network]`. */
export const projectNetworkSchema = table({
  allow,
  ask,
  credentials: z
    .record(credential(), list(host, 'a list of hosts, e.g. ["api.example.com"]'), {
      error: "a table of credentials with their hosts",
    })
    .default({})
    .describe(
      "Further hosts that a credential may be sent to. Runs receive placeholders for its secrets; the scheduler inserts the secrets into the headers of requests to these hosts.",
    ),
});

/** An agent's own `[network]`. */
export const networkKey = agentKey({
  inFile: "network",
  field: table({ allow, ask })
    .optional()
    .describe(
      'Hosts that runs may reach. A run whose network can\'t be restricted does not start. No effect if `[local].network` is not "none".',
    ),
  resolve: (given): NetworkConfig | null => (given ? { allow: given.allow } : null),
  value: z.object({ allow: z.array(z.string()).readonly() }).nullable(),
  change: (before, after) => describeKeys("network", before, after),
  facts: (network) => factOf("May reach", network?.allow ?? []),
});

interface CheckedTable {
  readonly network?: NetworkConfig | undefined;
  readonly local: { readonly network?: string | undefined };
}

/** Warns of a table that has no effect. */
export function checkNetwork(
  { network, local }: CheckedTable,
  project: { readonly local: { readonly network: string } },
  diagnostics: Diagnostics,
): void {
  const connected = local.network ?? project.local.network;
  if (network === undefined || connected === "none") return;
  const why = `network has no effect, because local.network is ${JSON.stringify(connected)}`;
  diagnostics.warn(["network"], `${why}; leave one of them out, or set local.network = "none"`);
}

function isAllowEntry(text: string): boolean {
  return presetEntries(text) !== null || typeof parseAllowEntry(text) !== "string";
}

function parsesAsHost(text: string): boolean {
  const parsed = parseAllowEntry(text);
  if (typeof parsed === "string" || parsed.isPrivate || parsed.isWildcard) return false;
  return !text.includes(":");
}
