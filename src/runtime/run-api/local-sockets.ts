import { bridgeKey } from "../../foundation/contracts/bridge-key.ts";
import { messageOf } from "../../foundation/errors.ts";
import { fixedTokens } from "../cluster/door/run-tokens.ts";
import type { RunSocket, SocketOwner, StoredSocket } from "./run-socket.ts";
import { makeSocketDir, removeSocketDir } from "./socket-dir.ts";
import { hashOf, newToken } from "./token.ts";

export interface LocalSocketsDeps {
  readonly records: {
    /** Resolves once committed, as `remove` does. */
    add(socket: StoredSocket): Promise<void>;
    remove(instanceId: string): Promise<void>;
    all(): readonly StoredSocket[];
  };
  /** Makes tokens known before their runs are; forgets them by the function that it returns. */
  readonly redactor: { add(secrets: readonly string[]): () => void };
  readonly create: (owner: SocketOwner, onDispose: (socket: RunSocket) => void) => RunSocket;
  readonly onProblem: (message: string) => void;
}

/** The Unix sockets of runs on this machine, each in a folder of its own. */
export function createLocalSockets({ records, redactor, create, onProblem }: LocalSocketsDeps) {
  const live = new Set<RunSocket>();
  const removals = new Set<Promise<void>>();

  const removeRecord = (instanceId: string): void => {
    records.remove(instanceId).catch((error: unknown) => {
      onProblem(`the socket of ${instanceId} stays recorded: ${messageOf(error)}`);
    });
  };
  const remove = (socket: RunSocket, dir: string): void => {
    if (!live.delete(socket)) return;
    void socket.end("over");
    const removal = removeSocketDir(dir)
      .catch((error: unknown) => onProblem(`${dir} is left: ${messageOf(error)}`))
      .finally(() => removals.delete(removal));
    removals.add(removal);
    removeRecord(socket.instanceId);
  };
  const listen = async (
    { instanceId, dir, tokenHash }: StoredSocket,
    onDispose: (socket: RunSocket) => void,
  ) => {
    const runSocket = create({ instanceId, dir, tokens: fixedTokens(tokenHash) }, onDispose);
    const path = await runSocket.listen(dir, (error) => {
      onProblem(`${instanceId}: ${messageOf(error)}`);
    });
    live.add(runSocket);
    return { runSocket, path };
  };

  return {
    open: async (instanceId: string, baseDir: string) => {
      const dir = makeSocketDir(baseDir);
      const token = newToken();
      const stored: StoredSocket = { instanceId, dir, tokenHash: hashOf(token) };
      const forgetToken = redactor.add([token, bridgeKey(token)]);
      const onDispose = (socket: RunSocket): void => {
        // Worth nothing from now on, and each known secret makes looking through a text slower.
        forgetToken();
        remove(socket, dir);
      };
      const opened = await listen(stored, onDispose).catch(async (error: unknown) => {
        forgetToken();
        await removeSocketDir(dir);
        throw error;
      });
      return { ...opened, token, begin: () => records.add(stored) };
    },
    restore: async (alive: ReadonlySet<string>): Promise<ReadonlyMap<string, RunSocket>> => {
      const restored = new Map<string, RunSocket>();
      for (const stored of records.all()) {
        const { instanceId, dir } = stored;
        if (!alive.has(instanceId)) {
          await removeSocketDir(dir);
          removeRecord(instanceId);
          continue;
        }
        try {
          const { runSocket } = await listen(stored, (socket) => remove(socket, dir));
          restored.set(instanceId, runSocket);
        } catch (error) {
          onProblem(`${instanceId} can send no request any more: ${messageOf(error)}`);
        }
      }
      return restored;
    },
    close: async (): Promise<void> => {
      await Promise.all([...live].map((socket) => socket.end("closing")));
      live.clear();
      await Promise.all(removals);
    },
  };
}
