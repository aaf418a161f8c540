import { instanceLabel } from "../../runners/container/labels.ts";
import type { PlacedRun } from "../cluster-engine.ts";

/** The used fields of the engine's responses, for which its client has no types. */
export interface SwarmTask {
  readonly ServiceID: string;
  readonly NodeID?: string;
  readonly CreatedAt: string;
  readonly Status: {
    readonly State: string;
    readonly Err?: string;
    readonly ContainerStatus?: { readonly ContainerID?: string; readonly ExitCode?: number };
  };
}

export interface SwarmService {
  readonly ID: string;
  readonly Spec: { readonly Name: string; readonly Labels: Readonly<Record<string, string>> };
}

export interface SwarmSecret extends SwarmService {
  readonly CreatedAt: string;
}

export interface SwarmMember {
  readonly ID: string;
  readonly Description: { readonly Hostname: string };
  readonly Status: { readonly State: string; readonly Message?: string };
}

export interface SwarmView {
  readonly services: readonly SwarmService[];
  readonly tasks: readonly SwarmTask[];
  readonly members: readonly SwarmMember[];
}

/** The states of a task in order; from `complete` on its container has ended. */
const overStates = new Set(["complete", "failed", "rejected", "shutdown", "orphaned", "remove"]);

export const isTaskOver = (state: string) => overStates.has(state);

/** Each run from all tasks that Swarm created for it: it repeats some, which end themselves as the run is claimed. */
export function placedRuns({ services, tasks, members }: SwarmView): readonly PlacedRun[] {
  const byService = Map.groupBy(tasks, ({ ServiceID }) => ServiceID);
  const byId = new Map(members.map((member) => [member.ID, member]));
  return services.map((service) => placedRun(service, byService.get(service.ID) ?? [], byId));
}

function placedRun(
  { Spec }: SwarmService,
  tasks: readonly SwarmTask[],
  members: ReadonlyMap<string, SwarmMember>,
): PlacedRun {
  const task = decidingTask(tasks);
  const member = members.get(task?.NodeID ?? "");
  const over = tasks.filter(({ Status }) => isTaskOver(Status.State));
  const state = stateOf(task);
  const problem = problemOf(task, member);
  return {
    name: Spec.Name,
    instanceId: Spec.Labels[instanceLabel] ?? "",
    state,
    node: member?.Description.Hostname ?? null,
    problem,
    endings: over.length,
    ...(state === "ended" && { exitCode: exitCodeOf(task) }),
    ...(state === "ended" && isImageMissing(problem) && { isHopeless: true }),
  };
}

/** A running task, else one that is to run, else the last one. */
function decidingTask(tasks: readonly SwarmTask[]): SwarmTask | undefined {
  const newest = [...tasks].sort((a, b) => (a.CreatedAt < b.CreatedAt ? 1 : -1));
  return (
    newest.find(({ Status }) => Status.State === "running") ??
    newest.find(({ Status }) => !isTaskOver(Status.State)) ??
    newest[0]
  );
}

function stateOf(task: SwarmTask | undefined): PlacedRun["state"] {
  if (task === undefined) return "waiting";
  if (isTaskOver(task.Status.State)) return "ended";
  return task.Status.State === "running" ? "running" : "waiting";
}

function problemOf(task: SwarmTask | undefined, member: SwarmMember | undefined): string | null {
  if (task === undefined) return null;
  const { State, Err = "" } = task.Status;
  if (Err !== "") return Err;
  if (!isTaskOver(State) && member !== undefined && member.Status.State !== "ready") {
    return `the node ${member.Description.Hostname} is ${member.Status.State}`;
  }
  return State === "preparing" ? "its node prepares the image" : null;
}

/** A task that never had a container has a code, too. */
function exitCodeOf(task: SwarmTask | undefined): number | null {
  const { ContainerID = "", ExitCode = 0 } = task?.Status.ContainerStatus ?? {};
  return ContainerID === "" ? null : ExitCode;
}

/** Recognized by message, as the engine has no code for it. */
function isImageMissing(problem: string | null): boolean {
  return /^No such image|pull access denied|manifest unknown|repository .{0,300} not found/i.test(
    problem ?? "",
  );
}
