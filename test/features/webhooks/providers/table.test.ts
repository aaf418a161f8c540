import type { Payload } from "../../../../src/features/webhooks/json.ts";
import type { Attributes } from "../../../../src/features/webhooks/provider.ts";
import { filterOf, whyNot } from "../../../../src/features/webhooks/filter.ts";
import { keptHeaders, parseDelivery } from "../../../../src/features/webhooks/interpret.ts";
import { filterTable, providerTable } from "../../../../src/features/webhooks/providers/table.ts";
import { bytes, eventHeaders, providerOf, read, readSample, samplesOf } from "../deliveries.ts";
import type { FilterValue } from "../deliveries.ts";
import { linearIssue } from "../payloads.ts";

const cases = samplesOf("filters.jsonl").map(({ filters = {}, ...sample }) => ({
  ...sample,
  filters,
}));

function whyRejected(
  type: string,
  attributes: Attributes,
  field: string,
  value: FilterValue,
): string | null {
  const rule = providerOf(type).filters[field];
  if (rule === undefined) throw new Error(`${type} has no filter ${field}`);
  return whyNot(filterOf(field, rule, value), attributes);
}

const why = (type: string, event: string, payload: Payload, field: string, value: FilterValue) =>
  whyRejected(type, read(type, payload, eventHeaders(type, event)).attributes, field, value);

test.each(cases.map((one) => [one.type, Object.keys(one.filters).join(), one] as const))(
  "an event from %s passes a webhook filter only if the values match, for the fields %s",
  (type, _fields, sample) => {
    const { attributes } = readSample(sample);
    for (const [field, [matching, other]] of Object.entries(sample.filters)) {
      expect(whyRejected(type, attributes, field, matching), field).toBeNull();
      expect(whyRejected(type, attributes, field, other)).toContain(field);
    }
  },
);

test("every filter field of every webhook provider has a test case", () => {
  const fields = (type: string, of: object) => Object.keys(of).map((field) => `${type} ${field}`);
  const tested = cases.flatMap(({ type, filters }) => fields(type, filters));
  const all = Object.entries(filterTable).flatMap(([type, of]) => fields(type, of));
  const untested = all.filter((field) => !tested.includes(field) && !field.includes(" ignore"));
  expect(untested).toEqual([]);
});

const workflow = (conclusion: string | null) => ({ workflow_run: { conclusion } });
const suite = { check_suite: { conclusion: "success" } };
test.each<[string, FilterValue, string, string, Payload]>([
  ["conclusions", ["success"], "github", "check_suite", suite],
  ["conclusions", ["null", "success"], "github", "workflow_run", workflow(null)],
])(
  "the webhook filter %s = %j rejects an event from %s without such a value: %s",
  (field, value, type, event, payload) => {
    expect(why(type, event, payload, field, value)).toBe(
      `${field} is set and the event carries none`,
    );
  },
);

test('a webhook filter for Linear\'s action "delete" matches the action "remove"', () => {
  const removed = { ...linearIssue, action: "remove" };
  for (const action of ["delete", "remove"])
    expect(why("linear", "", removed, "actions", [action])).toBeNull();
});

const bot = { sender: { login: "almanac[bot]", type: "Bot" } };
test.each<[string, Payload, string, FilterValue, string | null]>([
  [
    "ignoreBots = true rejects events of bots",
    bot,
    "ignoreBots",
    true,
    "ignoreBots excludes events of bots",
  ],
  ["ignoreBots = false lets events of bots pass", bot, "ignoreBots", false, null],
  [
    "ignoreSenders rejects a listed sender, in any case",
    bot,
    "ignoreSenders",
    ["Almanac[bot]"],
    "ignoreSenders includes almanac[bot]",
  ],
  ["ignoreSenders lets an event without a sender pass", {}, "ignoreSenders", ["octocat"], null],
])("the webhook filter %s", (_, payload, field, value, reason) => {
  expect(why("github", "issues", payload, field, value)).toBe(reason);
});

test("the reason why a webhook filter rejects an event is one short line for any text of the sender", () => {
  const repository = { full_name: `a/b\n\u001b[31m\u202e${"x".repeat(5_000)}` };
  const reason = why("github", "issues", { repository }, "repos", ["a/b"]);
  expect(reason).toEqual(expect.stringMatching(/^repos does not include a\/b \[31m x+…$/));
  expect(String(reason).length).toBeLessThan(200);
});

test("stored headers of webhook deliveries exclude signatures, tokens and cookies", () => {
  for (const provider of providerTable.values()) {
    const secret = [...provider.secretHeaders, "authorization", "cookie", "x-api-key"];
    const kept = ["content-type", "user-agent", ...provider.keptHeaders];
    const headers = Object.fromEntries([...secret, ...kept].map((name) => [name, "value"]));
    expect(Object.keys(keptHeaders(provider, headers)).sort()).toEqual([...new Set(kept)].sort());
    expect(kept.filter((name) => secret.includes(name))).toEqual([]);
  }
});

test("a webhook body nested a hundred thousand levels deep is read or rejected without a crash", () => {
  const deep = `${'{"issue":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  for (const provider of providerTable.values()) {
    const request = { headers: eventHeaders(provider.type, "issues"), body: bytes(deep) };
    const parsed = parseDelivery(provider, request);
    if (parsed.ok) read(provider.type, parsed.payload, request.headers);
  }
});
