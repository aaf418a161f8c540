import { refusal } from "../../src/runtime/wire/protocol.ts";
import type { RequestRow } from "../../src/runtime/wire/requests/row.ts";
import { schedulerRequests } from "../../src/runtime/wire/requests/table.ts";
import type {
  RequestName,
  RequestAnswer,
  RunApi,
  RunApiRequest,
} from "../../src/runtime/wire/protocol.ts";

/** Stands in for the scheduler behind a channel: it notes what an agent asks and answers by a table. */
export interface FakeAbilities extends RunApi {
  readonly asked: RunApiRequest[];
  /** The answer to an ability, or a function of the request; one that rejects refuses. */
  answers: Partial<{
    [A in RequestName]: (request: RunApiRequest<A>) => RequestAnswer<A> | Promise<RequestAnswer<A>>;
  }>;
}

const later = "2026-11-21T12:00:00.000Z";

export function fakeAbilities(answers: FakeAbilities["answers"] = {}): FakeAbilities {
  const fake: FakeAbilities = {
    asked: [],
    answers: {
      lock: ({ request: { resource } }) => ({
        ok: true,
        resource,
        fencingToken: 1,
        expiresAt: later,
      }),
      unlock: () => ({ ok: true }),
      "lock-heartbeat": () => ({ ok: true, expiresAt: later }),
      call: ({ key }) => ({ ok: true, callId: key, state: "queued" }),
      // A person sends nothing. The last request of a session is answered at once.
      inbox: ({ request: { isLast = false } }) =>
        isLast ? { ok: true, messages: [] } : new Promise(() => undefined),
      "session-end": () => ({ ok: true }),
      ...answers,
    },
    perform: async <A extends RequestName>(request: RunApiRequest<A>) => {
      const { isOfHarness }: RequestRow = schedulerRequests[request.ability];
      if (isOfHarness !== true) fake.asked.push(request);
      const answer = fake.answers[request.ability];
      if (answer === undefined) throw refusal("disabled", `no ${request.ability} here`);
      return answer(request);
    },
  };
  return fake;
}

/** A promise and what settles it. */
export function held<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  return Promise.withResolvers<T>();
}
