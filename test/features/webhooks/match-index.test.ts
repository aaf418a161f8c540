import fc from "fast-check";
import type { WebhookBinding } from "../../../streams/agent-config.ts";
import { createMatchIndex } from "../../../src/features/webhooks/match-index.ts";
import type { ListeningAgent, MatchIndex } from "../../../src/features/webhooks/match-index.ts";
import type { Attributes } from "../../../src/features/webhooks/provider.ts";

type Filters = WebhookBinding["filters"];

type Where = NonNullable<WebhookBinding["where"]>;

const hub = (filters: Filters, where?: Where): WebhookBinding => ({
  source: "hub",
  type: "github",
  filters,
  ...(where && { where }),
});

function agent(name: string, ...filters: readonly Filters[]): ListeningAgent {
  return { name, scale: 1, webhooks: filters.map((one) => hub(one)) };
}

function indexOf(...agents: readonly ListeningAgent[]): MatchIndex {
  const index = createMatchIndex();
  for (const one of agents) index.set(one, true);
  return index;
}

const push: Attributes = {
  repos: "acme/x",
  orgs: ["acme"],
  events: "push",
  actions: null,
  branches: ["main"],
  labels: [],
  sender: "octocat",
  senderIsBot: false,
};

/** An event whose payload holds nothing. */
const seen = (attributes: Attributes) => ({ attributes, payload: {} });

const paged = { issue: { level: "fatal", tags: [{ key: "env", value: "prod" }], count: 3 } };

function wheres(name: string, where: Where, filters: Filters = {}): ListeningAgent {
  return { name, scale: 1, webhooks: [hub(filters, where)] };
}

test("a webhook entry with where = {…} matches only events whose payload has all of these values", () => {
  const index = indexOf(
    wheres("text", { "issue.level": "fatal" }),
    wheres("several", { "issue.level": "fatal", "issue.count": 3, "issue.tags.0.value": "prod" }),
    wheres("number", { "issue.count": 4 }),
    wheres("otherType", { "issue.count": "3" }),
    wheres("filtered", { "issue.level": "fatal" }, { events: ["issues"] }),
  );
  const { matched } = index.match("hub", { attributes: push, payload: paged });
  expect(matched).toEqual(["several", "text"]);
});

test("a webhook event of a kind that must be asked for starts only agents whose entry names it", () => {
  const index = indexOf(
    agent("all", {}),
    agent("pushed", { events: ["push"], branches: ["main"] }),
    agent("created", { events: ["push"], actions: ["created"] }),
    agent("deleted", { events: ["push"], actions: ["created", "deleted"] }),
    wheres("where", { deleted: true }),
  );
  const optIn = { filter: "actions", value: "deleted", path: "deleted" };
  const event = { attributes: { ...push, actions: "deleted" }, payload: { deleted: true }, optIn };
  expect(index.match("hub", event).matched).toEqual(["deleted", "where"]);
  index.remove("deleted");
  index.remove("where");
  expect(index.match("hub", event).reason).toBe("agent pushed: actions does not name deleted");
});

test.each([
  [{ issue: { level: "error" } }, 'agent dev: where issue.level is "error", not "fatal"'],
  [{ issue: [] }, 'agent dev: where issue.level is missing, not "fatal"'],
  [{ issue: { level: {} } }, 'agent dev: where issue.level is an object, not "fatal"'],
])("an unmatched webhook event with the payload %j has the reason: %s", (payload, reason) => {
  const index = indexOf(wheres("dev", { "issue.level": "fatal" }, { repos: ["acme/x"] }));
  expect(index.match("hub", { attributes: push, payload })).toMatchObject({ matched: [], reason });
});

