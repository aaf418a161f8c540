import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChannels } from "../../src/channel/channels.ts";
import type { Channels, NewChannel } from "../../src/channel/channels.ts";
import { createRunApiClient } from "../../src/harness/run-api/client.ts";
import type { RunApiClientOptions } from "../../src/harness/run-api/client.ts";
import { postJson } from "../../src/harness/post-json.ts";
import { fakeAbilities } from "../helpers/fake-abilities.ts";
import type { FakeAbilities } from "../helpers/fake-abilities.ts";

export const resource = "github:acme/app/issues/7";
export const never = new AbortController().signal;

/** A scheduler's end of channels, in a folder of its own. */
export interface ChannelSide {
  readonly base: string;
  readonly abilities: FakeAbilities;
  /** What was told to the scheduler's log. */
  readonly problems: string[];
  channels: Channels;
  /** Another scheduler, which serves nobody yet. */
  readonly successor: () => Channels;
  readonly remove: () => Promise<void>;
}

export async function channelSide(): Promise<ChannelSide> {
  const base = await mkdtemp(join(tmpdir(), "al-ch-"));
  const problems: string[] = [];
  const abilities = fakeAbilities();
  const successor = () => createChannels({ onProblem: (message) => problems.push(message) });
  const channels = successor();
  channels.serve(abilities);
  const side: ChannelSide = {
    ...{ base, abilities, problems, channels, successor },
    remove: async () => {
      await side.channels.close();
      await rm(base, { recursive: true, force: true });
    },
  };
  return side;
}

/** A bare request; what is not given is right. */
export function post(
  { socket, token }: Pick<NewChannel, "socket" | "token">,
  ability: string,
  { body = { resource }, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
) {
  const key = "7d444840-9dc0-41d1-b245-5ffdce74fad2";
  return postJson({
    socketPath: socket,
    path: `/run/${ability}`,
    headers: { authorization: `Bearer ${token}`, "idempotency-key": key, ...headers },
    body,
  });
}

export function clientOf(
  { socket, token }: NewChannel,
  options: Partial<RunApiClientOptions> = {},
) {
  return createRunApiClient({ socket, token, ...options });
}
