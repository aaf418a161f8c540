import type { Socket } from "node:net";

/** The connections of a TLS listener that showed no token yet, from before their handshake on. */
export interface WaitingPeers {
  /** Takes a connection as it was accepted, before TLS. */
  add(connection: Socket): void;
  /** What is to be called when a connection, by now with TLS, showed a token. */
  of(secured: Socket): () => void;
  /** Closes all of them. */
  cut(): void;
}

/** At most so many: the oldest is closed, so that a stranger's can't keep runs away. */
export function waitingPeers(max: number): WaitingPeers {
  // A map keeps the order of arrival. A connection and what has TLS over it share their peer alone.
  const waiting = new Map<string, Socket>();
  const forget = (peer: string, connection: Socket): void => {
    if (waiting.get(peer) === connection) waiting.delete(peer);
  };
  return {
    add: (connection) => {
      const peer = peerOf(connection);
      waiting.set(peer, connection);
      connection.once("close", () => forget(peer, connection));
      const [oldest] = waiting.values();
      if (waiting.size > max) oldest?.destroy();
    },
    of: (secured) => {
      const peer = peerOf(secured);
      return () => void waiting.delete(peer);
    },
    cut: () => {
      for (const connection of waiting.values()) connection.destroy();
    },
  };
}

function peerOf({ remoteAddress = "", remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
