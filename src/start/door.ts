import { concatMap, distinctUntilChanged, filter, map } from "rxjs";
import type { Observable, Subscription } from "rxjs";
import { join } from "node:path";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import { reasonOf, UserError } from "../foundation/errors.ts";
import type { Door } from "../runtime/cluster/door/door.ts";
import type { DoorIdentity } from "../runtime/cluster/door/door-identity.ts";
import type { RunSockets } from "../runtime/run-api/run-sockets.ts";
import { hostAndPortOf } from "../runtime/cluster/host-and-port.ts";

export interface ClusterDoorDeps {
  readonly projectDir: string;
  readonly project$: Observable<ProjectConfig> & { readonly value: ProjectConfig };
  readonly sockets: Pick<RunSockets, "find">;
  readonly onProblem: (message: string) => void;
}

/** The way of runs in the project's cluster to this scheduler. */
export interface ClusterDoor {
  /**
   * Listens where `[cluster]` says, and follows its changes from then on; does nothing without the table, or when it
   * listens already. Rejects with a UserError when it can't.
   */
  open(): Promise<void>;
  /** PEM. Throws before it was opened. */
  certificate(): string;
  close(): void;
}

interface Opened {
  readonly identity: DoorIdentity;
  readonly door: Door;
  readonly following: Subscription;
}

/** Its key and its certificate are made with the first `[cluster]`, and are the same after each restart. */
export function createClusterDoor(deps: ClusterDoorDeps): ClusterDoor {
  const { project$ } = deps;
  let opening: Promise<Opened> | null = null;
  let opened: Opened | null = null;
  return {
    open: async () => {
      const listen = project$.value.cluster?.listen;
      if (listen === undefined && opening === null) return;
      opening ??= openAt(listen ?? "", deps).catch((error: unknown) => {
        opening = null;
        throw error;
      });
      opened = await opening;
    },
    certificate: () => {
      if (opened !== null) return opened.identity.certificate;
      throw new UserError("no_door", "no run can reach this scheduler from another machine yet");
    },
    close: () => {
      const close = ({ following, door }: Opened): void => {
        following.unsubscribe();
        door.close();
      };
      opening?.then(close, () => undefined);
    },
  };
}

async function openAt(listen: string, deps: ClusterDoorDeps): Promise<Opened> {
  const { projectDir, sockets, onProblem } = deps;
  const [{ doorIdentity }, { createDoor }] = await Promise.all([
    import("../runtime/cluster/door/door-identity.ts"),
    import("../runtime/cluster/door/door.ts"),
  ]);
  const identity = await doorIdentity(join(projectDir, ".al", "door.pem"));
  const door = createDoor({ identity, find: (name) => sockets.find(name), onProblem });
  await door.listen(hostAndPortOf(listen));
  return { identity, door, following: follow(door, deps) };
}

/** Without the table it stays where it is, for the runs that live. */
function follow(door: Door, { project$, onProblem }: ClusterDoorDeps): Subscription {
  return project$
    .pipe(
      map(({ cluster }) => cluster?.listen),
      filter((listen) => listen !== undefined),
      distinctUntilChanged(),
      // One after another: two at once would leave a listener that nothing closes.
      concatMap((listen) =>
        door
          .listen(hostAndPortOf(listen))
          .catch((error: unknown) => onProblem(`${reasonOf(error)}; it stays where it was`)),
      ),
    )
    .subscribe();
}
