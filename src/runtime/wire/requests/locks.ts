import { answerWith, done, resource, seconds, type RequestRow } from "./row.ts";

/** Exclusive locks on resources. */
export const lockRequests = {
  lock: {
    request: (z) =>
      z.strictObject({
        resource: resource(z),
        /** `resourceLockTimeout` when absent. */
        ttlSeconds: seconds(z)
          .min(1)
          .optional()
          .describe("Time after which the lock is released automatically."),
        /** The request does not wait if this is absent. */
        waitSeconds: seconds(z).optional().describe("How long to wait for a held lock."),
      }),
    answer: (z) =>
      answerWith(z, {
        resource: z.string(),
        /** Grows with every new holder, so that the protected resource can reject an expired holder. */
        fencingToken: z.int(),
        expiresAt: z.iso.datetime(),
      }),
    shown: ["resource"],
    canWait: true,
    tool: {
      name: "al_lock",
      description:
        "Takes an exclusive lock, so that no other run works on the same thing. If another run holds it, the request is refused with that run's ID. The lock is released when this run ends or its time is over.",
    },
    command: {
      name: "rlock",
      usage: "rlock <resource> [--ttl SECONDS] [--wait SECONDS]",
      purpose: "takes an exclusive lock on a URI, so that no other run works on the same thing",
      options: { ttl: "text", wait: "text" },
      body: (args) => ({
        resource: args.word("resource"),
        ttlSeconds: args.seconds("ttl"),
        waitSeconds: args.seconds("wait"),
      }),
    },
  },
  unlock: {
    request: (z) => z.strictObject({ resource: resource(z) }),
    answer: done,
    shown: ["resource"],
    tool: { name: "al_unlock", description: "Releases a lock that this run holds." },
    command: {
      name: "runlock",
      usage: "runlock <resource>",
      purpose: "releases a lock",
      body: (args) => ({ resource: args.word("resource") }),
    },
  },
  "lock-heartbeat": {
    request: (z) =>
      z.strictObject({ resource: resource(z), ttlSeconds: seconds(z).min(1).optional() }),
    answer: (z) => answerWith(z, { expiresAt: z.iso.datetime() }),
    shown: ["resource"],
    tool: {
      name: "al_lock_heartbeat",
      description: "Extends a lock that this run holds. Use it before its time is over.",
    },
    command: {
      name: "rlock-heartbeat",
      usage: "rlock-heartbeat <resource> [--ttl SECONDS]",
      purpose: "extends a lock",
      options: { ttl: "text" },
      body: (args) => ({ resource: args.word("resource"), ttlSeconds: args.seconds("ttl") }),
    },
  },
} as const satisfies Readonly<Record<string, RequestRow>>;
