import { ChannelError } from "../../src/contracts/run-channel.ts";
import type {
  Ability,
  AbilityAnswer,
  RunAbilities,
  RunRequestOf,
} from "../../src/contracts/run-channel.ts";

/** Stands in for the scheduler behind a channel: it notes what it is asked and answers by a table. */
export interface FakeAbilities extends RunAbilities {
  readonly asked: RunRequestOf[];
  /** The answer to an ability, or a function of the request; one that rejects refuses. */
  answers: Partial<{
    [A in Ability]: (request: RunRequestOf<A>) => AbilityAnswer<A> | Promise<AbilityAnswer<A>>;
  }>;
}

const later = "2026-11-21T12:00:00.000Z";

export function fakeAbilities(answers: FakeAbilities["answers"] = {}): FakeAbilities {
  const fake: FakeAbilities = {
    asked: [],
    answers: {
      lock: ({ request: { resource } }) => ({
        ...{ ok: true, resource, fencingToken: 1, expiresAt: later },
      }),
      unlock: () => ({ ok: true }),
      "lock-heartbeat": () => ({ ok: true, expiresAt: later }),
      call: ({ key }) => ({ ok: true, callId: key, state: "queued" }),
      ...answers,
    },
    perform: async <A extends Ability>(request: RunRequestOf<A>) => {
      fake.asked.push(request);
      const answer = fake.answers[request.ability] as
        ((given: RunRequestOf<A>) => AbilityAnswer<A> | Promise<AbilityAnswer<A>>) | undefined;
      if (answer === undefined) {
        throw new ChannelError({ error: "disabled", detail: `no ${request.ability} here` });
      }
      return answer(request);
    },
  };
  return fake;
}

/** A promise and what settles it. */
export function held<T>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
} {
  return Promise.withResolvers<T>();
}
