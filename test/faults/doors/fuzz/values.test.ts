import fc from "fast-check";
import { fiveFields, scheduleProblem } from "../../../../src/foundation/config/schedule.ts";
import { indexedBinding, letsThrough } from "../../../../src/features/webhooks/binding-index.ts";
import { interpret, parseDelivery } from "../../../../src/features/webhooks/interpret.ts";
import { providerTable } from "../../../../src/features/webhooks/providers/table.ts";
import { nextTick } from "../../../../streams/triggers/next-tick.ts";
import { socketSide, post, openSocket } from "../../../runtime/run-api/support.ts";
import { githubExample } from "../../../features/webhooks/deliveries.ts";
import {
  bitbucketPush,
  giteaPullRequest,
  gitlabMergeRequest,
  jiraIssue,
  linearIssue,
  mintlifyBuild,
  sentryPayloads,
  slackMention,
  standardEvent,
  stripeEvent,
} from "../../../features/webhooks/payloads.ts";
import { lines, mutated, nastyText, quick, share } from "./share.ts";
import { perFile } from "../../../helpers/per-test.ts";

test("a random cron expression is accepted and becomes due, or is rejected with a reason", async () => {
  const samples = lines`0 9 * * 1-5
*/15 0-6,20-23 1,15 JAN-JUN MON#1
0 0 29 2 *
@daily
0 0 L * 5L`;
  const scraps = [
    ...lines`*
/
-
,
L
W
#
?
H
@yearly
*/0
1-0
60
-1
99999999999
0-59/1000000
*/1e9
MON-SUN
0.5
１
* * * * * *
5#6
31 2
31 4,6,9,11
JAN/2`,
    "1,".repeat(3000),
    "*,".repeat(3000),
    "0-59,".repeat(2000),
    "\u00a0",
    "\n",
    "\t",
  ];
  await fc.assert(
    fc.asyncProperty(mutated(samples, scraps), async (expression) => {
      const problem = await quick(() => scheduleProblem(expression));
      if (problem !== null) return;
      const from = Date.UTC(2026, 0, 1);
      const schedule = { expression: fiveFields(expression), timezone: "Australia/Lord_Howe" };
      const tick = await quick(() => nextTick(schedule, from));
      expect(tick, expression).toBeGreaterThan(from);
    }),
    share(2_500),
  );
});

const payloads = [
  githubExample("issues", "opened"),
  githubExample("push"),
  bitbucketPush,
  giteaPullRequest,
  gitlabMergeRequest,
  jiraIssue,
  linearIssue,
  mintlifyBuild,
  sentryPayloads.issue,
  slackMention,
  standardEvent,
  stripeEvent,
];

test("a webhook filter accepts only its listed values, for random filters and payloads", async () => {
  const types = [...providerTable.keys()];
  const fields = [...providerTable.values()].flatMap(({ filters }) => Object.keys(filters));
  const value = fc.oneof(nastyText, fc.array(nastyText, { maxLength: 3 }), fc.boolean());
  const field = fc.oneof(nastyText, fc.constantFrom(...fields));
  const samples = payloads.map((each) => JSON.stringify(each));
  const scraps = [...'null {} [] -1 "x" 1e999 {"__proto__":{"a":1}}'.split(" "), "[".repeat(900)];
  const body = fc.oneof(
    mutated(samples, scraps),
    fc.json({ maxDepth: 3 }),
    fc.constantFrom(...samples),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...types),
      fc.dictionary(field, value, { minKeys: 1, maxKeys: 3 }),
      fc.dictionary(fc.constantFrom("x-github-event", "x-gitlab-event", "linear-event"), nastyText),
      body,
      async (type, filters, headers, text) => {
        const provider = providerTable.get(type);
        if (provider === undefined) throw new Error("no provider");
        const parsed = await quick(() =>
          parseDelivery(provider, { headers, body: Buffer.from(text) }),
        );
        if (!parsed.ok) return;
        const id = { id: "r1", at: 0, source: type };
        const read = await quick(() =>
          interpret(provider, { payload: parsed.payload, headers }, id),
        );
        expect(() => JSON.stringify(read.event)).not.toThrow();
        const binding = indexedBinding("dev", { source: type, type, filters });
        const passes = await quick(() => letsThrough(binding, read));
        const known = Object.keys(filters).every((name) => Object.hasOwn(provider.filters, name));
        if (!known) expect(passes).toBe(false);
      },
    ),
    share(2_500),
  );
});

describe("a run's socket", () => {
  const side = perFile(socketSide, (side) => side.remove());

  test("answers random requests, accepts only printable resource names, and rejects clients without a token", async () => {
    const channel = await openSocket(side(), "dev-abcdefgh");
    const text = fc.oneof(
      nastyText,
      nastyText.map((one) => `lock:${one}`),
    );
    const body = fc.oneof(
      fc.record(
        { resource: text, ttlSeconds: fc.oneof(fc.double(), fc.string()) },
        { requiredKeys: ["resource"] },
      ),
      fc.record({ agent: text, context: text }),
      fc.record({ callIds: fc.array(fc.oneof(fc.uuid(), text), { maxLength: 3 }) }),
      fc.record({
        kind: fc.oneof(text, fc.constantFrom("webhook", "agent-call")),
        where: fc.dictionary(text, fc.jsonValue({ maxDepth: 1 })),
      }),
      fc.jsonValue({ maxDepth: 4 }),
    );
    const known = "lock unlock lock-heartbeat call call-check wait cancel".split(" ");
    const ability = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...known) },
      nastyText.map((one) => encodeURIComponent(one.toWellFormed())),
    );
    const token = fc.oneof({ weight: 5, arbitrary: fc.constant(channel.token) }, fc.base64String());
    await fc.assert(
      fc.asyncProperty(ability, body, token, fc.boolean(), async (name, asked, given, keyed) => {
        const before = side().abilities.asked.length;
        const headers = keyed ? {} : { "idempotency-key": "../../x" };
        const { status } = await post({ ...channel, token: given }, name, { body: asked, headers });
        expect([200, 400, 401, 404, 409, 413, 429]).toContain(status);
        if (given !== channel.token) expect(status).toBe(401);
        if (status !== 200 && status !== 409) expect(side().abilities.asked).toHaveLength(before);
        for (const { request } of side().abilities.asked.slice(before)) {
          if ("resource" in request)
            expect(request.resource).toMatch(/^[a-z][a-z0-9+.-]*:[^\s\p{C}]+$/iu);
        }
      }),
      share(1_500),
    );
    expect(side().problems).toEqual([]);
  }, 120_000);
});
