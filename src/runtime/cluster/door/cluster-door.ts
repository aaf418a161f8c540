import { join } from "node:path";
import { oneAtATime } from "../../../foundation/contracts/one-at-a-time.ts";
import type { SchedulerContext } from "../../../foundation/context.ts";
import { reasonOf, Problem } from "../../../foundation/errors.ts";
import type { RunSockets } from "../../run-api/run-sockets.ts";
import { hostAndPortOf } from "../host-and-port.ts";
import type { Door } from "./door.ts";

export type ClusterDoor = ReturnType<typeof createClusterDoor>;

/**
 * The way from runs in the project's cluster to this scheduler. Its key and certificate are made with the first
 * `[cluster]` and survive restarts.
 */
export function createClusterDoor(
  { projectDir, project$, warn }: Pick<SchedulerContext, "projectDir" | "project$" | "warn">,
  sockets: Pick<RunSockets, "find">,
) {
  let opened: { readonly certificate: string; readonly door: Door } | null = null;
  /** The address at which it could not listen; later runs do not try it again. */
  let refused: string | null = null;
  const inTurn = oneAtATime();
  const load = async () => {
    const [{ doorIdentity }, { createDoor }] = await Promise.all([
      import("./door-identity.ts"),
      import("./door.ts"),
    ]);
    const identity = await doorIdentity(join(projectDir, ".al", "door.pem"));
    const find = (name: string) => sockets.find(name);
    return {
      certificate: identity.certificate,
      door: createDoor({ identity, find, onProblem: warn }),
    };
  };
  const openNow = async (): Promise<void> => {
    const listen = project$.value.cluster?.listen;
    // Without [cluster] the door stays open for live runs.
    if (listen === undefined || (opened !== null && listen === refused)) return;
    refused = null;
    const { certificate, door } = opened ?? (await load());
    await door.listen(hostAndPortOf(listen)).catch((error: unknown) => {
      if (opened === null) throw error;
      refused = listen;
      warn(`${reasonOf(error)}; it stays where it was`);
    });
    opened = { certificate, door };
  };
  return {
    /**
     * Listens at `[cluster].listen` from now on; does nothing without the table, or if it already listens there. Called
     * at each start of a run. Rejects with a Problem if it can't listen anywhere.
     */
    // Changes apply one after another: two at once would leave a listener that is never closed.
    open: (): Promise<void> => inTurn(openNow),
    /** PEM. Throws before the door is opened. */
    certificate: (): string => {
      if (opened !== null) return opened.certificate;
      throw new Problem("no_door", "no run can reach this scheduler from another machine yet");
    },
    close: (): void => void inTurn(() => Promise.resolve(opened?.door.close())),
  };
}
