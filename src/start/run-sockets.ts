import { defer, finalize, tap } from "rxjs";
import type { Observable } from "rxjs";
import type { RunnerEvent, StopReason } from "../../streams/runs/runner.ts";
import { runtimes } from "../../streams/runtimes.ts";
import type { RunRequest } from "../../streams/vocabulary.ts";
import { createRunSockets } from "../run-api/run-sockets.ts";
import { removeSocketDir, writeStopReason } from "../run-api/socket-dir.ts";
import type { Job } from "../contracts/job.ts";
import { mountedSocketDir } from "../contracts/run-api.ts";
import type { RunApi } from "../contracts/run-api.ts";
import type { Redactor } from "../credentials/redactor.ts";
import { messageOf } from "../errors.ts";
import { ownBaseDir } from "../runners/host-user/base-dir.ts";
import type { Store } from "../store/store.ts";
import { runsDir } from "./run-agent-program.ts";

export interface StoredRunSocketsOptions {
  readonly records: Store["channels"];
  /** A run's token is known to it before the run is. */
  readonly redactor: Pick<Redactor, "add">;
  readonly onProblem: (message: string) => void;
}

/** A socket for each run, from its start to its end, also under a later scheduler. */
export interface StoredRunSockets {
  /** Starts to answer; until then runs are told to come again. */
  serve(abilities: RunApi): void;
  /** The socket of a run that starts; null for one of an earlier scheduler, which has its own. */
  jobSocket(request: RunRequest): Promise<Job["channel"]>;
  /** Folder of a run's socket on this machine; null without one. */
  dirOf(instanceId: string): string | null;
  /** Opens the sockets of runs that live on at their places, and removes those of all others. */
  restore(alive: readonly string[]): Promise<void>;
  /** The run's events; its socket goes when they end, however they do. */
  during(request: RunRequest, run$: Observable<RunnerEvent>): Observable<RunnerEvent>;
  /** The requests to end a run; the run can read why before it is asked to. */
  withReason(request: RunRequest, stop$: Observable<StopReason>): Observable<StopReason>;
  close(): Promise<void>;
}

/** Where the sockets of runs in containers are: no other user can enter it, the engine mounts what is in it. */
const containersDir = `/tmp/al-channels-${process.getuid?.() ?? 0}`;

export function createStoredRunSockets(options: StoredRunSocketsOptions): StoredRunSockets {
  const { records, redactor, onProblem } = options;
  const sockets = createRunSockets({ onProblem });
  const running = new Set<string>();
  const forgetToken = new Map<string, () => void>();
  const forget = (instanceId: string): void => {
    records.remove(instanceId).catch((error: unknown) => {
      onProblem(`the socket of ${instanceId} stays recorded: ${messageOf(error)}`);
    });
  };
  const leaveReason = (instanceId: string, reason: StopReason): void => {
    const dir = sockets.dirOf(instanceId);
    if (dir === null) return;
    try {
      writeStopReason(dir, reason);
    } catch (error) {
      onProblem(`the post hooks of ${instanceId} can't know why it ends: ${messageOf(error)}`);
    }
  };
  const close = (instanceId: string): void => {
    if (sockets.dirOf(instanceId) === null) return;
    sockets.revoke(instanceId);
    // Worth nothing by now, and each that is known makes looking through a text slower.
    forgetToken.get(instanceId)?.();
    forgetToken.delete(instanceId);
    forget(instanceId);
  };

  return {
    serve: (abilities) => sockets.serve(abilities),
    jobSocket: async ({ instanceId, agent }) => {
      if (sockets.dirOf(instanceId) !== null) return null;
      const contained = runtimes[agent.runtime.type].isolates;
      if (contained) await ownBaseDir(containersDir, false);
      const baseDir = contained ? containersDir : runsDir;
      const { dir, tokenHash, token, socket } = await sockets.open(instanceId, baseDir);
      forgetToken.set(instanceId, redactor.add([token]));
      await records.add({ instanceId, dir, tokenHash });
      // A run that was stopped while it was prepared has no stream left that ends its socket.
      if (!running.has(instanceId)) close(instanceId);
      return { token, socket: contained ? socket.replace(dir, mountedSocketDir) : socket };
    },
    dirOf: (instanceId) => sockets.dirOf(instanceId),
    restore: async (alive) => {
      for (const { instanceId, dir, tokenHash } of records.all()) {
        if (!alive.includes(instanceId)) {
          await removeSocketDir(dir);
          forget(instanceId);
          continue;
        }
        await sockets.reopen(instanceId, { dir, tokenHash }).catch((error: unknown) => {
          onProblem(`${instanceId} can't ask for anything any more: ${messageOf(error)}`);
        });
      }
    },
    during: ({ instanceId }, run$) =>
      defer(() => {
        running.add(instanceId);
        return run$;
      }).pipe(
        finalize(() => {
          running.delete(instanceId);
          close(instanceId);
        }),
      ),
    withReason: ({ instanceId }, stop$) =>
      stop$.pipe(tap((reason) => leaveReason(instanceId, reason))),
    close: () => sockets.close(),
  };
}
