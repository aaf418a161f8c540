import { denyProblems, bracketed } from "../../foundation/contracts/deny-reasons.ts";
import type { DenyReason, HostAndPort } from "../../foundation/contracts/deny-reasons.ts";
import type { EgressAttempt } from "../../foundation/contracts/network-allow.ts";
import { allowCommand, missingEntry } from "../../foundation/contracts/network-allow.ts";
import type { Store } from "../../foundation/store/store.ts";
import type { LiveRun } from "./live-run.ts";

/** Limit of logged hosts: a run may request any number. */
const maxDenials = 200;

/** Stores the hosts that runs request, and logs each denied one once per run and reason. */
export function recordAttempts(
  find: (instanceId: string) => Pick<LiveRun, "denials" | "warn"> | undefined,
  hosts: Store["hosts"],
  redact: (text: string) => string,
) {
  return (attempt: EgressAttempt): void => {
    // A name may contain a secret.
    const asked = { ...attempt, host: redact(attempt.host) };
    hosts.add(asked);
    const { instanceId, host, port, denied: reason } = asked;
    const run = find(instanceId);
    if (reason === null || run === undefined) return;
    // An earlier scheduler logged the stored ones.
    run.denials ??= new Set(
      hosts.of(instanceId).flatMap((one) => (one.denied === null ? [] : keyOf(one))),
    );
    const { denials } = run;
    if (denials.size >= maxDenials || denials.has(keyOf(asked))) return;
    denials.add(keyOf(asked));
    run.warn(denialText(asked, reason), { kind: "network", host, port, reason });
    if (denials.size < maxDenials) return;
    run.warn(`${maxDenials} hosts were denied; further ones are not logged`, { kind: "network" });
  };
}

function keyOf({
  host,
  port,
  denied,
}: HostAndPort & { readonly denied: DenyReason | null }): string {
  return `${denied ?? ""} ${port} ${host}`;
}

function denialText({ agent, host, port, detail }: EgressAttempt, denied: DenyReason): string {
  const entry = missingEntry({ host, port, denied }, []);
  if (entry === null) return `denied: ${detail}`;
  const problem = `${bracketed(host)}:${port} denied: it ${denyProblems[denied]}`;
  return `${problem}. If the agent needs it: ${allowCommand(agent, entry)}`;
}
