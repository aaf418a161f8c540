import type { DenyReason } from "./deny-reasons.ts";
import { allowEntry, isFor } from "./network-allow.ts";
import type { AllowedHost } from "./network-allow.ts";
import { shellWord } from "./shell-word.ts";

/** The entry that a host needs that was denied; null where no entry helps, or one of these does. */
export function missingEntry(
  { host, port, denied }: Pick<AllowedHost, "host" | "port"> & { readonly denied: DenyReason },
  allow: readonly AllowedHost[],
): string | null {
  const isPrivate = denied === "private_address";
  if (denied !== "not_allowed" && !isPrivate) return null;
  const isListed = allow.some((entry) => {
    return isFor(entry, host, port) && (entry.isPrivate || !isPrivate);
  });
  if (isListed) return null;
  return isPrivate ? allowEntry({ host, port, isPrivate }) : allowEntry({ host, port });
}

/** The command that allows it for an agent. */
export function allowCommand(agent: string, entry: string): string {
  return `al config ${agent} --add ${shellWord(`network.allow=${entry}`)}`;
}
