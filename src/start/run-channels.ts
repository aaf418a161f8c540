import { defer, finalize, tap } from "rxjs";
import type { Observable } from "rxjs";
import type { RunnerEvent, StopReason } from "../../streams/runs/runner.ts";
import { runtimes } from "../../streams/runtimes.ts";
import type { RunRequest } from "../../streams/vocabulary.ts";
import { createChannels } from "../channel/channels.ts";
import { removeChannelDir, writeStopReason } from "../channel/channel-dir.ts";
import type { Job } from "../contracts/job.ts";
import { mountedSocketDir } from "../contracts/run-api.ts";
import type { RunApi } from "../contracts/run-api.ts";
import type { Redactor } from "../credentials/redactor.ts";
import { messageOf } from "../errors.ts";
import { ownBaseDir } from "../runners/host-user/base-dir.ts";
import type { Store } from "../store/store.ts";
import { runsDir } from "./run-agent-program.ts";

export interface RunChannelsOptions {
  readonly records: Store["channels"];
  /** A run's token is known to it before the run is. */
  readonly redactor: Pick<Redactor, "add">;
  readonly onProblem: (message: string) => void;
}

/** A channel for each run, from its start to its end, also under a later scheduler. */
export interface RunChannels {
  /** Starts to answer; until then runs are told to come again. */
  serve(abilities: RunApi): void;
  /** The channel of a run that starts; null for one of an earlier scheduler, which has its own. */
  channelFor(request: RunRequest): Promise<Job["channel"]>;
  /** Folder of a run's channel on this machine; null without one. */
  dirOf(instanceId: string): string | null;
  /** Opens the channels of runs that live on at their places, and removes those of all others. */
  restore(alive: readonly string[]): Promise<void>;
  /** The run's events; its channel goes when they end, however they do. */
  during(request: RunRequest, run$: Observable<RunnerEvent>): Observable<RunnerEvent>;
  /** The requests to end a run; the run can read why before it is asked to. */
  withReason(request: RunRequest, stop$: Observable<StopReason>): Observable<StopReason>;
  close(): Promise<void>;
}

/** Where the channels of runs in containers are: no other user can enter it, the engine mounts what is in it. */
const containersDir = `/tmp/al-channels-${process.getuid?.() ?? 0}`;

export function createRunChannels(options: RunChannelsOptions): RunChannels {
  const { records, redactor, onProblem } = options;
  const channels = createChannels({ onProblem });
  const running = new Set<string>();
  const forgetToken = new Map<string, () => void>();
  const forget = (instanceId: string): void => {
    records.remove(instanceId).catch((error: unknown) => {
      onProblem(`the channel of ${instanceId} stays recorded: ${messageOf(error)}`);
    });
  };
  const leaveReason = (instanceId: string, reason: StopReason): void => {
    const dir = channels.dirOf(instanceId);
    if (dir === null) return;
    try {
      writeStopReason(dir, reason);
    } catch (error) {
      onProblem(`the post hooks of ${instanceId} can't know why it ends: ${messageOf(error)}`);
    }
  };
  const close = (instanceId: string): void => {
    if (channels.dirOf(instanceId) === null) return;
    channels.revoke(instanceId);
    // Worth nothing by now, and each that is known makes looking through a text slower.
    forgetToken.get(instanceId)?.();
    forgetToken.delete(instanceId);
    forget(instanceId);
  };

  return {
    serve: (abilities) => channels.serve(abilities),
    channelFor: async ({ instanceId, agent }) => {
      if (channels.dirOf(instanceId) !== null) return null;
      const contained = runtimes[agent.runtime.type].isolates;
      if (contained) await ownBaseDir(containersDir, false);
      const baseDir = contained ? containersDir : runsDir;
      const { dir, tokenHash, token, socket } = await channels.open(instanceId, baseDir);
      forgetToken.set(instanceId, redactor.add([token]));
      await records.add({ instanceId, dir, tokenHash });
      // A run that was stopped while it was prepared has no stream left that ends its channel.
      if (!running.has(instanceId)) close(instanceId);
      return { token, socket: contained ? socket.replace(dir, mountedSocketDir) : socket };
    },
    dirOf: (instanceId) => channels.dirOf(instanceId),
    restore: async (alive) => {
      for (const { instanceId, dir, tokenHash } of records.all()) {
        if (!alive.includes(instanceId)) {
          await removeChannelDir(dir);
          forget(instanceId);
          continue;
        }
        await channels.reopen(instanceId, { dir, tokenHash }).catch((error: unknown) => {
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
    close: () => channels.close(),
  };
}
