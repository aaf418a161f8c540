import { messageOf } from "../../foundation/errors.ts";
import type { RunSocket, SocketOwner } from "./run-socket.ts";
import { hashOf, newToken } from "./socket-dir.ts";
import { remoteSocketPath } from "./remote-routes.ts";
import { createRemoteTokens, fixedTokens } from "./run-tokens.ts";
import type { RemoteTokensDeps, StoredRemoteRun } from "./run-tokens.ts";

export interface RemoteSocketsDeps {
  readonly redactor: RemoteTokensDeps["redactor"];
  readonly records: RemoteTokensDeps["records"] & {
    /** Resolves once committed, as `remove` does. */
    add(run: Omit<StoredRemoteRun, "tokenHash">): Promise<void>;
    remove(instanceId: string): Promise<void>;
    all(): readonly StoredRemoteRun[];
  };
  readonly create: (owner: SocketOwner, onDispose: (socket: RunSocket) => void) => RunSocket;
  readonly onProblem: (message: string) => void;
}

/** The sockets of runs on other machines, by the TLS server names that identify them at the door. */
export function createRemoteSockets({ records, redactor, create, onProblem }: RemoteSocketsDeps) {
  const byName = new Map<string, RunSocket>();
  /** Ended runs send requests as well, and must be told to end. */
  const noRun = create({ instanceId: "", dir: null, tokens: fixedTokens(null) }, () => undefined);
  noRun.ended = "over";

  const removeRecord = (instanceId: string): void => {
    records.remove(instanceId).catch((error: unknown) => {
      onProblem(`the claim of ${instanceId} stays recorded: ${messageOf(error)}`);
    });
  };
  const expect = (stored: StoredRemoteRun, ...secrets: readonly string[]): RunSocket => {
    const { instanceId, name } = stored;
    const tokens = createRemoteTokens(stored, { records, redactor });
    tokens.keepSecret(...secrets);
    const runSocket = create({ instanceId, dir: null, tokens }, (socket) => {
      tokens[Symbol.dispose]();
      if (byName.get(name) !== socket) return;
      byName.delete(name);
      void socket.end("over");
      removeRecord(instanceId);
    });
    byName.set(name, runSocket);
    return runSocket;
  };

  return {
    /** Expects a run under this name; returns its ticket, of which only the hash is stored. */
    open: async (instanceId: string, name: string) => {
      const token = newToken();
      const stored = { instanceId, name, ticketHash: hashOf(token), tokenHash: null };
      const runSocket = expect(stored, token);
      await records.add(stored).catch((error: unknown) => {
        runSocket[Symbol.dispose]();
        throw error;
      });
      return { runSocket, token, path: remoteSocketPath };
    },
    /** Expects live runs, by instance, with their claims; forgets all others. */
    restore: (alive: ReadonlySet<string>): ReadonlyMap<string, RunSocket> => {
      const restored = new Map<string, RunSocket>();
      for (const stored of records.all()) {
        const { instanceId } = stored;
        if (alive.has(instanceId)) restored.set(instanceId, expect(stored));
        else removeRecord(instanceId);
      }
      return restored;
    },
    find: (name: string): RunSocket => byName.get(name) ?? noRun,
    close: async (): Promise<void> => {
      const sockets = [...byName.values(), noRun];
      byName.clear();
      await Promise.all(sockets.map((socket) => socket.end("closing")));
    },
  };
}
