import { setTimeout as sleep } from "node:timers/promises";
import { partsOf, type InputOf, type OutputOf } from "../../foundation/operation.ts";
import { inProcess, operationAt } from "../../foundation/perform.ts";
import type { AgentStatus } from "../../../streams/status/wire.ts";
import type { Frame } from "../dashboard/kit/site.tsx";
import type { FirstDocument } from "../dashboard/live/use-document.ts";
import type { NamedOperations } from "../operations/table.ts";
import type { GatewayDeps } from "./deps.ts";

/** Data that each page of the dashboard is rendered with. */
export function frameOf({ context: { status } }: GatewayDeps): Frame {
  const { scheduler, agents } = status.snapshot();
  return { scheduler, agentNames: agents.map(({ name }) => name) };
}

/** The status of an agent that a page is rendered with; null if the project has no such agent. */
export function agentStatus(
  name: string,
  { context: { status } }: GatewayDeps,
): AgentStatus | null {
  return status.snapshot().agents.find((agent) => agent.name === name) ?? null;
}

/** A page does not wait longer for one of its documents. */
const soonMs = 300;

/**
 * A document that a page is rendered with; null if it can't be read, or not soon, or if the page's address is invalid: the
 * page then reads it again, and shows why it can't.
 */
export async function readOrNull<T>(read: () => T | Promise<T>): Promise<T | null> {
  const late = new AbortController();
  try {
    return await Promise.race([
      (async () => read())(),
      sleep(soonMs, null, { signal: late.signal, ref: false }),
    ]);
  } catch {
    return null;
  } finally {
    late.abort();
  }
}

/** The parameters of an address. */
export function queryOf(address: string): URLSearchParams {
  return new URL(address, "http://localhost").searchParams;
}

/** The answer of an operation to an input, or to the parameters of an address. */
export async function performed<Address extends keyof NamedOperations>(
  address: Address,
  input: InputOf<NamedOperations[Address]> | URLSearchParams | Fields,
  { rows, context }: GatewayDeps,
): Promise<OutputOf<NamedOperations[Address]>> {
  const given = input instanceof URLSearchParams ? Object.fromEntries(input) : input;
  const { row, input: parsed } = operationAt(rows, address, given);
  return (await row.perform(parsed, context, inProcess)) as OutputOf<NamedOperations[Address]>;
}

/** What a page begins with of a read, at the address from which it reads it again; null without one. */
export async function documentOf<Address extends keyof NamedOperations>(
  address: Address,
  path: ((now: number) => string) | null,
  deps: GatewayDeps,
): Promise<FirstDocument<OutputOf<NamedOperations[Address]>>> {
  const read = (at: string) => performed(address, fieldsAt(address, at), deps);
  const value = path && (await readOrNull(() => read(path(Date.now()))));
  return { value, changedBy: changedByOf(address, deps) };
}

/** The changes that make the answer of a read stale. */
export function changedByOf(address: keyof NamedOperations, { rows }: GatewayDeps) {
  return rows.find((row) => row.address === address)?.changedBy;
}

/** Fields of an address, which are texts. */
type Fields = Readonly<Record<string, string>>;

/** The fields in the path and in the query of a request to an operation. */
function fieldsAt(pattern: string, address: string): Fields {
  const { pathname, searchParams } = new URL(address, "http://localhost");
  const parts = pathname.split("/");
  const fields: Record<string, string> = Object.fromEntries(searchParams);
  for (const [index, name] of partsOf(pattern).path.split("/").entries())
    if (name.startsWith(":")) fields[name.slice(1)] = decodeURIComponent(parts[index] ?? "");
  return fields;
}
