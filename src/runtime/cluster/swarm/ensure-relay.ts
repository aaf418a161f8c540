import { setTimeout as wait } from "node:timers/promises";
import type { AuthConfig, ServiceSpec } from "dockerode";
import { UserError } from "../../../foundation/errors.ts";
import { statusOf } from "../../runners/container/engine.ts";
import type { Engine } from "../../runners/container/engine.ts";
import { relayLabel } from "./relay-service.ts";
import { isTaskOver } from "./swarm-tasks.ts";
import type { SwarmTask } from "./swarm-tasks.ts";

/** How long a relay may take to start, in ms: its image may have to be pulled. */
const startTimeoutMs = 60_000;
const pauseMs = 250;

/** Makes the relay's service or brings it up to date; resolves when one of its tasks runs. */
export async function ensureRelay(
  engine: Engine,
  spec: ServiceSpec,
  auth: AuthConfig,
  timeoutMs = startTimeoutMs,
): Promise<void> {
  const name = spec.Name ?? "";
  await createOrUpdate(engine, name, spec, auth);
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const tasks = await tasksOf(engine, name);
    if (tasks.some(({ Status }) => Status.State === "running")) return;
    if (performance.now() > deadline) throw notStarted(name, tasks);
    await wait(pauseMs);
  }
}

async function createOrUpdate(
  engine: Engine,
  name: string,
  spec: ServiceSpec,
  auth: AuthConfig,
): Promise<void> {
  const there = await inspected(engine, name);
  if (there === null) return createService(engine, spec, auth);
  if (there.label === spec.Labels?.[relayLabel]) return;
  // Else the client writes the whole of it into the address, too.
  const update = { _query: { version: there.version }, _body: spec };
  await engine
    .calls()
    .getService(name)
    .update({ ...update, authconfig: auth });
}

/** One of that name that another scheduler of the project made meanwhile is as good. */
async function createService(engine: Engine, spec: ServiceSpec, auth: AuthConfig): Promise<void> {
  try {
    await engine.calls().createService(auth, spec);
  } catch (error) {
    if (statusOf(error) !== 409) throw error;
  }
}

interface InspectedService {
  readonly Version: { readonly Index: number };
  readonly Spec: ServiceSpec;
}

async function inspected(engine: Engine, name: string) {
  try {
    const service = (await engine.calls().getService(name).inspect()) as InspectedService;
    return { version: service.Version.Index, label: service.Spec.Labels?.[relayLabel] };
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

async function tasksOf(engine: Engine, service: string): Promise<readonly SwarmTask[]> {
  return (await engine.calls().listTasks({ filters: { service: [service] } })) as SwarmTask[];
}

function notStarted(name: string, tasks: readonly SwarmTask[]): UserError {
  const failed = tasks.find(({ Status }) => isTaskOver(Status.State) && Status.Err !== undefined);
  const waiting = tasks.find(({ Status }) => Status.Err !== undefined);
  const reason = (failed ?? waiting)?.Status.Err ?? "none of its tasks runs";
  return new UserError("relay_not_started", `the relay ${name} does not start: ${reason}`, {
    hint: `see docker service ps --no-trunc ${name}`,
  });
}