test("the payload of a webhook event is not read if an entry's filters already reject the event", () => {
  const index = indexOf(
    wheres("dev", { "issue.level": "fatal" }, { repos: ["acme/y"] }),
    agent("all", {}),
  );
  const looks: unknown[] = [];
  const payload = new Proxy(paged, {
    getOwnPropertyDescriptor: (target, name) => {
      looks.push(name);
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
  });
  expect(index.match("hub", { attributes: push, payload }).matched).toEqual(["all"]);
  expect(looks).toEqual([]);
});

test.each<[string, readonly Filters[], string]>([
  [
    "a repository that is not listed",
    [{ repos: ["acme/y"], events: ["push"] }],
    "agent-0: repos does not include acme/x",
  ],
  [
    "the agent with the fewest failed filters",
    [
      { repos: ["acme/y"], events: ["issues"] },
      { repos: ["acme/x"], events: ["push"], branches: ["next"] },
    ],
    "agent-1: branches does not include main",
  ],
  [
    "the first of several failed filters, and how many more",
    [{ repos: ["a/b"], events: ["issues"], branches: ["next"] }],
    "agent-0: repos does not include acme/x (and 2 more of its conditions)",
  ],
  [
    "a filter of a single value",
    [{ org: "initech" }],
    "agent-0: org is initech, the event's is acme",
  ],
  [
    "a filter that the provider does not have",
    [{ repo: "acme/x" }],
    "agent-0: repo is not a filter of this source's type",
  ],
])("the reason of an unmatched webhook event names %s", (_what, all, reason) => {
  const index = indexOf(...all.map((filters, n) => agent(`agent-${n}`, filters)));
  const expected = { matched: [], reason: `agent ${reason}` };
  expect(index.match("hub", seen(push))).toMatchObject(expected);
});

test("a webhook event does not start a matching agent that is disabled or has scale 0, but lists it as disabled", () => {
  const index = indexOf(agent("dev", {}), { ...agent("parked", {}), scale: 0 });
  index.setEnabled("dev", false);
  const disabled = ["dev", "parked"];
  expect(index.match("hub", seen(push))).toMatchObject({ matched: [], disabled });
  index.setEnabled("dev", true);
  expect(index.match("hub", seen(push))).toMatchObject({ matched: ["dev"], disabled: ["parked"] });
});

const names = fc.constantFrom("a", "b", "c", "d");
const value = fc.uniqueArray(fc.constantFrom("x", "y", "z", "X"), { maxLength: 3 });
const filters = fc.dictionary(fc.constantFrom("repos", "events", "labels", "orgs"), value);
const step = fc.record({
  name: names,
  bindings: fc.option(fc.array(filters, { maxLength: 3 }), { nil: null }),
});
const attributes = fc.record({ repos: value, events: value, labels: value, orgs: value });

test("the match index finds the same agents as a scan of all agents, after random changes", () => {
  const ignoreCase = new Set(["repos", "orgs"]);
  const passes = (binding: Filters, event: Attributes) =>
    Object.entries(binding).every(([field, wanted]) => {
      const fold = (one: string) => (ignoreCase.has(field) ? one.toLowerCase() : one);
      const list = (wanted as string[]).map(fold);
      return (event[field] as string[]).some((one) => list.includes(fold(one)));
    });
  fc.assert(
    fc.property(fc.array(step), attributes, (steps, event) => {
      const index = createMatchIndex();
      const model = new Map<string, readonly Filters[]>();
      for (const { name, bindings } of steps) {
        if (bindings === null) index.remove(name);
        else index.set(agent(name, ...bindings), true);
        model.set(name, bindings ?? []);
      }
      const expected = [...model].filter(([, all]) => all.some((one) => passes(one, event)));
      expect(index.match("hub", seen(event)).matched).toEqual(
        expected.map(([name]) => name).sort(),
      );
    }),
    { numRuns: 500 },
  );
});

/** Agents with five bindings each: four to repositories of their own, one to a source of their own. */
function crowd(size: number): ListeningAgent[] {
  return Array.from({ length: size }, (_, n) => {
    const one = agent(
      `agent-${n}`,
      ...[0, 1, 2, 3].map((m) => ({ repos: [`acme/r${n}-${m}`], events: ["push", "issues"] })),
    );
    const own = { source: `own-${n}`, type: "github", filters: {} };
    return { ...one, webhooks: [...one.webhooks, own] };
  });
}

test("a webhook event does not match agents with other sources or repositories", () => {
  const event = { ...push, repos: "acme/r5-2" };
  const index = indexOf(...crowd(1_000));
  expect(index.match("hub", seen(event))).toMatchObject({ matched: ["agent-5"], examined: 1 });
  expect(index.match("own-7", seen(event))).toMatchObject({ matched: ["agent-7"], examined: 1 });
});

test("an unmatched webhook event is explained without examining every agent", () => {
  const index = indexOf(...crowd(1_000));
  const { examined, reason } = index.match("hub", seen({ ...push, repos: "acme/none" }));
  expect(examined).toBeLessThanOrEqual(200);
  expect(reason).toBe("agent agent-0: repos does not include acme/none");
});
