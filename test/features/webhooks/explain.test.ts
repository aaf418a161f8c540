import { expect, test } from "vitest";
import { explain } from "../../../src/features/webhooks/explain.ts";
import { createMatchIndex } from "../../../src/features/webhooks/match-index.ts";
import { eventHeaders, githubExample, read } from "./deliveries.ts";

const { attributes } = read(
  "github",
  githubExample("issues", "opened"),
  eventHeaders("github", "issues"),
);
const event = { attributes, payload: {} };
const entry = (filters: Record<string, string | readonly string[]>, source = "hub") => ({
  ...{ source, type: "github", filters },
});

test("every filter of every entry that stopped an event is named, entry by entry", () => {
  const webhooks = [entry({ repos: ["a/b"], actions: ["closed"] }), entry({ author: "nobody" })];
  expect(explain({ name: "dev", webhooks }, "hub", event)).toEqual({
    agent: "dev",
    starts: false,
    stoppedBy: [
      ["repos does not include Codertocat/Hello-World", "actions does not include opened"],
      ["author is nobody, the event's is Codertocat"],
    ],
  });
});

test("one entry that lets it through is enough, and an agent of other sources is not asked", () => {
  const webhooks = [entry({ repos: ["a/b"] }), entry({ labels: ["x", "bug"] })];
  expect(explain({ name: "dev", webhooks }, "hub", event)).toMatchObject({ starts: true });
  expect(explain({ name: "dev", webhooks }, "other", event)).toBeNull();
});

test("it says of each agent what the index does", () => {
  const index = createMatchIndex();
  const agents = [{}, { events: ["push"] }, { org: "CODERTOCAT" }, { labels: ["Bug"] }].map(
    (filters, n) => ({ name: `a${n}`, scale: 1, webhooks: [entry(filters)] }),
  );
  for (const agent of agents) index.set(agent, true);
  const starting = agents.filter((agent) => explain(agent, "hub", event)?.starts);
  expect(starting.map(({ name }) => name)).toEqual(index.match("hub", event).matched);
  expect(starting.map(({ name }) => name)).toEqual(["a0", "a2"]);
});
